// How one subtask hands its buffers in flight to the writer thread that it shares.
//
// Flink 1.20 ChannelStateWriterImpl (spec barriers.md 5.6). Made for a task whose job has unaligned
// checkpoints enabled.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/network/channel_state_writer.hpp"
#include "engine/task/f120/channel_state_write_request_executor.hpp"
#include "sim/base/callback.hpp"

namespace tailrace::engine::f120 {

class ChannelStateWriterImpl final : public ChannelStateWriter {
 public:
  // `on_failure` gets what Flink throws in the task when the thread has died; at most once.
  // Requires: the subtask is registered at the executor.
  ChannelStateWriterImpl(ChannelStateSubtask subtask,
                         std::shared_ptr<ChannelStateWriteRequestExecutor> executor,
                         base::InplaceFunction<void(std::string)> on_failure)
      : subtask_(subtask), executor_(std::move(executor)), on_failure_(std::move(on_failure)) {}
  ~ChannelStateWriterImpl() override { ChannelStateWriterImpl::close(); }

  // Requires: not twice for one checkpoint.
  void start(CheckpointId id, const CheckpointOptions& options) override;
  void add_input_data(CheckpointId id, InputChannelInfo channel, std::int32_t start_sequence_number,
                      std::vector<Buffer> data) override;
  void add_output_data(CheckpointId id, ResultSubpartitionInfo subpartition,
                       std::int32_t start_sequence_number, std::vector<Buffer> data) override;
  void add_output_data_future(CheckpointId id, ResultSubpartitionInfo subpartition,
                              std::int32_t start_sequence_number,
                              std::shared_ptr<ChannelStateDataFuture> data) override;
  void finish_input(CheckpointId id) override;
  void finish_output(CheckpointId id) override;
  void abort(CheckpointId id) override;
  std::shared_ptr<ChannelStateWriteResult> take_write_result(CheckpointId id) override;
  // What has not been written is dropped if no other subtask uses the thread. Repeatable; nothing is
  // accepted any more.
  void close() override;

 private:
  template <typename What>
  void submit(CheckpointId id, What what) {
    if (executor_ != nullptr) accept(executor_->submit({subtask_, id, std::move(what)}));
  }
  void accept(bool submitted);

  ChannelStateSubtask subtask_;
  std::shared_ptr<ChannelStateWriteRequestExecutor> executor_;
  base::InplaceFunction<void(std::string)> on_failure_;
  std::map<CheckpointId, std::shared_ptr<ChannelStateWriteResult>> results_;
};

}  // namespace tailrace::engine::f120
