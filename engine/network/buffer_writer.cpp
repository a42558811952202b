#include "engine/network/buffer_writer.hpp"

#include <algorithm>
#include <utility>

#include "engine/network/local_buffer_pool.hpp"

namespace tailrace::engine {

BufferWriter::BufferWriter(ResultPartition& partition)
    : partition_(partition),
      fills_continuations_first_(partition.semantics().fills_continuations_first),
      lanes_(static_cast<std::size_t>(partition.subpartition_count()) + 1) {}

void BufferWriter::write(std::span<const std::byte> record, std::int32_t lane) {
  stuck_bytes_.insert(stuck_bytes_.end(), record.begin(), record.end());
  stuck_.push_back({lane, record.size(), false});
  if (!blocked_) resume();
}

bool BufferWriter::resume() {
  blocked_ = !drain();
  return !blocked_;
}

bool BufferWriter::drain() {
  while (!stuck_.empty()) {
    Stuck& record = stuck_.front();
    Lane& lane = lanes_[static_cast<std::size_t>(record.lane)];
    while (record.bytes > 0) {
      if (lane.segment == nullptr && !open_lane(record.lane)) return false;
      const bool queue_first = !record.continued || !fills_continuations_first_;
      if (!lane.queued && queue_first) enqueue(lane, record.lane, record.bytes);
      if (record.bytes >= lane.room()) enlarge(lane, record.bytes - lane.room() + 1);
      const std::size_t count = std::min(record.bytes, lane.room());
      std::memcpy(lane.cursor, stuck_bytes_.data() + stuck_at_, count);
      move_cursor(lane, lane.cursor + count);
      stuck_at_ += count;
      record.bytes -= count;
      record.continued = true;
      if (!lane.queued) enqueue(lane, record.lane, count);
      if (lane.cursor == lane.end) finish_lane(lane);
    }
    stuck_.pop_front();
  }
  stuck_bytes_.clear();
  stuck_at_ = 0;
  return true;
}

bool BufferWriter::open_lane(std::int32_t index) {
  TAILRACE_ASSERT(!closed_ && !partition_.is_released());
  const bool shared = index == shared_lane();
  if (!shared) {
    finish_lane(lanes_.back());
  } else if (open_own_ > 0) {
    for (std::int32_t i = 0; i < index; ++i) finish_lane(lanes_[static_cast<std::size_t>(i)]);
  }
  // A broadcast buffer counts once, for subpartition 0.
  NetworkBuffer* segment = partition_.buffer_pool().request_buffer(shared ? 0 : index);
  if (segment == nullptr) return false;
  segment->retain();
  if (!shared) ++open_own_;
  lanes_[static_cast<std::size_t>(index)] = {segment, segment->data(),
                                             segment->data() + segment->capacity(), false};
  return true;
}

// The consumers say how large they want the buffer, but it takes at least `min_capacity` bytes from
// its begin, as far as its segment has them.
void BufferWriter::enqueue(Lane& lane, std::int32_t index, std::size_t min_capacity) {
  lane.queued = true;
  std::int32_t desired = PipelinedSubpartition::kUnlimitedBufferSize;
  if (index != shared_lane()) {
    desired = partition_.subpartition(index).desired_buffer_size();
    partition_.add_buffer_consumer(BufferConsumer(*lane.segment), index);
  } else {
    for (std::int32_t i = 0; i < partition_.subpartition_count(); ++i) {
      const std::int32_t one = partition_.subpartition(i).desired_buffer_size();
      if (one != PipelinedSubpartition::kAddBufferError) desired = std::min(desired, one);
      partition_.add_buffer_consumer(BufferConsumer(*lane.segment), i);
    }
  }
  if (desired <= 0) return;  // whole segments
  const std::size_t capacity = std::min<std::size_t>(
      std::max(static_cast<std::size_t>(desired), min_capacity), lane.segment->capacity());
  lane.end = lane.segment->data() + capacity;
}

// A small buffer rather grows than makes its task wait for a segment.
void BufferWriter::enlarge(Lane& lane, std::size_t bytes) {
  std::byte* const limit = lane.segment->data() + lane.segment->capacity();
  if (lane.end == limit || partition_.buffer_pool().is_available()) return;
  lane.end += std::min(bytes, static_cast<std::size_t>(limit - lane.end));
}

void BufferWriter::on_full(Lane& lane) {
  enlarge(lane, 1);
  if (lane.cursor == lane.end) finish_lane(lane);
}

void BufferWriter::finish_lane(Lane& lane) {
  if (lane.segment == nullptr) return;
  const bool shared = &lane == &lanes_.back();
  const std::int64_t copies = shared ? partition_.subpartition_count() : 1;
  buffers_out_ += copies;
  bytes_out_ += copies * static_cast<std::int64_t>(lane.segment->written());
  if (!shared) --open_own_;
  NetworkBuffer* const segment = lane.segment;
  lane = {};
  segment->finish();
  segment->release();
}

void BufferWriter::finish_all() {
  for (Lane& lane : lanes_) finish_lane(lane);
}

void BufferWriter::close() {
  if (std::exchange(closed_, true)) return;
  finish_all();
  stuck_.clear();
  stuck_bytes_.clear();
  stuck_at_ = 0;
  blocked_ = false;
}

BufferWriter::OpenBuffer BufferWriter::open_buffer(std::int32_t lane) const {
  const Lane& open = lanes_[static_cast<std::size_t>(lane)];
  if (open.segment == nullptr) return {};
  return {true, open.segment, static_cast<std::uint32_t>(open.end - open.segment->data())};
}

}  // namespace tailrace::engine
