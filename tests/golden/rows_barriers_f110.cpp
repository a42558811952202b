// Replays golden/rows_barriers A, B and C: the conformance rows of the aligner, the storages and the
// tracker of 1.10, step by step.
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/barrier/f110/cached_buffer_storage.hpp"
#include "engine/barrier/f110/checkpoint_barrier_tracker.hpp"
#include "engine/barrier/f110/linked_buffer_storage.hpp"
#include "tests/golden/barriers_f110_setup.hpp"
#include "tests/golden/golden_registry.hpp"

namespace tailrace::golden {
namespace {

using engine::CheckpointingMode;
using engine::f110::BufferStorage;
using engine::f110::CachedBufferStorage;
using engine::test::NumberedBuffers;
using engine::test::ScriptedInputGate;

constexpr auto kArrival = ScriptedInputGate::Order::kArrival;

engine::CheckpointedInputsOptions options_of(const Json& line) {
  return {.mode = CheckpointingMode::EXACTLY_ONCE,
          .page_bytes = line.at("pageSize").get<std::int64_t>(),
          .max_buffered_bytes = line.at("maxBuffered").get<std::int64_t>()};
}

// Feeds a gate of a script and answers polls with positions in it.
class ScriptedGateOfRow {
 public:
  ScriptedGateOfRow(BarrierTask& task, std::size_t gate) : task_(task), gate_(gate) {}

  void feed(const Json& item) {
    const auto channel = item.at("ch").get<std::int32_t>();
    if (item.at("k") == "eop") ends_[channel] = next_;
    task_.feed(gate_, channel, item, next_++);
  }
  // Position of what came out, or null.
  Json poll() {
    const auto next = task_.inputs->input(static_cast<std::int32_t>(gate_)).poll_next();
    if (!next) return nullptr;
    if (next->is_buffer()) return NumberedBuffers::number_of(std::get<engine::Buffer>(next->item));
    // The only event that comes out is an end of partition, one a channel.
    expect_equal("kind of the event that came out", "eop", kind_of(next->event()));
    return ends_.at(next->channel);
  }

 private:
  BarrierTask& task_;
  std::size_t gate_;
  std::int64_t next_ = 0;
  std::map<engine::ChannelIndex, std::int64_t> ends_;  // position of the channel's end
};

Json take_notes(BarrierTask& task) {
  Json notes = Json::array();
  for (const engine::test::Notification& note : task.listener.take()) {
    notes.push_back(event_of(note));
  }
  return notes;
}

std::string step_name(std::size_t number) {
  return "step " + std::to_string(number) + ": ";
}

void replay_row_a(const Json& line) {
  BarrierTask task(options_of(line), {channels_of(line.at("channels"))}, kArrival,
                   ScriptedInputGate::End::kWhenEmpty);
  // Real time passes between any two looks at a clock: an alignment that ran has a length.
  task.clock.tick(engine::Duration::nanos(1));
  ScriptedGateOfRow gate(task, 0);
  for (const Json& item : line.at("input")) gate.feed(item);

  const auto& storage = task.inputs->storage(0);
  std::size_t number = 0;
  for (const Json& poll : line.at("polls")) {
    const std::string where = "poll " + std::to_string(number++) + ": ";
    const Json out = gate.poll();
    expect_equal(where + "notes", poll.at("notes"), take_notes(task));
    expect_equal(where + "out", poll.at("out"), out);
    expect_equal(where + "blocked", poll.at("blocked"), task.blocked_channels());
    expect_equal(where + "pendingBytes", poll.at("pendingBytes"), storage.pending_bytes());
    expect_equal(where + "rolledBytes", poll.at("rolledBytes"), storage.rolled_bytes());
  }
  expect_equal("latest", line.at("latest"), task.inputs->latest_checkpoint_id());
  expect_equal("finished", line.at("finished"), task.inputs->input(0).is_finished());
  expect_equal("storageEmpty", line.at("storageEmpty"), storage.is_empty());
  expect_equal("lastAlignmentZero", line.at("lastAlignmentZero"),
               task.inputs->alignment_duration() == engine::Duration{});
  task.expect_all_buffers_come_back();
}

// S, and L which has S linked and owns another one.
class StorageRow {
 public:
  explicit StorageRow(const Json& line)
      : s_(line.at("pageSize").get<std::int64_t>(), line.at("maxBuffered").get<std::int64_t>()),
        own_(line.at("pageSize").get<std::int64_t>(), -1),
        l_(own_, {&s_}, line.at("maxBuffered").get<std::int64_t>()) {}

  void run(const Json& line) {
    std::size_t number = 0;
    for (const Json& step : line.at("steps")) {
      const std::string where = step_name(number++);
      const std::string answer = perform(step.at("op").get<std::string>());
      expect_equal(where + "out", step.value("out", std::string()), answer);
      expect_equal(where + "pendingS", step.at("pendingS"), s_.pending_bytes());
      expect_equal(where + "rolledS", step.at("rolledS"), s_.rolled_bytes());
      if (!step.contains("pendingL")) continue;
      expect_equal(where + "pendingL", step.at("pendingL"), l_.pending_bytes());
      expect_equal(where + "rolledL", step.at("rolledL"), l_.rolled_bytes());
    }
    l_.close();
    expect_equal("buffers that did not come back", 0, buffers_.out());
  }

