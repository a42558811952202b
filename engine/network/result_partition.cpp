#include "engine/network/result_partition.hpp"

#include <utility>

#include "engine/network/local_buffer_pool.hpp"

namespace tailrace::engine {

ResultPartition::ResultPartition(const ResultPartitionDescriptor& descriptor, LocalBufferPool& pool,
                                 const NetworkSemantics& semantics,
                                 std::int32_t receiver_exclusive_buffers)
    : descriptor_(descriptor),
      pool_(&pool),
      semantics_(semantics),
      unconsumed_(descriptor.subpartitions),
      unprocessed_(descriptor.subpartitions) {
  TAILRACE_ASSERT(descriptor.subpartitions > 0);
  const auto count = static_cast<std::size_t>(descriptor.subpartitions);
  subpartitions_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    subpartitions_.push_back(std::make_unique<PipelinedSubpartition>(
        this, semantics, ResultSubpartitionInfo{descriptor.index, static_cast<std::int32_t>(i)},
        receiver_exclusive_buffers));
  }
  held_.reserve(count);
  is_held_.resize(count);
}

ResultPartition::~ResultPartition() {
  release();
}

void ResultPartition::add_buffer_consumer(BufferConsumer consumer, std::int32_t subpartition,
                                          bool finish) {
  const auto index = static_cast<std::size_t>(subpartition);
  if (!subpartitions_[index]->add(std::move(consumer), finish)) return;
  if (std::exchange(is_held_[index], std::uint8_t{1}) == 0) held_.push_back(subpartition);
}

void ResultPartition::broadcast_event(const RuntimeEvent& event, bool priority) {
  const auto* barrier = std::get_if<CheckpointBarrier>(&event);
  if (barrier != nullptr && !descriptor_.supports_unaligned_checkpoints) {
    CheckpointBarrier aligned = *barrier;
    aligned.options = aligned.options.with_unaligned_unsupported();
    append_event(aligned, false);
  } else {
    append_event(event, priority);
  }
}

void ResultPartition::append_event(const RuntimeEvent& event, bool priority) {
  const EventBytes bytes = semantics_.serialize_event(event);
  const DataType type = semantics_.data_type_of(event, priority);
  for (std::int32_t i = 0; i < subpartition_count(); ++i) {
    add_buffer_consumer(BufferConsumer(bytes, type), i);
  }
}

void ResultPartition::set_channel_state_writer(ChannelStateWriter& writer) {
  for (const auto& one : subpartitions_) one->set_channel_state_writer(writer);
}

void ResultPartition::aligned_barrier_timeout(CheckpointId id) {
  for (const auto& one : subpartitions_) {
    if (one->aligned_barrier_timeout(id)) one->notify_data_available();
  }
}

void ResultPartition::abort_checkpoint(CheckpointId id) {
  for (const auto& one : subpartitions_) one->abort_checkpoint(id);
}

void ResultPartition::finish_read_recovered_state() {
  if (!semantics_.announces_end_of_channel_state) return;
  broadcast_event(EndOfChannelState{});
  publish();
}

void ResultPartition::publish() {
  for (std::size_t i = 0; i < held_.size(); ++i) {
    const auto index = static_cast<std::size_t>(held_[i]);
    is_held_[index] = 0;
    subpartitions_[index]->notify_data_available();
  }
  held_.clear();
}

void ResultPartition::flush(std::int32_t subpartition) {
  PipelinedSubpartition& target = *subpartitions_[static_cast<std::size_t>(subpartition)];
  if (target.flush()) target.notify_data_available();
}

void ResultPartition::flush_all() {
  for (const auto& one : subpartitions_) {
    if (one->flush()) one->notify_data_available();
  }
}

void ResultPartition::finish() {
  if (std::exchange(finished_, true)) return;
  const EventBytes event = semantics_.serialize_event(EndOfPartitionEvent{});
  for (std::int32_t i = 0; i < subpartition_count(); ++i) {
    add_buffer_consumer(
        BufferConsumer(event, semantics_.data_type_of(EndOfPartitionEvent{}, false)), i, true);
  }
  publish();
}

void ResultPartition::release() {
  if (is_released()) return;
  if (on_release_) on_release_();
  on_release_.reset();
  on_consumed_.reset();
  on_all_data_processed_.reset();
  for (const auto& one : subpartitions_) one->release();
  std::exchange(pool_, nullptr)->lazy_destroy();
}

void ResultPartition::on_subpartition_all_data_processed() {
  TAILRACE_ASSERT(unprocessed_ > 0);
  if (--unprocessed_ == 0 && on_all_data_processed_) on_all_data_processed_();
}

void ResultPartition::on_consumed_subpartition() {
  TAILRACE_ASSERT(unconsumed_ > 0);
  if (--unconsumed_ == 0 && on_consumed_) on_consumed_();
}

}  // namespace tailrace::engine
