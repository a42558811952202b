#include "engine/network/f120/event_serializer.hpp"

#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/network/big_endian.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine::f120 {
namespace {

enum EventId : std::uint32_t {
  kIdEndOfPartition = 0,
  kIdCheckpointBarrier = 1,
  kIdCancelCheckpointMarker = 4,
  kIdEndOfChannelState = 5,
  kIdAnnouncement = 6,
  kIdVirtualChannelSelector = 7,
  kIdEndOfUserRecords = 8,
};
enum SnapshotCode : std::uint8_t {
  kCodeCheckpoint = 0,
  kCodeSavepoint = 1,
  kCodeSavepointSuspend = 2,
  kCodeSavepointTerminate = 3,
  kCodeFullCheckpoint = 4,
};
// Flink allocates the barrier's buffer for its largest form, and sends all of it.
constexpr std::size_t kBarrierBytes120 = 38;
constexpr std::uint32_t kDefaultLocation120 = 0xffffffff;
constexpr std::int64_t kNoTimeoutMs = std::numeric_limits<std::int64_t>::max();

SnapshotCode code_of_snapshot(CheckpointType type) {
  switch (type) {
    case CheckpointType::CHECKPOINT:
      return kCodeCheckpoint;
    case CheckpointType::FULL_CHECKPOINT:
      return kCodeFullCheckpoint;
    case CheckpointType::SAVEPOINT:
      return kCodeSavepoint;
    case CheckpointType::SAVEPOINT_SUSPEND:
      return kCodeSavepointSuspend;
    case CheckpointType::SAVEPOINT_TERMINATE:
      return kCodeSavepointTerminate;
    case CheckpointType::SYNC_SAVEPOINT:
      break;  // of 1.10
  }
  base::fail_assertion("CheckpointType of 1.20", __FILE__, __LINE__);
}

CheckpointType type_of_snapshot(std::uint8_t code) {
  switch (code) {
    case kCodeCheckpoint:
      return CheckpointType::CHECKPOINT;
    case kCodeFullCheckpoint:
      return CheckpointType::FULL_CHECKPOINT;
    case kCodeSavepoint:
      return CheckpointType::SAVEPOINT;
    case kCodeSavepointSuspend:
      return CheckpointType::SAVEPOINT_SUSPEND;
    case kCodeSavepointTerminate:
      return CheckpointType::SAVEPOINT_TERMINATE;
    default:
      base::fail_assertion("known snapshot type", __FILE__, __LINE__);
  }
}

std::int64_t milliseconds_of(base::Duration timeout) {
  return timeout == base::Duration::max() ? kNoTimeoutMs : timeout.ns / 1'000'000;
}
base::Duration timeout_of(std::int64_t milliseconds) {
  return milliseconds == kNoTimeoutMs ? base::Duration::max()
                                      : base::Duration::millis(milliseconds);
}

class EventWriter {
 public:
  explicit EventWriter(std::size_t bytes) : bytes_(bytes) {}
  void byte(std::uint8_t value) { bytes_[at_++] = static_cast<std::byte>(value); }
  void int32(std::uint32_t value) {
    put_int32(bytes_.data() + at_, value);
    at_ += 4;
  }
  void int64(std::int64_t value) {
    put_int64(bytes_.data() + at_, static_cast<std::uint64_t>(value));
    at_ += 8;
  }
  void text(const std::string& text) {
    if (!text.empty()) std::memcpy(bytes_.data() + at_, text.data(), text.size());
    at_ += text.size();
  }
  std::vector<std::byte> take() { return std::move(bytes_); }
  // Without what was allocated and not used.
  std::vector<std::byte> take_used() {
    bytes_.resize(at_);
    return std::move(bytes_);
  }

 private:
  std::vector<std::byte> bytes_;
  std::size_t at_ = 0;
};

class EventReader {
 public:
  explicit EventReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::uint8_t byte() { return static_cast<std::uint8_t>(*take(1)); }
  std::uint32_t int32() { return get_int32(take(4)); }
  std::int64_t int64() { return static_cast<std::int64_t>(get_int64(take(8))); }
  std::string text(std::size_t size) {
    return std::string(reinterpret_cast<const char*>(take(size)), size);
  }

