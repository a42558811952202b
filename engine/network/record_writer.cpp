#include "engine/network/record_writer.hpp"

#include <algorithm>
#include <utility>

#include "engine/network/local_buffer_pool.hpp"

namespace tailrace::engine {

RecordWriter::RecordWriter(ResultPartition& partition, RecordType type,
                           std::unique_ptr<ChannelSelector> selector, Duration buffer_timeout,
                           const Ports& ports, std::optional<Time> flush_start,
                           base::InplaceFunction<Duration()> lateness)
    : partition_(partition),
      type_(type),
      selector_(std::move(selector)),
      broadcast_(selector_->is_broadcast()),
      flush_always_(buffer_timeout == Duration{0}),
      buffer_timeout_(buffer_timeout),
      lateness_(std::move(lateness)),
      ports_(ports),
      buffers_(partition),
      is_dirty_(static_cast<std::size_t>(partition.subpartition_count()) + 1) {
  dirty_.reserve(is_dirty_.size());
  partition_.buffer_pool().set_availability_listener([this] { on_pool_available(); });
  if (buffer_timeout_ > Duration{0}) schedule_flush(first_flush(flush_start));
}

RecordWriter::~RecordWriter() {
  close();
}

void RecordWriter::close() {
  if (std::exchange(closed_, true)) return;
  if (!partition_.is_released()) partition_.buffer_pool().set_availability_listener({});
  buffers_.close();
  if (buffer_timeout_ > Duration{0}) ports_.timers->cancel(flush_timer_);
}

// Flink RecordWriter.OutputFlusher: a thread that sleeps, flushes and sleeps again.
Duration RecordWriter::first_flush(std::optional<Time> start) {
  const Time now = ports_.clock->now();
  const std::int64_t period = flush_period().ns;
  const std::int64_t since =
      (now - start.value_or(now)).ns % period;  // its phase, before now or not
  return Duration{since < 0 ? -since : period - since};
}

Duration RecordWriter::flush_period() {
  return lateness_ ? buffer_timeout_ + lateness_() : buffer_timeout_;
}

void RecordWriter::schedule_flush(Duration delay) {
  flush_timer_ = ports_.timers->schedule(delay, lifeline_.bind([this] {
    schedule_flush(flush_period());
    if (in_slice_) {
      flush_due_ = true;
    } else {
      partition_.flush_all();
    }
  }));
}

bool RecordWriter::is_available() const {
  return !is_blocked() && !partition_.is_released() && partition_.buffer_pool().is_available();
}

void RecordWriter::emit(const Record& record) {
  emit_to(record, broadcast_ ? buffers_.shared_lane() : selector_->select(record));
}

void RecordWriter::broadcast_emit(const Record& record) {
  if (broadcast_) {
    emit_to(record, buffers_.shared_lane());
  } else {
    for (std::int32_t i = 0; i < partition_.subpartition_count(); ++i) emit_to(record, i);
  }
}

void RecordWriter::emit_serialized(std::span<const std::byte> record, std::int32_t subpartition) {
  write(record, subpartition);
}

void RecordWriter::broadcast_emit_serialized(std::span<const std::byte> record) {
  if (broadcast_) {
    write(record, buffers_.shared_lane());
  } else {
    for (std::int32_t i = 0; i < partition_.subpartition_count(); ++i) write(record, i);
  }
}

void RecordWriter::emit_to(const Record& record, std::int32_t lane) {
  std::byte* const room = buffers_.find_room(lane, record.text.size() + kRecordOverheadMax);
  if (room == nullptr || !is_ascii(record.text.data(), record.text.size())) [[unlikely]] {
    serialized_.clear();
    append_record(serialized_, record, type_);
    write(serialized_, lane);
    return;
  }
  in_slice_ = true;
  ++records_written_;
  std::byte* const end = put_ascii_record(room, record, type_);
  bytes_written_ += end - room;
  buffers_.commit(lane, end);
  if (flush_always_) mark_dirty(lane);
}

void RecordWriter::write(std::span<const std::byte> record, std::int32_t lane) {
  in_slice_ = true;
  ++records_written_;
  bytes_written_ += static_cast<std::int64_t>(record.size());
  buffers_.write(record, lane);
  if (flush_always_) mark_dirty(lane);
}

void RecordWriter::mark_dirty(std::int32_t lane) {
  if (std::exchange(is_dirty_[static_cast<std::size_t>(lane)], std::uint8_t{1}) == 0) {
    dirty_.push_back(lane);
  }
}

void RecordWriter::on_pool_available() {
  if (is_blocked()) {
    // A later event, as Flink's waiting thread: this call comes from inside whoever recycled.
    if (std::exchange(drain_scheduled_, true)) return;
    ports_.timers->schedule(Duration{0}, lifeline_.bind([this] {
      drain_scheduled_ = false;
      if (closed_ || partition_.is_released() || !is_blocked()) return;
      buffers_.resume();
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
  // Each record's own signals come before those of its flush.
  for (const std::int32_t lane : dirty_) {
    if (lane == buffers_.shared_lane()) {
      partition_.publish();
      partition_.flush_all();
    } else {
      partition_.subpartition(lane).notify_data_available();
      partition_.flush(lane);
    }
  }
  partition_.publish();
  if (std::exchange(flush_due_, false)) partition_.flush_all();
  if (is_blocked()) return;  // flushed again when the records are whole
  for (const std::int32_t lane : dirty_) is_dirty_[static_cast<std::size_t>(lane)] = 0;
  dirty_.clear();
}

void RecordWriter::flush_all() {
  publish();
  partition_.flush_all();
}

void RecordWriter::broadcast_event(const RuntimeEvent& event, bool priority) {
  TAILRACE_ASSERT(!is_blocked() && !closed_);
  const bool ends_data = std::holds_alternative<EndOfData>(event);
  if (ends_data && std::exchange(data_ended_, true)) return;
  buffers_.finish_all();
  if (partition_.is_released()) return;
  const bool last = std::holds_alternative<EndOfPartitionEvent>(event);
  if (last) {
    partition_.finish();
  } else {
    partition_.broadcast_event(event, priority);
  }
  publish();
  // Flink tells both ends below the writer, which is who flushes.
  if (flush_always_ && !last && !ends_data) partition_.flush_all();
}

}  // namespace tailrace::engine
