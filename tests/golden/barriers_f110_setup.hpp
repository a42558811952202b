// The reading end of a task of 1.10, fed from a recording.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/barrier/f110/input_processor_util.hpp"
#include "engine/scheduling/deployment.hpp"
#include "sim/base/assert.hpp"
#include "tests/engine/barrier/scripted_input.hpp"
#include "tests/golden/golden_registry.hpp"

namespace tailrace::golden {

// Checked before anything is allocated for them.
inline std::int32_t channels_of(const Json& number) {
  const auto channels = number.get<std::int64_t>();
  if (channels < 1 || channels > 1 << 20) {
    throw MalformedCase("channels: " + std::to_string(channels));
  }
  return static_cast<std::int32_t>(channels);
}

inline Json event_of(const engine::test::Notification& note) {
  if (note.is_trigger) {
    return {{"e", "trigger"}, {"cp", note.id}, {"bytesBuffered", note.alignment.bytes_buffered}};
  }
  return {{"e", "abort"}, {"cp", note.id}, {"reason", engine::to_string(note.reason)}};
}

inline std::string kind_of(const engine::RuntimeEvent& event) {
  if (std::holds_alternative<engine::EndOfPartitionEvent>(event)) return "eop";
  return std::holds_alternative<engine::CheckpointBarrier>(event) ? "barrier" : "cancel";
}

// Gates, handler and storages of one task. Members are destroyed from the last to the first: what
// holds buffers goes before the buffers.
struct BarrierTask {
  engine::test::ManualClock clock;
  engine::test::NotingListener listener;
  engine::test::NumberedBuffers buffers;
  std::vector<std::unique_ptr<engine::test::ScriptedInputGate>> gates;
  std::unique_ptr<engine::f110::InputProcessorUtil> inputs;

  BarrierTask(const engine::CheckpointedInputsOptions& options,
              const std::vector<std::int32_t>& channels,
              engine::test::ScriptedInputGate::Order order,
              engine::test::ScriptedInputGate::End end) {
    std::vector<engine::InputToCheckpoint> to_checkpoint;
    for (const std::int32_t count : channels) {
      gates.push_back(std::make_unique<engine::test::ScriptedInputGate>(count, order, end));
      to_checkpoint.push_back({gates.back().get(), nullptr});
    }
    inputs =
        std::make_unique<engine::f110::InputProcessorUtil>(to_checkpoint, options, listener, clock);
  }

  // `item` as the recordings have it; a buffer gets `number`.
  void feed(std::size_t gate, engine::ChannelIndex channel, const Json& item, std::int64_t number) {
    const auto& kind = item.at("k").get_ref<const std::string&>();
    std::variant<engine::Buffer, engine::RuntimeEvent> fed;
    if (kind == "buffer") {
      const auto size = item.value("size", std::int64_t{0});
      if (size < 0 || size > 1 << 24) throw MalformedCase("size: " + std::to_string(size));
      fed = buffers.make(number, static_cast<std::uint32_t>(size));
    } else if (kind == "barrier") {
      fed = engine::RuntimeEvent(engine::CheckpointBarrier{
          item.at("cp").get<std::int64_t>(), item.value("ts", std::int64_t{0}), {}});
    } else if (kind == "cancel") {
      fed = engine::RuntimeEvent(engine::CancelCheckpointMarker{item.at("cp").get<std::int64_t>()});
    } else if (kind == "eop") {
      fed = engine::RuntimeEvent(engine::EndOfPartitionEvent{});
    } else {
      throw MalformedCase("unknown kind of item: " + kind);
    }
    const auto& target = *gates.at(gate);
    if (channel < 0 || channel >= target.channel_count()) {
      throw MalformedCase("there is no channel " + std::to_string(channel));
    }
    gates[gate]->feed(channel, std::move(fed));
  }

  // Over all gates, numbered one gate after the other.
  [[nodiscard]] Json blocked_channels() const {
    Json blocked = Json::array();
    std::int32_t channel = 0;
    for (const auto& gate : gates) channel += gate->channel_count();
    for (std::int32_t i = 0; i < channel; ++i) {
      if (inputs->handler().is_blocked(i)) blocked.push_back(i);
    }
    return blocked;
  }

  // Drops everything that may hold a buffer. Not in any recording, but Flink checks it in its tests.
  void expect_all_buffers_come_back() {
    inputs.reset();
    gates.clear();
    expect_equal("buffers that did not come back", 0, buffers.out());
  }
};

}  // namespace tailrace::golden
