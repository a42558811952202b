// A channel whose producer runs in the same process: it polls the producer's subpartition.
//
// Flink LocalInputChannel (spec barriers.md 5.7, 6.7). What it hands out belongs to the producer's
// pool. Has no queue of its own, so an unaligned checkpoint keeps what is polled until its barrier
// is, and nothing is announced.
#pragma once

#include <memory>

#include "engine/network/channel_state_persister.hpp"
#include "engine/network/input_channel.hpp"
#include "engine/network/pipelined_subpartition.hpp"

namespace tailrace::engine {

class LocalInputChannel final : public InputChannel, public BufferAvailabilityListener {
 public:
  LocalInputChannel(SingleInputGate& gate, ChannelIndex index,
                    const InputChannelDescriptor& descriptor);

  void request_subpartition() override;
  std::optional<BufferAndAvailability> get_next_buffer() override;
  void resume_consumption() override;
  void acknowledge_all_records_processed() override;
  void release_all_resources() override;
  [[nodiscard]] BufferUsage buffer_usage() const override {
    return {.queued = view_ != nullptr ? view_->queued_buffers() : 0};
  }
  [[nodiscard]] bool is_released() const override { return released_; }

  [[nodiscard]] std::optional<CheckpointFailureReason> checkpoint_started(
      const CheckpointBarrier& barrier) override;
  void checkpoint_stopped(CheckpointId id) override { persister_.stop_persisting(id); }
  void announce_buffer_size(std::int32_t bytes) override;
  // The producer's queue.
  [[nodiscard]] std::int32_t buffers_in_use() const override;

  void notify_data_available() override;
  void notify_priority_event(std::int32_t sequence_number) override;

 private:
  std::unique_ptr<ResultSubpartitionView> view_;
  base::Duration backoff_{};
  ChannelStatePersister persister_;
  bool released_ = false;
};

}  // namespace tailrace::engine