 private:
  const std::byte* take(std::size_t size) {
    TAILRACE_ASSERT(bytes_.size() - at_ >= size);
    const std::byte* at = bytes_.data() + at_;
    at_ += size;
    return at;
  }

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

void write_barrier(EventWriter& out, const CheckpointBarrier& barrier) {
  const CheckpointOptions& options = barrier.options;
  out.int32(kIdCheckpointBarrier);
  out.int64(barrier.id);
  out.int64(barrier.timestamp_ms);
  out.byte(code_of_snapshot(options.type));
  if (is_savepoint(options.type)) out.byte(static_cast<std::uint8_t>(options.format));
  if (options.target_location.empty()) {
    out.int32(kDefaultLocation120);
  } else {
    out.int32(static_cast<std::uint32_t>(options.target_location.size()));
    out.text(options.target_location);
  }
  out.byte(static_cast<std::uint8_t>(options.alignment));
  out.int64(milliseconds_of(options.aligned_checkpoint_timeout));
}

EventWriter writer_of(const CheckpointBarrier& barrier) {
  EventWriter out(kBarrierBytes120 + barrier.options.target_location.size());
  write_barrier(out, barrier);
  return out;
}

EventWriter writer_of(const EventAnnouncement& announcement) {
  EventWriter out(8 + kBarrierBytes120 + announcement.barrier.options.target_location.size());
  out.int32(kIdAnnouncement);
  out.int32(static_cast<std::uint32_t>(announcement.sequence_number));
  write_barrier(out, announcement.barrier);
  return out;
}

std::vector<std::byte> written(const CheckpointBarrier& barrier) {
  return writer_of(barrier).take();
}

std::vector<std::byte> written(const CancelCheckpointMarker& marker) {
  EventWriter out(12);
  out.int32(kIdCancelCheckpointMarker);
  out.int64(marker.id);
  return out.take();
}

std::vector<std::byte> written(const EndOfPartitionEvent&) {
  EventWriter out(4);
  out.int32(kIdEndOfPartition);
  return out.take();
}

std::vector<std::byte> written(const EndOfData& end) {
  EventWriter out(5);
  out.int32(kIdEndOfUserRecords);
  out.byte(end.drain ? 0 : 1);  // StopMode.DRAIN, NO_DRAIN
  return out.take();
}

std::vector<std::byte> written(const EndOfChannelState&) {
  EventWriter out(4);
  out.int32(kIdEndOfChannelState);
  return out.take();
}

std::vector<std::byte> written(const SubtaskConnectionDescriptor& selector) {
  EventWriter out(12);
  out.int32(kIdVirtualChannelSelector);
  out.int32(static_cast<std::uint32_t>(selector.input_subtask));
  out.int32(static_cast<std::uint32_t>(selector.output_subtask));
  return out.take();
}

std::vector<std::byte> written(const EventAnnouncement& announcement) {
  return writer_of(announcement).take();
}

CheckpointBarrier read_barrier(EventReader& in) {
  CheckpointBarrier barrier;
  barrier.id = in.int64();
  barrier.timestamp_ms = in.int64();
  barrier.options.type = type_of_snapshot(in.byte());
  if (is_savepoint(barrier.options.type)) {
    const std::uint8_t format = in.byte();
    TAILRACE_ASSERT(format <= static_cast<std::uint8_t>(SavepointFormatType::NATIVE));
    barrier.options.format = static_cast<SavepointFormatType>(format);
  }
  const std::uint32_t length = in.int32();
  if (length != kDefaultLocation120) barrier.options.target_location = in.text(length);
  const std::uint8_t alignment = in.byte();
  TAILRACE_ASSERT(alignment <= static_cast<std::uint8_t>(AlignmentType::FORCED_ALIGNED));
  barrier.options.alignment = static_cast<AlignmentType>(alignment);
  barrier.options.aligned_checkpoint_timeout = timeout_of(in.int64());
  return barrier;
}

}  // namespace

EventBytes serialize_event(const RuntimeEvent& event) {
  return std::visit(
      [](const auto& one) { return std::make_shared<const std::vector<std::byte>>(written(one)); },
      event);
}

EventBytes serialize_event_at_receiver(const RuntimeEvent& event) {
  return std::visit(
      [](const auto& one) {
        if constexpr (requires { writer_of(one); }) {
          return std::make_shared<const std::vector<std::byte>>(writer_of(one).take_used());
        } else {
          return std::make_shared<const std::vector<std::byte>>(written(one));
        }
      },
      event);
}

RuntimeEvent parse_event(std::span<const std::byte> bytes) {
  EventReader in(bytes);
  switch (in.int32()) {
    case kIdEndOfPartition:
      return EndOfPartitionEvent{};
    case kIdCheckpointBarrier:
      return read_barrier(in);
    case kIdCancelCheckpointMarker:
      return CancelCheckpointMarker{in.int64()};
    case kIdEndOfChannelState:
      return EndOfChannelState{};
    case kIdVirtualChannelSelector: {
      const auto input_subtask = static_cast<std::int32_t>(in.int32());
      return SubtaskConnectionDescriptor{input_subtask, static_cast<std::int32_t>(in.int32())};
    }
    case kIdAnnouncement: {
      const auto sequence_number = static_cast<std::int32_t>(in.int32());
      TAILRACE_ASSERT(in.int32() == kIdCheckpointBarrier);
      return EventAnnouncement{read_barrier(in), sequence_number};
    }
    case kIdEndOfUserRecords:
      return EndOfData{in.byte() == 0};
    default:
      base::fail_assertion("known event type", __FILE__, __LINE__);
  }
}

}  // namespace tailrace::engine::f120
