// What one producer subtask offers on one of its outputs.
//
// Flink 1.10 ResultPartition. Made by NetworkEnvironment::create_partition, which registers it.
// Signals of appended buffers are held back until `publish`: a task runs a slice of records at its
// start and pays for it afterwards, so readers must not be woken before the slice is over.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/network/network_buffer_pool.hpp"
#include "engine/network/network_semantics.hpp"
#include "engine/network/pipelined_subpartition.hpp"
#include "engine/scheduling/deployment.hpp"
#include "sim/base/callback.hpp"

namespace tailrace::engine {

class LocalBufferPool;

class ResultPartition final : public SubpartitionOwner {
 public:
  // `pool` is this partition's own and is destroyed with it. `receiver_exclusive_buffers`: of each
  // channel of its consumers.
  ResultPartition(const ResultPartitionDescriptor& descriptor, LocalBufferPool& pool,
                  const NetworkSemantics& semantics = network_semantics_110(),
                  std::int32_t receiver_exclusive_buffers = 2);
  ~ResultPartition();
  ResultPartition(const ResultPartition&) = delete;
  ResultPartition& operator=(const ResultPartition&) = delete;

  [[nodiscard]] const ResultPartitionDescriptor& descriptor() const { return descriptor_; }
  [[nodiscard]] const ResultPartitionId& id() const { return descriptor_.id; }
  [[nodiscard]] const NetworkSemantics& semantics() const { return semantics_; }
  [[nodiscard]] std::int32_t subpartition_count() const {
    return static_cast<std::int32_t>(subpartitions_.size());
  }
  [[nodiscard]] PipelinedSubpartition& subpartition(std::int32_t index) {
    return *subpartitions_[static_cast<std::size_t>(index)];
  }
  // Requires: !is_released().
  [[nodiscard]] LocalBufferPool& buffer_pool() { return *pool_; }
  [[nodiscard]] const LocalBufferPool& buffer_pool() const { return *pool_; }

  // Appends; the reader is told at the next `publish`.
  void add_buffer_consumer(BufferConsumer consumer, std::int32_t subpartition, bool finish = false);
  // Appends to every subpartition. `priority`: the event overtakes what is queued. On an edge whose
  // data in flight could not be restored a barrier does not overtake, and its options say so
  // (Flink 1.20 RecordWriterOutput). Requires: the open buffers are finished; not
  // EndOfPartitionEvent.
  void broadcast_event(const RuntimeEvent& event, bool priority = false);
  // Where what a barrier overtakes goes; outlives the use of the partition.
  void set_channel_state_writer(ChannelStateWriter& writer);
  // 1.20: barriers of that checkpoint which are still queued and may time out overtake now. Tells
  // the readers at once.
  void aligned_barrier_timeout(CheckpointId id);
  // What such barriers would have overtaken is not wanted any more.
  void abort_checkpoint(CheckpointId id);
  // 1.20: what was in flight at the last checkpoint has been handed on; the consumers resume when
  // all their producers have come so far. Before anything else is appended.
  void finish_read_recovered_state();
  // Tells readers at once.
  void flush(std::int32_t subpartition);
  void flush_all();
  // Tells the readers whose signals were held back, in the order of the first append.
  void publish();
  // Appends EndOfPartitionEvent to every subpartition and publishes. Once.
  void finish();

  // Drops what is queued, parts from the readers, unregisters; segments go home as they return.
  void release();

  [[nodiscard]] bool is_finished() const { return finished_; }
  [[nodiscard]] bool is_released() const { return pool_ == nullptr; }
  // Every reader has come and gone.
  [[nodiscard]] bool is_consumed() const { return unconsumed_ == 0; }

  // Unread bytes in the queue of one subpartition, events included.
  [[nodiscard]] std::int64_t queued_bytes(std::int32_t subpartition) const {
    return subpartitions_[static_cast<std::size_t>(subpartition)]->queued_bytes();
  }
  [[nodiscard]] std::int32_t queued_buffers(std::int32_t subpartition) const {
    return static_cast<std::int32_t>(
        subpartitions_[static_cast<std::size_t>(subpartition)]->queue().size());
  }

  // For NetworkEnvironment: runs at release, before anything is dropped.
  void set_release_hook(base::InplaceFunction<void()> hook) { on_release_ = std::move(hook); }
  // For NetworkEnvironment: runs when the last reader leaves.
  void set_consumed_hook(base::InplaceFunction<void()> hook) { on_consumed_ = std::move(hook); }

  // 1.20: every consumer has processed all records that there were before EndOfData.
  [[nodiscard]] bool all_data_processed() const { return unprocessed_ == 0; }
  // Runs when that becomes so.
  void set_all_data_processed_hook(base::InplaceFunction<void()> hook) {
    on_all_data_processed_ = std::move(hook);
  }

  void on_consumed_subpartition() override;
  void on_subpartition_all_data_processed() override;

 private:
  void append_event(const RuntimeEvent& event, bool priority);

  ResultPartitionDescriptor descriptor_;
  LocalBufferPool* pool_;
  const NetworkSemantics& semantics_;
  std::vector<std::unique_ptr<PipelinedSubpartition>> subpartitions_;
  std::vector<std::int32_t> held_;  // subpartitions whose readers must be told
  std::vector<std::uint8_t> is_held_;
  std::int32_t unconsumed_;
  std::int32_t unprocessed_;
  bool finished_ = false;
  base::InplaceFunction<void()> on_release_;
  base::InplaceFunction<void()> on_consumed_;
  base::InplaceFunction<void()> on_all_data_processed_;
};

}  // namespace tailrace::engine
