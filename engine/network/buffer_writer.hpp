// Puts serialised records into the open buffers of one result partition.
//
// Flink 1.20 BufferWritingResultPartition, BufferBuilder; the lower half of 1.10 RecordWriter (spec
// barriers.md 6.2, 7 points 6 and 7). Where Flink's thread would wait for a segment inside a record,
// the rest of the record stays here and `is_blocked` is true until `resume` has found room for it.
//
// A lane is an open buffer: each subpartition has one of its own, and there is one that all of them
// share. Opening the shared lane finishes the others, and the other way round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "engine/network/result_partition.hpp"
#include "engine/network/ring_queue.hpp"

namespace tailrace::engine {

class BufferWriter {
 public:
  // The partition outlives the writer.
  explicit BufferWriter(ResultPartition& partition);
  ~BufferWriter() { close(); }
  BufferWriter(const BufferWriter&) = delete;
  BufferWriter& operator=(const BufferWriter&) = delete;

  // Lane i belongs to subpartition i; this one to all.
  [[nodiscard]] std::int32_t shared_lane() const {
    return static_cast<std::int32_t>(lanes_.size()) - 1;
  }

  // Where `bytes` more would fit into the open buffer of the lane. Null: they go through `write`.
  [[nodiscard]] std::byte* find_room(std::int32_t lane, std::size_t bytes) {
    const Lane& open = lanes_[static_cast<std::size_t>(lane)];
    return !blocked_ && open.room() >= bytes ? open.cursor : nullptr;
  }
  // A whole record has been written where `find_room` said, up to `end`.
  void commit(std::int32_t lane, std::byte* end) {
    Lane& open = lanes_[static_cast<std::size_t>(lane)];
    move_cursor(open, end);
    if (end == open.end) on_full(open);
  }
  // The same for any record; it queues up behind one that is stuck.
  void write(std::span<const std::byte> record, std::int32_t lane);

  // Some record is stuck half-way because the pool has no segment.
  [[nodiscard]] bool is_blocked() const { return blocked_; }
  // Goes on with what is stuck. Returns: whether nothing is left.
  bool resume();

  void finish_all();
  // Finishes the open buffers and drops what is stuck. Nothing may follow.
  void close();

  struct OpenBuffer {
    bool is_open = false;
    const NetworkBuffer* segment = nullptr;
    std::uint32_t capacity = 0;  // as it is now: of a small buffer less than its segment has
  };
  [[nodiscard]] OpenBuffer open_buffer(std::int32_t lane) const;
  // Finished so far; a shared buffer counts once for each subpartition.
  [[nodiscard]] std::int64_t buffers_out() const { return buffers_out_; }
  [[nodiscard]] std::int64_t bytes_out() const { return bytes_out_; }

 private:
  struct Lane {
    NetworkBuffer* segment = nullptr;  // referenced
    std::byte* cursor = nullptr;
    std::byte* end = nullptr;  // of what may be written: the segment's, or nearer
    bool queued = false;       // in the subpartitions

    [[nodiscard]] std::size_t room() const { return static_cast<std::size_t>(end - cursor); }
  };
  struct Stuck {
    std::int32_t lane = 0;
    std::size_t bytes = 0;
    bool continued = false;  // a buffer has its first part already
  };

  static void move_cursor(Lane& lane, std::byte* cursor) {
    lane.cursor = cursor;
    lane.segment->commit(static_cast<std::uint32_t>(cursor - lane.segment->data()));
  }
  bool drain();
  bool open_lane(std::int32_t index);
  void enqueue(Lane& lane, std::int32_t index, std::size_t min_capacity);
  void enlarge(Lane& lane, std::size_t bytes);
  void on_full(Lane& lane);
  void finish_lane(Lane& lane);

  ResultPartition& partition_;
  bool fills_continuations_first_;
  std::vector<Lane> lanes_;
  std::int32_t open_own_ = 0;  // open lanes but for the shared one
  std::vector<std::byte> stuck_bytes_;
  std::size_t stuck_at_ = 0;  // of stuck_bytes_, already copied
  RingQueue<Stuck> stuck_;
  bool blocked_ = false;
  bool closed_ = false;
  std::int64_t buffers_out_ = 0;
  std::int64_t bytes_out_ = 0;
};

}  // namespace tailrace::engine
