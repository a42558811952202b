// A channel whose producer runs in the same process: it polls the producer's subpartition.
//
// Flink 1.10 LocalInputChannel (spec barriers.md 6.7). What it hands out belongs to the producer's
// pool.
#pragma once

#include <memory>

#include "engine/network/input_channel.hpp"
#include "engine/network/pipelined_subpartition.hpp"

namespace tailrace::engine {

class SingleInputGate;
class ResultPartitionManager;

class LocalInputChannel final : public InputChannel, public BufferAvailabilityListener {
 public:
  LocalInputChannel(SingleInputGate& gate, ChannelIndex index,
                    const InputChannelDescriptor& descriptor, const NetworkConfig& config,
                    const ResultPartitionManager& partitions);

  void request_subpartition() override;
  std::optional<BufferAndAvailability> get_next_buffer() override;
  void resume_consumption() override;
  void acknowledge_all_records_processed() override;
  void release_all_resources() override;
  void notify_data_available() override;

 private:
  SingleInputGate& gate_;
  const ResultPartitionManager& partitions_;
  bool is_signalled_;  // by the subpartition, when there is a view
  std::unique_ptr<ResultSubpartitionView> view_;
  bool released_ = false;
};

}  // namespace tailrace::engine
