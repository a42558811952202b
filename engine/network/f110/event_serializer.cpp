#include "engine/network/f110/event_serializer.hpp"

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/network/big_endian.hpp"

namespace tailrace::engine {

namespace {

// Flink 1.10 EventSerializer.
constexpr std::uint32_t kEndOfPartitionEvent = 0;
constexpr std::uint32_t kCheckpointBarrierEvent = 1;
constexpr std::uint32_t kCancelCheckpointMarkerEvent = 4;
constexpr std::uint32_t kTypeCheckpoint = 0;
constexpr std::uint32_t kTypeSavepoint = 1;
constexpr std::uint32_t kTypeSyncSavepoint = 2;
constexpr std::size_t kBarrierBytes = 28;
constexpr std::uint32_t kDefaultLocation = 0xffffffff;

std::uint32_t code_of(CheckpointType type) {
  switch (type) {
    case CheckpointType::CHECKPOINT:
      return kTypeCheckpoint;
    case CheckpointType::SAVEPOINT:
      return kTypeSavepoint;
    case CheckpointType::FULL_CHECKPOINT:
    case CheckpointType::SAVEPOINT_SUSPEND:
    case CheckpointType::SAVEPOINT_TERMINATE:
      break;  // of 1.20
    case CheckpointType::SYNC_SAVEPOINT:
      return kTypeSyncSavepoint;
  }
  base::fail_assertion("CheckpointType", __FILE__, __LINE__);
}

CheckpointType type_of(std::uint32_t code) {
  TAILRACE_ASSERT(code <= kTypeSyncSavepoint);
  return code == kTypeCheckpoint  ? CheckpointType::CHECKPOINT
         : code == kTypeSavepoint ? CheckpointType::SAVEPOINT
                                  : CheckpointType::SYNC_SAVEPOINT;
}

std::vector<std::byte> bytes_of(const CheckpointBarrier& barrier) {
  const std::string& location = barrier.options.target_location;
  std::vector<std::byte> bytes(kBarrierBytes + location.size());
  put_int32(bytes.data(), kCheckpointBarrierEvent);
  put_int64(bytes.data() + 4, static_cast<std::uint64_t>(barrier.id));
  put_int64(bytes.data() + 12, static_cast<std::uint64_t>(barrier.timestamp_ms));
  put_int32(bytes.data() + 20, code_of(barrier.options.type));
  put_int32(bytes.data() + 24,
            location.empty() ? kDefaultLocation : static_cast<std::uint32_t>(location.size()));
  if (!location.empty()) {
    std::memcpy(bytes.data() + kBarrierBytes, location.data(), location.size());
  }
  return bytes;
}

std::vector<std::byte> bytes_of(const CancelCheckpointMarker& marker) {
  std::vector<std::byte> bytes(12);
  put_int32(bytes.data(), kCancelCheckpointMarkerEvent);
  put_int64(bytes.data() + 4, static_cast<std::uint64_t>(marker.id));
  return bytes;
}

std::vector<std::byte> bytes_of(const EndOfPartitionEvent&) {
  std::vector<std::byte> bytes(4);
  put_int32(bytes.data(), kEndOfPartitionEvent);
  return bytes;
}

// The other events are of 1.20.
template <typename Event>
std::vector<std::byte> bytes_of(const Event&) {
  base::fail_assertion("event of 1.10", __FILE__, __LINE__);
}

}  // namespace

EventBytes serialize_event(const RuntimeEvent& event) {
  return std::visit(
      [](const auto& one) { return std::make_shared<const std::vector<std::byte>>(bytes_of(one)); },
      event);
}

RuntimeEvent parse_event(std::span<const std::byte> bytes) {
  TAILRACE_ASSERT(bytes.size() >= 4);
  switch (get_int32(bytes.data())) {
    case kEndOfPartitionEvent:
      return EndOfPartitionEvent{};
    case kCancelCheckpointMarkerEvent:
      TAILRACE_ASSERT(bytes.size() == 12);
      return CancelCheckpointMarker{static_cast<CheckpointId>(get_int64(bytes.data() + 4))};
    case kCheckpointBarrierEvent: {
      TAILRACE_ASSERT(bytes.size() >= kBarrierBytes);
      CheckpointBarrier barrier;
      barrier.id = static_cast<CheckpointId>(get_int64(bytes.data() + 4));
      barrier.timestamp_ms = static_cast<std::int64_t>(get_int64(bytes.data() + 12));
      barrier.options.type = type_of(get_int32(bytes.data() + 20));
      const std::uint32_t length = get_int32(bytes.data() + 24);
      if (length != kDefaultLocation) {
        TAILRACE_ASSERT(bytes.size() == kBarrierBytes + length);
        barrier.options.target_location.assign(
            reinterpret_cast<const char*>(bytes.data()) + kBarrierBytes, length);
      }
      return barrier;
    }
    default:
      base::fail_assertion("known event type", __FILE__, __LINE__);
  }
}

}  // namespace tailrace::engine
