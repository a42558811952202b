// Serialises the records of one output into the open buffers of its subpartitions.
//
// Flink 1.10 RecordWriter, ChannelSelectorRecordWriter, BroadcastRecordWriter, OutputFlusher (spec
// barriers.md 6.1, 6.2); the buffers themselves are BufferWriter's. A record that is stuck inside goes
// on by itself, in an event of its own, when a segment has returned.
// A slice begins with the first `emit` after a `publish`, and ends with `publish`: until then
// readers are not told of new buffers, and a flush that falls due waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/network/buffer_writer.hpp"
#include "engine/network/channel_selector.hpp"
#include "engine/network/events.hpp"
#include "engine/network/record_codec.hpp"
#include "engine/network/result_partition.hpp"
#include "engine/ports.hpp"
#include "engine/record.hpp"
#include "sim/base/callback.hpp"
#include "sim/base/lifeline.hpp"

namespace tailrace::engine {

class RecordWriter {
 public:
  // The partition outlives the writer and has no other. `buffer_timeout`: the period of the flush
  // timer, which starts at `flush_start` or, without it, now, and whose sleeps are late by `lateness`
  // (asked for each; none: by nothing); 0: every `publish` flushes what was
  // written; negative: no flush.
  RecordWriter(ResultPartition& partition, RecordType type,
               std::unique_ptr<ChannelSelector> selector, Duration buffer_timeout,
               const Ports& ports, std::optional<Time> flush_start = std::nullopt,
               base::InplaceFunction<Duration()> lateness = {});
  ~RecordWriter();
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  // While blocked, records queue up behind the one that is stuck, in order.
  void emit(const Record& record);
  // To every subpartition. The writer of a broadcast partitioner has one buffer for all of them, any
  // other writes into each own buffer.
  void broadcast_emit(const Record& record);
  // The same below the record's own format: bytes with their length field in front.
  void emit_serialized(std::span<const std::byte> record, std::int32_t subpartition);
  void broadcast_emit_serialized(std::span<const std::byte> record);
  // Ends the slice. Call it after every slice, also one that emitted nothing.
  void publish();
  // Finishes the open buffers, appends the event everywhere and publishes. EndOfPartitionEvent
  // finishes the partition; of EndOfData only the first counts. `priority`: it overtakes what is queued. Requires: !is_blocked().
  void broadcast_event(const RuntimeEvent& event, bool priority = false);
  void flush_all();
  // 1.20: the barrier of that checkpoint has waited too long for its turn.
  void aligned_barrier_timeout(CheckpointId id) { partition_.aligned_barrier_timeout(id); }
  void abort_checkpoint(CheckpointId id) { partition_.abort_checkpoint(id); }

  // Some record is stuck half-way because the pool has no segment.
  [[nodiscard]] bool is_blocked() const { return buffers_.is_blocked(); }
  // Not blocked, and the pool says that it has a segment (in 1.10 a hint, see LocalBufferPool110). In
  // 1.20 a writer can be neither available nor blocked: it writes on in overdraft buffers.
  [[nodiscard]] bool is_available() const;
  // Runs when `is_available` has become true. It must only take a note.
  void set_availability_listener(base::InplaceFunction<void()> listener) {
    on_available_ = std::move(listener);
  }

  // Accepted by `emit`, stuck ones included.
  [[nodiscard]] std::int64_t records_written() const { return records_written_; }
  // The same for those who read them: a record of a broadcast partitioner is one for each of them.
  [[nodiscard]] std::int64_t copies_written() const {
    return broadcast_ ? records_written_ * partition_.subpartition_count() : records_written_;
  }
  [[nodiscard]] std::int64_t bytes_written() const { return bytes_written_; }

  [[nodiscard]] BufferWriter& buffers() { return buffers_; }

  // Finishes the open buffers, drops what is stuck, stops the timer. Nothing may follow.
  void close();

 private:
  void emit_to(const Record& record, std::int32_t lane);
  void write(std::span<const std::byte> record, std::int32_t lane);
  void mark_dirty(std::int32_t lane);
  void on_pool_available();
  [[nodiscard]] Duration first_flush(std::optional<Time> start);
  [[nodiscard]] Duration flush_period();
  void schedule_flush(Duration delay);

  ResultPartition& partition_;
  RecordType type_;
  std::unique_ptr<ChannelSelector> selector_;
  bool broadcast_;
  bool flush_always_;
  Duration buffer_timeout_;
  base::InplaceFunction<Duration()> lateness_;
  Ports ports_;

  BufferWriter buffers_;
  // Lanes written since the last publish, in that order; buffer timeout 0 only.
  std::vector<std::int32_t> dirty_;
  std::vector<std::uint8_t> is_dirty_;
  std::vector<std::byte> serialized_;
  bool drain_scheduled_ = false;
  bool in_slice_ = false;
  bool flush_due_ = false;
  bool data_ended_ = false;
  bool closed_ = false;
  std::int64_t records_written_ = 0;
  std::int64_t bytes_written_ = 0;
  TimerId flush_timer_{};
  base::InplaceFunction<void()> on_available_;
  base::Lifeline lifeline_;
};

}  // namespace tailrace::engine
