// Parts of the network stack of 1.20 as recordings describe them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/network/buffer_consumer.hpp"
#include "engine/network/events.hpp"
#include "engine/network/network_semantics.hpp"
#include "engine/ports.hpp"
#include "tests/golden/golden_registry.hpp"

namespace tailrace::golden::flow_f120 {

using namespace engine;

inline std::string step_name(std::size_t number, const Json& step) {
  return "step " + std::to_string(number) + " (" + step.at("op").get<std::string>() + "): ";
}

// A number that something is allocated for, checked before that.
inline std::int32_t small_number(const Json& number, std::int32_t least, std::int32_t most) {
  const auto value = number.get<std::int64_t>();
  if (value < least || value > most) {
    throw MalformedCase("not in [" + std::to_string(least) + ", " + std::to_string(most) +
                        "]: " + std::to_string(value));
  }
  return static_cast<std::int32_t>(value);
}
inline std::uint32_t bytes_of(const Json& number) {
  return static_cast<std::uint32_t>(small_number(number, 0, 32 * 1024));
}

// An event with the type under which its sender queues it.
struct TypedEvent {
  RuntimeEvent event;
  DataType type = DataType::kEventBuffer;
};

inline TypedEvent event_of(const std::string& kind, CheckpointId checkpoint) {
  CheckpointBarrier barrier{checkpoint, 0, {}};
  bool priority = false;
  RuntimeEvent event;
  if (kind == "cancel") {
    event = CancelCheckpointMarker{checkpoint};
  } else if (kind == "eop" || kind == "end") {
    event = EndOfPartitionEvent{};
  } else if (kind == "endofdata") {
    event = EndOfData{true};
  } else if (kind == "recovered") {
    event = EndOfChannelState{};
  } else {
    if (kind == "unaligned") {
      barrier.options.alignment = AlignmentType::UNALIGNED;
      priority = true;
    } else if (kind == "timeoutable") {
      barrier.options.aligned_checkpoint_timeout = Duration::seconds(1);
    } else if (kind == "savepoint") {
      barrier.options.type = CheckpointType::SAVEPOINT;
    } else if (kind == "atleastonce") {
      barrier.options.alignment = AlignmentType::AT_LEAST_ONCE;
    } else if (kind != "aligned") {
      throw MalformedCase("unknown event: " + kind);
    }
    event = barrier;
  }
  return {event, network_semantics_120().data_type_of(event, priority)};
}

inline NetworkItem item_of(const TypedEvent& one) {
  return {{}, network_semantics_120().serialize_event(one.event), one.type};
}
inline BufferConsumer consumer_of(const TypedEvent& one) {
  return BufferConsumer(network_semantics_120().serialize_event(one.event), one.type);
}

inline std::string class_of(const RuntimeEvent& event) {
  if (std::holds_alternative<CheckpointBarrier>(event)) return "CheckpointBarrier";
  if (std::holds_alternative<CancelCheckpointMarker>(event)) return "CancelCheckpointMarker";
  if (std::holds_alternative<EventAnnouncement>(event)) return "EventAnnouncement";
  if (std::holds_alternative<EndOfData>(event)) return "EndOfData";
  if (std::holds_alternative<EndOfChannelState>(event)) return "EndOfChannelStateEvent";
  return "EndOfPartitionEvent";
}
// The recordings name it of barriers and their announcements alone.
inline Json checkpoint_of(const RuntimeEvent& event) {
  if (const auto* barrier = std::get_if<CheckpointBarrier>(&event)) return barrier->id;
  if (const auto* announced = std::get_if<EventAnnouncement>(&event)) return announced->barrier.id;
  return nullptr;
}

inline std::string name_of(DataType type) {
  switch (type) {
    case DataType::kNone:
      return "none";
    case DataType::kDataBuffer:
      return "data";
    case DataType::kEventBuffer:
      return "event";
    case DataType::kPrioritizedEventBuffer:
      return "priority";
    case DataType::kAlignedCheckpointBarrier:
      return "aligned";
    case DataType::kTimeoutableAlignedCheckpointBarrier:
      return "timeoutable";
    case DataType::kRecoveryCompletion:
      return "recoveryCompletion";
    case DataType::kEndOfData:
      return "endOfData";
    case DataType::kEndOfPartition:
      return "endOfPartition";
  }
  throw MalformedCase("a type that nobody knows");
}

// Segments, as many as a case wants.
class WrittenSegments final : public BufferRecycler {
 public:
  NetworkBuffer& make(std::uint32_t written, std::uint32_t capacity, bool finished) {
    data_.push_back(std::make_unique<std::byte[]>(capacity));
    all_.push_back(std::make_unique<NetworkBuffer>(data_.back().get(), capacity));
    NetworkBuffer& segment = *all_.back();
    segment.lend(*this);
    segment.commit(written);
    if (finished) segment.finish();
    return segment;
  }
  void recycle(NetworkBuffer&) override {}

 private:
  std::vector<std::unique_ptr<std::byte[]>> data_;
  std::vector<std::unique_ptr<NetworkBuffer>> all_;
};

class NoTimers final : public Timers {
 public:
  TimerId schedule(Duration, Callback) override { return {1}; }
  void cancel(TimerId) override {}
};

}  // namespace tailrace::golden::flow_f120
