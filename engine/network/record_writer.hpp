// Serialises the records of one output into the open buffers of its subpartitions.
//
// Flink 1.10 RecordWriter, ChannelSelectorRecordWriter, BroadcastRecordWriter, OutputFlusher (spec
// barriers.md 6.1, 6.2). Where Flink's thread would wait for a segment inside a record, the rest of
// the record stays here and `is_blocked` is true; the writer goes on by itself, in an event of its
// own, when a segment has returned.
// A slice begins with the first `emit` after a `publish`, and ends with `publish`: until then
// readers are not told of new buffers, and a flush that falls due waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/network/channel_selector.hpp"
#include "engine/network/events.hpp"
#include "engine/network/record_codec.hpp"
#include "engine/network/result_partition.hpp"
#include "engine/network/ring_queue.hpp"
#include "engine/ports.hpp"
#include "engine/record.hpp"
#include "sim/base/callback.hpp"
#include "sim/base/lifeline.hpp"

namespace tailrace::engine {

class RecordWriter {
 public:
  // The partition outlives the writer and has no other. `buffer_timeout`: the period of the flush
  // timer, which starts now; 0: every `publish` flushes what was written; negative: no flush.
  RecordWriter(ResultPartition& partition, RecordType type,
               std::unique_ptr<ChannelSelector> selector, Duration buffer_timeout,
               const Ports& ports);
  ~RecordWriter();
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  // While blocked, records queue up behind the one that is stuck, in order.
  void emit(const Record& record);
  // Ends the slice. Call it after every slice, also one that emitted nothing.
  void publish();
  // Finishes the open buffers, appends the event everywhere and publishes. EndOfPartitionEvent
  // finishes the partition. Requires: !is_blocked().
  void broadcast_event(const RuntimeEvent& event);
  void flush_all();

  // Some record is stuck half-way because the pool has no segment.
  [[nodiscard]] bool is_blocked() const { return blocked_; }
  // Not blocked, and the pool says that it has a segment (in 1.10 a hint, see LocalBufferPool110). In
  // 1.20 a writer can be neither available nor blocked: it writes on in overdraft buffers.
  [[nodiscard]] bool is_available() const;
  // Runs when `is_available` has become true. It must only take a note.
  void set_availability_listener(base::InplaceFunction<void()> listener) {
    on_available_ = std::move(listener);
  }

  // Accepted by `emit`, stuck ones included.
  [[nodiscard]] std::int64_t records_written() const { return records_written_; }
  [[nodiscard]] std::int64_t bytes_written() const { return bytes_written_; }

  // Finishes the open buffers, drops what is stuck, stops the timer. Nothing may follow.
  void close();

 private:
  // An open buffer. Broadcast has one for all subpartitions, every other selector one for each.
  struct Lane {
    NetworkBuffer* segment = nullptr;  // referenced
    std::byte* cursor = nullptr;
    std::byte* end = nullptr;
    bool dirty = false;  // written since the last publish; buffer timeout 0 only

    [[nodiscard]] std::size_t room() const { return static_cast<std::size_t>(end - cursor); }
  };
  struct Stuck {
    std::int32_t lane = 0;
    std::size_t bytes = 0;
  };

  void emit_slowly(const Record& record, std::int32_t lane);
  void advance(Lane& lane, std::int32_t index, std::byte* cursor);
  bool open_lane(std::int32_t index);
  void finish_lane(Lane& lane);
  void mark_dirty(Lane& lane, std::int32_t index);
  // Copies what is stuck into buffers. Returns: whether nothing is left.
  bool drain();
  void on_pool_available();
  void schedule_flush();

  ResultPartition& partition_;
  RecordType type_;
  std::unique_ptr<ChannelSelector> selector_;
  bool broadcast_;
  bool flush_always_;
  Duration buffer_timeout_;
  Ports ports_;

  std::vector<Lane> lanes_;
  std::vector<std::int32_t> dirty_;
  std::vector<std::byte> stuck_bytes_;
  std::size_t stuck_at_ = 0;  // of stuck_bytes_, already copied
  RingQueue<Stuck> stuck_;
  bool blocked_ = false;
  bool drain_scheduled_ = false;
  bool in_slice_ = false;
  bool flush_due_ = false;
  bool closed_ = false;
  std::int64_t records_written_ = 0;
  std::int64_t bytes_written_ = 0;
  TimerId flush_timer_{};
  base::InplaceFunction<void()> on_available_;
  base::Lifeline lifeline_;
};

}  // namespace tailrace::engine
