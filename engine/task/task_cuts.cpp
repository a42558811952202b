#include "engine/task/task_cuts.hpp"

#include <string>
#include <utility>

#include "engine/network/result_partition.hpp"
#include "engine/observer.hpp"
#include "engine/scheduling/deployment.hpp"
#include "engine/task/channel_reader.hpp"
#include "engine/task/channel_state_write_result.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

class WatchedChannelStateWriter final : public ChannelStateWriter {
 public:
  WatchedChannelStateWriter(TaskCuts& cuts, std::unique_ptr<ChannelStateWriter> writer)
      : cuts_(cuts), writer_(std::move(writer)) {}

  void start(CheckpointId id, const CheckpointOptions& options) override {
    writer_->start(id, options);
  }
  void add_input_data(CheckpointId id, InputChannelInfo channel, std::int32_t start_sequence_number,
                      std::vector<Buffer> data) override {
    std::int64_t bytes = 0;
    for (const Buffer& buffer : data) bytes += buffer.size();
    cuts_.on_input_state(channel, id, bytes);
    writer_->add_input_data(id, channel, start_sequence_number, std::move(data));
  }
  void add_output_data(CheckpointId id, ResultSubpartitionInfo subpartition,
                       std::int32_t start_sequence_number, std::vector<Buffer> data) override {
    writer_->add_output_data(id, subpartition, start_sequence_number, std::move(data));
  }
  void add_output_data_future(CheckpointId id, ResultSubpartitionInfo subpartition,
                              std::int32_t start_sequence_number,
                              std::shared_ptr<ChannelStateDataFuture> data) override {
    writer_->add_output_data_future(id, subpartition, start_sequence_number, std::move(data));
  }
  void finish_input(CheckpointId id) override { writer_->finish_input(id); }
  void finish_output(CheckpointId id) override { writer_->finish_output(id); }
  void abort(CheckpointId id) override { writer_->abort(id); }
  std::shared_ptr<ChannelStateWriteResult> take_write_result(CheckpointId id) override {
    return writer_->take_write_result(id);
  }
  void close() override { writer_->close(); }

 private:
  TaskCuts& cuts_;
  std::unique_ptr<ChannelStateWriter> writer_;
};

}  // namespace

TaskCuts::TaskCuts(Observer& observer, const TaskDeploymentDescriptor& descriptor)
    : observer_(&observer),
      descriptor_(&descriptor),
      exactly_once_(descriptor.config.mode == CheckpointingMode::EXACTLY_ONCE) {
  std::size_t channels = 0;
  for (const InputGateDescriptor& gate : descriptor.gates) channels += gate.channels.size();
  channels_.resize(channels);
}

void TaskCuts::on_barrier(ChannelIndex channel, CheckpointId id, std::int64_t bytes) {
  Channel& own = channels_[static_cast<std::size_t>(channel)];
  own.barrier = id;
  own.bytes_before_barrier = bytes;
}

void TaskCuts::on_snapshot(CheckpointId id, bool unaligned,
                           std::span<const ChannelReader> readers) {
  if (!exactly_once_) return;
  TAILRACE_ASSERT(readers.size() == channels_.size());
  std::size_t i = 0;
  for (const InputGateDescriptor& gate : descriptor_->gates) {
    for (const InputChannelDescriptor& from : gate.channels) {
      const ChannelReader& reader = readers[i];
      if (!unaligned && channels_[i].barrier == id) check_aligned(i, reader);
      const std::int64_t consumed =
          reader.bytes + reader.recovered_bytes() - reader.unconsumed_bytes();
      observer_->on_input_cut(descriptor_->job, from.partition, from.subpartition,
                              {id, consumed, reader.recovered_bytes()});
      ++i;
    }
  }
}

void TaskCuts::check_aligned(std::size_t channel, const ChannelReader& reader) const {
  const Channel& own = channels_[channel];
  const auto where = [&] {
    return " of channel " + std::to_string(channel) + " at the aligned snapshot of checkpoint " +
           std::to_string(own.barrier);
  };
  TAILRACE_ASSERT_MSG(reader.bytes == own.bytes_before_barrier,
                      "N2: " + std::to_string(reader.bytes - own.bytes_before_barrier) +
                          " bytes from behind the barrier have been handed out" + where());
  TAILRACE_ASSERT_MSG(reader.unconsumed_bytes() == 0,
                      "N2: " + std::to_string(reader.unconsumed_bytes()) +
                          " bytes are part of no record" + where());
}

void TaskCuts::on_barrier_emitted(CheckpointId id,
                                  std::span<const std::unique_ptr<ResultPartition>> partitions) {
  if (!exactly_once_) return;
  for (const auto& partition : partitions) {
    if (partition->is_released()) continue;
    for (std::int32_t i = 0; i < partition->subpartition_count(); ++i) {
      // A subpartition that nobody reads any more has dropped the barrier.
      const SubpartitionCut& cut = partition->subpartition(i).last_cut();
      if (cut.checkpoint == id) observer_->on_output_cut(descriptor_->job, partition->id(), i, cut);
    }
  }
}

std::unique_ptr<ChannelStateWriter> TaskCuts::watch(std::unique_ptr<ChannelStateWriter> writer) {
  return std::make_unique<WatchedChannelStateWriter>(*this, std::move(writer));
}

void TaskCuts::on_input_state(InputChannelInfo channel, CheckpointId id, std::int64_t bytes) {
  const InputChannelDescriptor& from = descriptor_->gates[static_cast<std::size_t>(channel.gate)]
                                           .channels[static_cast<std::size_t>(channel.channel)];
  observer_->on_input_state(descriptor_->job, from.partition, from.subpartition, id, bytes);
}

}  // namespace tailrace::engine
