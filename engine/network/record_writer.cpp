#include "engine/network/record_writer.hpp"

#include <algorithm>
#include <utility>

#include "engine/network/local_buffer_pool.hpp"

namespace tailrace::engine {

RecordWriter::RecordWriter(ResultPartition& partition, RecordType type,
                           std::unique_ptr<ChannelSelector> selector, Duration buffer_timeout,
                           const Ports& ports)
    : partition_(partition),
      type_(type),
      selector_(std::move(selector)),
      broadcast_(selector_->is_broadcast()),
      flush_always_(buffer_timeout == Duration{0}),
      buffer_timeout_(buffer_timeout),
      ports_(ports),
      lanes_(broadcast_ ? 1 : static_cast<std::size_t>(partition.subpartition_count())) {
  dirty_.reserve(lanes_.size());
  partition_.buffer_pool().set_availability_listener([this] { on_pool_available(); });
  if (buffer_timeout_ > Duration{0}) schedule_flush();
}

RecordWriter::~RecordWriter() {
  close();
}

void RecordWriter::close() {
  if (std::exchange(closed_, true)) return;
  if (!partition_.is_released()) partition_.buffer_pool().set_availability_listener({});
  for (Lane& lane : lanes_) finish_lane(lane);
  stuck_.clear();
  stuck_bytes_.clear();
  stuck_at_ = 0;
  blocked_ = false;
  if (buffer_timeout_ > Duration{0}) ports_.timers->cancel(flush_timer_);
}

void RecordWriter::schedule_flush() {
  flush_timer_ = ports_.timers->schedule(buffer_timeout_, lifeline_.bind([this] {
    schedule_flush();
    if (in_slice_) {
      flush_due_ = true;
    } else {
      partition_.flush_all();
    }
  }));
}

bool RecordWriter::is_available() const {
  return !blocked_ && !partition_.is_released() && partition_.buffer_pool().is_available();
}

void RecordWriter::emit(const Record& record) {
  in_slice_ = true;
  ++records_written_;
  const std::int32_t index = broadcast_ ? 0 : selector_->select(record);
  Lane& lane = lanes_[static_cast<std::size_t>(index)];
  if (!blocked_ && lane.room() >= record.text.size() + kRecordOverheadMax &&
      is_ascii(record.text.data(), record.text.size())) [[likely]] {
    std::byte* const end = put_ascii_record(lane.cursor, record, type_);
    bytes_written_ += end - lane.cursor;
    advance(lane, index, end);
    return;
  }
  emit_slowly(record, index);
}

void RecordWriter::emit_slowly(const Record& record, std::int32_t index) {
  const std::size_t before = stuck_bytes_.size();
  append_record(stuck_bytes_, record, type_);
  const std::size_t bytes = stuck_bytes_.size() - before;
  bytes_written_ += static_cast<std::int64_t>(bytes);
  stuck_.push_back({index, bytes});
  if (!blocked_) blocked_ = !drain();
}

void RecordWriter::advance(Lane& lane, std::int32_t index, std::byte* cursor) {
  lane.cursor = cursor;
  lane.segment->commit(static_cast<std::uint32_t>(cursor - lane.segment->data()));
  if (flush_always_ && !lane.dirty) mark_dirty(lane, index);
  if (cursor == lane.end) finish_lane(lane);
}

void RecordWriter::mark_dirty(Lane& lane, std::int32_t index) {
  lane.dirty = true;
  dirty_.push_back(index);
}

bool RecordWriter::open_lane(std::int32_t index) {
  TAILRACE_ASSERT(!closed_ && !partition_.is_released());
  // A broadcast buffer counts once, for subpartition 0.
  NetworkBuffer* segment = partition_.buffer_pool().request_buffer(index);
  if (segment == nullptr) return false;
  segment->retain();
  Lane& lane = lanes_[static_cast<std::size_t>(index)];
  lane.segment = segment;
  lane.cursor = segment->data();
  lane.end = segment->data() + segment->capacity();
  if (!broadcast_) {
    partition_.add_buffer_consumer(BufferConsumer(*segment), index);
    return true;
  }
  for (std::int32_t i = 0; i < partition_.subpartition_count(); ++i) {
    partition_.add_buffer_consumer(BufferConsumer(*segment), i);
  }
  return true;
}

void RecordWriter::finish_lane(Lane& lane) {
  if (lane.segment == nullptr) return;
  lane.segment->finish();
  lane.cursor = nullptr;
  lane.end = nullptr;
  std::exchange(lane.segment, nullptr)->release();
}

bool RecordWriter::drain() {
  while (!stuck_.empty()) {
    Stuck& record = stuck_.front();
    Lane& lane = lanes_[static_cast<std::size_t>(record.lane)];
    while (record.bytes > 0) {
      if (lane.segment == nullptr && !open_lane(record.lane)) return false;
      const std::size_t count = std::min(record.bytes, lane.room());
      std::memcpy(lane.cursor, stuck_bytes_.data() + stuck_at_, count);
      stuck_at_ += count;
      record.bytes -= count;
      advance(lane, record.lane, lane.cursor + count);
    }
    stuck_.pop_front();
  }
  stuck_bytes_.clear();
  stuck_at_ = 0;
  return true;
}

void RecordWriter::on_pool_available() {
  if (blocked_) {
    // A later event, as Flink's waiting thread: this call comes from inside whoever recycled.
    if (std::exchange(drain_scheduled_, true)) return;
    ports_.timers->schedule(Duration{0}, lifeline_.bind([this] {
      drain_scheduled_ = false;
      if (closed_ || partition_.is_released() || !blocked_) return;
      blocked_ = !drain();
      if (!in_slice_) publish();
      if (on_available_ && is_available()) on_available_();
    }));
    return;
  }
  if (on_available_ && is_available()) on_available_();
}

void RecordWriter::publish() {
  in_slice_ = false;
  if (partition_.is_released()) return;
  partition_.publish();
  if (std::exchange(flush_due_, false)) partition_.flush_all();
  for (const std::int32_t index : dirty_) {
    lanes_[static_cast<std::size_t>(index)].dirty = false;
    if (broadcast_) {
      partition_.flush_all();
    } else {
      partition_.flush(index);
    }
  }
  dirty_.clear();
}

void RecordWriter::flush_all() {
  publish();
  partition_.flush_all();
}

void RecordWriter::broadcast_event(const RuntimeEvent& event) {
  TAILRACE_ASSERT(!blocked_ && !closed_);
  for (Lane& lane : lanes_) finish_lane(lane);
  if (partition_.is_released()) return;
  if (std::holds_alternative<EndOfPartitionEvent>(event)) {
    partition_.finish();
  } else {
    partition_.broadcast_event(event);
  }
  publish();
  if (flush_always_) partition_.flush_all();
}

}  // namespace tailrace::engine