 private:
  // `op`: S or L, a dot, what to do, and for "add" a colon and a name. Empty: no answer.
  std::string perform(const std::string& op) {
    if (op.size() < 3 || op[1] != '.' || (op[0] != 'S' && op[0] != 'L')) {
      throw MalformedCase("unknown step: " + op);
    }
    BufferStorage& storage = op[0] == 'S' ? static_cast<BufferStorage&>(s_) : l_;
    const std::string verb = op.substr(2);
    if (verb.starts_with("add:")) {
      names_.push_back(verb.substr(4));
      storage.add({0, buffers_.make(static_cast<std::int64_t>(names_.size()) - 1), false});
      return {};
    }
    if (verb == "roll") {
      storage.roll_over();
      return {};
    }
    if (verb == "poll") return poll(storage);
    if (verb == "drain") {
      std::string answers;
      while (!storage.is_empty()) answers += (answers.empty() ? "" : " ") + poll(storage);
      return answers;
    }
    if (verb == "empty") return storage.is_empty() ? "empty" : "notempty";
    if (verb == "full") return storage.is_full() ? "full" : "notfull";
    if (verb == "rolled") return "rolled=" + std::to_string(storage.rolled_bytes());
    if (verb == "pending") return "pending=" + std::to_string(storage.pending_bytes());
    throw MalformedCase("unknown step: " + op);
  }

  std::string poll(BufferStorage& storage) {
    const auto next = storage.poll_next();
    if (!next) return "-";
    const auto number = NumberedBuffers::number_of(std::get<engine::Buffer>(next->item));
    return names_.at(static_cast<std::size_t>(number));
  }

  NumberedBuffers buffers_;
  std::vector<std::string> names_;
  CachedBufferStorage s_;
  CachedBufferStorage own_;
  engine::f110::LinkedBufferStorage l_;
};

void replay_gates(const Json& line) {
  std::vector<std::int32_t> channels;
  for (const Json& count : line.at("channels")) channels.push_back(channels_of(count));
  BarrierTask task(options_of(line), channels, kArrival,
                   ScriptedInputGate::End::kAllPartitionsEnded);
  std::vector<ScriptedGateOfRow> gates;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    gates.emplace_back(task, i);
    for (const Json& item : line.at("gate" + std::to_string(i))) gates[i].feed(item);
  }

  std::size_t number = 0;
  for (const Json& step : line.at("steps")) {
    const std::string where = step_name(number++);
    const auto gate = step.at("poll").get<std::size_t>();
    const Json out = gates.at(gate).poll();
    expect_equal(where + "notes", step.at("notes"), take_notes(task));
    expect_equal(where + "out", step.at("out"), out);
    expect_equal(where + "finished", step.at("finished"),
                 task.inputs->input(static_cast<std::int32_t>(gate)).is_finished());
    expect_equal(where + "blocked", step.at("blocked"), task.blocked_channels());
    // Every storage counts all of them.
    for (std::int32_t i = 0; i < task.inputs->size(); ++i) {
      expect_equal(where + "pendingBytes", step.at("pendingBytes"),
                   task.inputs->storage(i).pending_bytes());
    }
  }
  expect_equal("latest", line.at("latest"), task.inputs->latest_checkpoint_id());
  task.expect_all_buffers_come_back();
}

void replay_empty_storage(const Json& line) {
  engine::f110::EmptyBufferStorage storage;
  const auto state = [&storage] {
    return std::string(storage.is_full() ? "full" : "notfull") + " " +
           (storage.is_empty() ? "empty" : "notempty");
  };
  std::string got = state();
  try {
    storage.add({});
  } catch (const base::InvariantViolation&) {
    got += " error";
  }
  expect_equal("answers", line.at("got"), got + " " + state());
}

void replay_row_b(const Json& line) {
  const auto& kind = line.at("kind").get_ref<const std::string&>();
  if (kind == "cached" || kind == "linked") {
    StorageRow(line).run(line);
  } else if (kind == "gates") {
    replay_gates(line);
  } else if (kind == "empty") {
    replay_empty_storage(line);
  } else {
    throw MalformedCase("unknown kind: " + kind);
  }
}

void replay_row_c(const Json& line) {
  BarrierTask task({.mode = CheckpointingMode::AT_LEAST_ONCE}, {channels_of(line.at("channels"))},
                   kArrival, ScriptedInputGate::End::kAllPartitionsEnded);
  const auto& tracker =
      dynamic_cast<const engine::f110::CheckpointBarrierTracker&>(task.inputs->handler());
  ScriptedGateOfRow gate(task, 0);
  std::size_t number = 0;
  for (const Json& step : line.at("steps")) {
    const std::string where = step_name(number++);
    if (!step.contains("item")) throw MalformedCase("a step without an item");
    gate.feed(step.at("item"));
    Json out = Json::array();
    for (Json next = gate.poll(); !next.is_null(); next = gate.poll()) out.push_back(next);
    expect_equal(where + "notes", step.at("notes"), take_notes(task));
    if (step.contains("out")) expect_equal(where + "out", step.at("out"), out);
    expect_equal(where + "pending", step.at("pending"), tracker.pending_checkpoint_ids());
    expect_equal(where + "latest", step.at("latest"), tracker.latest_checkpoint_id());
  }
  expect_equal("stillPending", line.at("stillPending"), tracker.pending_checkpoint_ids());
  task.expect_all_buffers_come_back();
}

const Registration kA("rows_barriers/barriers_rows_A.jsonl", &replay_row_a);
const Registration kB("rows_barriers/barriers_rows_B.jsonl", &replay_row_b);
const Registration kC("rows_barriers/barriers_rows_C.jsonl", &replay_row_c);

}  // namespace
}  // namespace tailrace::golden
