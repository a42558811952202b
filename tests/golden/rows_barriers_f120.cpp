// Replays golden/rows_barriers D, E, F, G and H: the conformance rows of the handlers of 1.20, step
// by step. What arrives is read from the row's own notation (spec barriers.md 10.1).
#include <cstdint>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tests/golden/barrier_notation.hpp"
#include "tests/golden/mixed_gate_f120.hpp"

namespace tailrace::golden {
namespace {

using barriers_f120::BarrierTask120;
using barriers_f120::MixedGate;
using barriers_f120::SizedBuffers;
using engine::Duration;
using Handler120 = engine::f120::SingleCheckpointBarrierHandler;
using Kind120 = BarrierTask120::Kind;

// Of a data buffer, if the row does not say.
constexpr std::uint32_t kBufferBytes = 100;

std::size_t channel_count_of(const Json& number) {
  const auto channels = number.get<std::int64_t>();
  if (channels < 1 || channels > 1 << 10) {
    throw MalformedCase("channels: " + std::to_string(channels));
  }
  return static_cast<std::size_t>(channels);
}

Kind120 handler_named(const std::string& name) {
  if (name == "aligned") return Kind120::kAligned;
  if (name == "unaligned") return Kind120::kUnaligned;
  if (name == "alternating") return Kind120::kAlternating;
  if (name == "tracker") return Kind120::kTracker;
  throw MalformedCase("unknown handler: " + name);
}

engine::CheckpointOptions options_of_barrier(const NotedItem& item, bool at_least_once) {
  engine::CheckpointOptions options;
  switch (item.mode) {
    case NotedItem::Mode::kAligned:
      if (at_least_once) options.alignment = engine::AlignmentType::AT_LEAST_ONCE;
      break;
    case NotedItem::Mode::kTimeoutable:
      options.aligned_checkpoint_timeout = Duration::millis(item.timeout_ms);
      break;
    case NotedItem::Mode::kForcedAligned:
      options.alignment = engine::AlignmentType::FORCED_ALIGNED;
      options.aligned_checkpoint_timeout = Duration::millis(item.timeout_ms);
      break;
    case NotedItem::Mode::kUnaligned:
      options.alignment = engine::AlignmentType::UNALIGNED;
      break;
    case NotedItem::Mode::kSavepoint:
      options.type = engine::CheckpointType::SAVEPOINT;
      break;
  }
  return options;
}

// One task and what a row can do with it.
class HandlerRow {
 public:
  // `kinds`: of the channels, as MixedGate has them. All remote ones are the engine's.
  HandlerRow(Kind120 kind, const std::string& kinds, bool after_finish, std::uint32_t buffer_bytes)
      : kind_(kind),
        buffer_bytes_(buffer_bytes),
        arrived_(kinds.size()),
        task_(
            kind, [&kinds](barriers_f120::Events& events) { return make_gate(kinds, events); },
            after_finish) {}

  BarrierTask120& task() { return task_; }
  [[nodiscard]] const Handler120& handler() const {
    return dynamic_cast<const Handler120&>(*task_.handler);
  }

  // The names of data: positions in the script, or 1000 x channel + number in the channel.
  enum class Names : std::uint8_t { kPositions, kByChannel };
  void arrive(const NotedItem& item, Names names) {
    if (item.channel < 0) throw MalformedCase("an item without a channel");
    const std::int64_t position = position_++;
    if (item.kind == NotedItem::Kind::kBuffer) {
      const std::int64_t number = names == Names::kPositions
                                      ? position
                                      : 1000 * item.channel + arrived_.at(index_of(item))++;
      task_.gate->receive(item.channel, task_.buffers.make(number, buffer_bytes_));
      return;
    }
    task_.gate->receive(item.channel, event_of_item(item));
  }

  // The handler hears of it without a gate. `rpc`: the coordinator says it.
  void tell(const NotedItem& item, bool rpc) {
    const engine::RuntimeEvent event = event_of_item(item);
    if (const auto* barrier = std::get_if<engine::CheckpointBarrier>(&event)) {
      task_.handler->process_barrier(*barrier, item.channel, rpc);
    } else if (const auto* marker = std::get_if<engine::CancelCheckpointMarker>(&event)) {
      task_.handler->process_cancellation_barrier(*marker, item.channel);
    } else {
      throw MalformedCase("the handler is told of barriers and cancel markers only");
    }
  }

  std::optional<engine::BufferOrEvent> poll() { return task_.input->poll_next(); }

  void pass(std::int64_t ms, bool run_timers) {
    task_.clock.advance(Duration::millis(ms));
    if (run_timers) run_due_timers();
  }
  void run_due_timers() {
    while (task_.run_timer(task_.clock.now())) {
    }
  }
  [[nodiscard]] std::int64_t now_ms() const { return task_.clock.now().ns / 1'000'000; }

  // What has happened since the last call, with what the rows say of triggers.
  Json take_events() {
    Json out = Json::array();
    for (Json& event : std::exchange(task_.events.out, Json::array())) {
      const std::string what = event.at("e");
      if (what == "trigger") {
        const engine::CheckpointOptions& options = task_.triggers.at(told_triggers_++).options;
        event.erase("ts");
        event["savepoint"] = engine::is_savepoint(options.type);
        event["timeout"] = options.aligned_checkpoint_timeout == Duration::max()
                               ? Json()
                               : Json(options.aligned_checkpoint_timeout.ns / 1'000'000);
      } else if (what == "persist") {
        Json& ids = persisted_[event.at("ch").get<std::int32_t>()];
        if (ids.is_null()) ids = Json::array();
        for (const Json& id : event.at("ids")) ids.push_back(id);
      } else if (what == "resume") {
        ++resumed_;
      } else if (what == "timer") {
        ++timers_registered_;
        ++timers_;
      } else if (what == "timerFires" || what == "timerCancelled") {
        --timers_;
      }
      out.push_back(std::move(event));
    }
    return out;
  }

  [[nodiscard]] Json persisted() const {
    Json all = Json::object();
    for (const auto& [channel, ids] : persisted_) all[std::to_string(channel)] = ids;
    return all;
  }
  [[nodiscard]] Json persisted_counts() const {
    Json counts = Json::array();
    for (std::int32_t i = 0; i < task_.gate->channel_count(); ++i) {
      const auto found = persisted_.find(i);
      counts.push_back(found == persisted_.end() ? 0 : found->second.size());
    }
    return counts;
  }
  [[nodiscard]] std::int64_t resumed() const { return resumed_; }
  [[nodiscard]] std::int64_t timers() const { return timers_; }
  [[nodiscard]] std::int64_t timers_registered() const { return timers_registered_; }

  // Of every trigger, as they are now.
  [[nodiscard]] Json metrics() const {
    Json all = Json::array();
    for (const auto& trigger : task_.triggers) {
      Json one = {{"alignNs", nullptr},
                  {"alignBytes", nullptr},
                  {"startDelayNs", trigger.metrics.start_delay_ns}};
      if (trigger.metrics.is_final) {
        one["alignNs"] = trigger.metrics.duration_ns;
        one["alignBytes"] = trigger.metrics.bytes_processed;
      }
      all.push_back(std::move(one));
    }
    return all;
  }

 private:
  static std::unique_ptr<barriers_f120::ScriptedGate120> make_gate(const std::string& kinds,
                                                                   barriers_f120::Events& events) {
    if (kinds.find_first_not_of('R') == std::string::npos) {
      return std::make_unique<barriers_f120::RemoteGate>(static_cast<std::int32_t>(kinds.size()),
                                                         events);
    }
    return std::make_unique<MixedGate>(kinds, events);
  }

  [[nodiscard]] std::size_t index_of(const NotedItem& item) const {
    if (item.channel < 0 || static_cast<std::size_t>(item.channel) >= arrived_.size()) {
      throw MalformedCase("there is no channel " + std::to_string(item.channel));
    }
    return static_cast<std::size_t>(item.channel);
  }

  [[nodiscard]] engine::RuntimeEvent event_of_item(const NotedItem& item) const {
    const engine::CheckpointBarrier barrier{item.checkpoint, now_ms() - item.age_ms,
                                            options_of_barrier(item, kind_ == Kind120::kTracker)};
    switch (item.kind) {
      case NotedItem::Kind::kBarrier:
        return barrier;
      case NotedItem::Kind::kAnnouncement:
        return engine::EventAnnouncement{barrier, 0};
      case NotedItem::Kind::kCancel:
        return engine::CancelCheckpointMarker{item.checkpoint};
      default:
        return engine::EndOfPartitionEvent{};
    }
  }

  Kind120 kind_;
  std::uint32_t buffer_bytes_;
  std::vector<std::int64_t> arrived_;  // data by channel
  BarrierTask120 task_;
  std::int64_t position_ = 0;
  std::size_t told_triggers_ = 0;
  std::map<std::int32_t, Json> persisted_;
  std::int64_t resumed_ = 0;
  std::int64_t timers_ = 0;
  std::int64_t timers_registered_ = 0;
};

NotedItem noted_item_of(const Json& step) {
  return parse_item(step.at("item").at("token").get<std::string>());
}

std::string place_of(std::size_t step) {
  return "step " + std::to_string(step) + ": ";
}

// Whatever the step says about the handler.
void compare_state(HandlerRow& row, const Json& step, const std::string& where) {
  engine::f120::CheckpointBarrierHandler& handler = *row.task().handler;
  if (step.contains("blocked")) {
    expect_equal(where + "blocked", step.at("blocked"), row.task().gate->handler_blocked());
  }
  if (step.contains("latest")) {
    expect_equal(where + "latest", step.at("latest"), handler.latest_checkpoint_id());
  }
  if (step.contains("pending") && step.at("pending").is_boolean()) {
    expect_equal(where + "pending", step.at("pending"), handler.is_checkpoint_pending());
  } else if (step.contains("pending")) {
    const auto& tracker = dynamic_cast<const engine::f120::CheckpointBarrierTracker&>(handler);
    expect_equal(where + "pending", step.at("pending"), tracker.pending_checkpoint_ids());
  }
  if (step.contains("open")) {
    const auto& tracker = dynamic_cast<const engine::f120::CheckpointBarrierTracker&>(handler);
    expect_equal(where + "open", step.at("open"), tracker.open_channels());
  }
  if (step.contains("resumed")) expect_equal(where + "resumed", step.at("resumed"), row.resumed());
  if (step.contains("now")) expect_equal(where + "now", step.at("now"), row.now_ms());
  if (step.contains("futureOpen")) {
    const bool open = row.handler().all_barriers(handler.latest_checkpoint_id()) ==
                      Handler120::AllBarriers::kOpen;
    expect_equal(where + "futureOpen", step.at("futureOpen"), open);
  }
}

// D and E: the item arrives and the gate is polled until it is empty. The channels of these rows keep
// no channel state.
void replay_row_of_handler(const Json& line) {
  const std::size_t channels = channel_count_of(line.at("channels"));
  HandlerRow row(handler_named(line.at("handler")), std::string(channels, 'L'),
                 line.value("afterFinish", true), line.value("bufferSize", kBufferBytes));
  const auto drain = [&row] {
    while (row.poll()) {
    }
  };
  std::size_t number = 0;
  for (const Json& step : line.at("steps")) {
    const std::string where = place_of(number++);
    const std::string op = step.value("op", "item");
    if (step.contains("allChannels")) {
      NotedItem item = parse_item(step.at("allChannels").get<std::string>());
      for (std::size_t i = 0; i < channels; ++i) {
        item.channel = static_cast<std::int32_t>(i);
        row.arrive(item, HandlerRow::Names::kPositions);
        drain();
      }
    } else if (op == "item") {
      row.arrive(noted_item_of(step), HandlerRow::Names::kPositions);
      drain();
    } else if (op == "advance") {
      row.pass(step.at("ms"), true);
    } else if (op == "rpc") {
      NotedItem barrier;
      barrier.kind = NotedItem::Kind::kBarrier;
      barrier.checkpoint = step.at("cp");
      barrier.channel = step.at("ch");
      row.tell(barrier, true);
    } else {
      throw MalformedCase("unknown step: " + op);
    }
    const Json out = row.take_events();
    if (step.contains("out")) {
      expect_equal(where + "out", step.at("out"), out);
    } else {
      // Every channel has said it: one trigger, and nothing else that the task hears.
      Json heard = Json::array();
      for (const Json& event : out) {
        if (event.at("e") == "trigger" || event.at("e") == "abort") heard.push_back(event);
      }
      expect_equal(where + "notifications", 1, heard.size());
      expect_equal(where + "triggered", step.at("latest"), heard.front().at("cp"));
      expect_equal(where + "kind", "trigger", heard.front().at("e"));
    }
    compare_state(row, step, where);
  }
  if (line.contains("metrics")) expect_equal("metrics", line.at("metrics"), row.metrics());
  row.task().expect_all_buffers_come_back();
}

// What a strict unaligned row shows of a polled item; null: nothing.
Json shown_by_unaligned(const engine::BufferOrEvent& next) {
  if (next.is_buffer()) return "data";
  if (std::holds_alternative<engine::EndOfPartitionEvent>(next.event())) {
    return "E" + std::to_string(next.channel);
  }
  if (const auto* marker = std::get_if<engine::CancelCheckpointMarker>(&next.event())) {
    return "x" + std::to_string(marker->id) + "@" + std::to_string(next.channel);
  }
  return nullptr;
}

std::string name_of_future(Handler120::AllBarriers future) {
  switch (future) {
    case Handler120::AllBarriers::kOpen:
      return "open";
    case Handler120::AllBarriers::kReceived:
      return "done";
    case Handler120::AllBarriers::kFailed:
      return "failed";
  }
  throw MalformedCase("a future");
}

// F: remote channels; the mail for priority items runs, then the gate is polled until it is empty.
void replay_row_f(const Json& line) {
  HandlerRow row(handler_named(line.at("handler")),
                 std::string(channel_count_of(line.at("channels")), 'R'),
                 line.value("afterFinish", true), line.value("bufferSize", kBufferBytes));
  const bool shows_polls = !line.contains("bufferSize");
  std::string future_during_abort;
  engine::CheckpointId aborted = engine::kNoCheckpoint;
  if (line.contains("futureDuringAbort")) {
    row.task().on_abort = [&](engine::CheckpointId id) {
      aborted = id;
      future_during_abort = name_of_future(row.handler().all_barriers(id));
    };
  }
  std::size_t number = 0;
  for (const Json& step : line.at("steps")) {
    const std::string where = place_of(number++);
    const std::string op = step.at("op");
    if (op == "item") {
      row.arrive(noted_item_of(step), HandlerRow::Names::kPositions);
      while (const auto next = row.poll()) {
        const Json shown = shown_by_unaligned(*next);
        if (shows_polls && !shown.is_null()) {
          row.task().events.add({{"e", "poll"}, {"item", shown}});
        }
      }
    } else if (op == "direct") {
      row.tell(noted_item_of(step), false);
    } else if (op == "advance") {
      row.pass(step.at("ms"), true);
    } else {
      throw MalformedCase("unknown step: " + op);
    }
    expect_equal(where + "out", step.at("out"), row.take_events());
    compare_state(row, step, where);
  }
  if (line.contains("persisted")) expect_equal("persisted", line.at("persisted"), row.persisted());
  if (line.contains("metrics")) expect_equal("metrics", line.at("metrics"), row.metrics());
  if (line.contains("futureDuringAbort")) {
    expect_equal("futureDuringAbort", line.at("futureDuringAbort"), future_during_abort);
    expect_equal("futureAfter", line.at("futureAfter"),
                 name_of_future(row.handler().all_barriers(aborted)));
  }
  row.task().expect_all_buffers_come_back();
}

// `#0@0`, `A1@0`, `x1@0`, `E1`, `b0.1`, `-`.
std::string shown_by_alternating(const std::optional<engine::BufferOrEvent>& next) {
  if (!next) return "-";
  if (next->is_buffer()) {
    const std::int64_t name = SizedBuffers::number_of(std::get<engine::Buffer>(next->item));
    return "b" + std::to_string(name / 1000) + "." + std::to_string(name % 1000);
  }
  const std::string channel = std::to_string(next->channel);
  if (std::holds_alternative<engine::EndOfPartitionEvent>(next->event())) return "E" + channel;
  const auto id = barriers_f120::checkpoint_of(next->event());
  if (!id) throw Difference("poll", "an item of the script", "another");
  const std::string kind = barriers_f120::kind_of(next->event());
  const char* letter = kind == "barrier" ? "#" : kind == "announcement" ? "A" : "x";
  return letter + std::to_string(*id) + "@" + channel;
}

// G28: groups of items, and how many buffers have been persisted after each.
void play_group(HandlerRow& row, const Json& step) {
  std::istringstream words(step.at("group").get<std::string>());
  for (std::string word; words >> word;) {
    if (word == "p") {
      row.poll();
    } else {
      row.arrive(parse_item(word), HandlerRow::Names::kByChannel);
    }
  }
  while (step.at("drained").get<bool>() && row.poll()) {
  }
}

// G: what arrives and what is polled are steps of their own.
void replay_row_g(const Json& line) {
  HandlerRow row(handler_named(line.at("handler")), line.at("kinds"),
                 line.value("afterFinish", true), kBufferBytes);
  std::size_t number = 0;
  for (const Json& step : line.at("steps")) {
    const std::string where = place_of(number++);
    if (step.contains("group")) {
      play_group(row, step);
      expect_equal(where + "out", step.at("out"), row.take_events());
      expect_equal(where + "persisted", step.at("persistedCounts"), row.persisted_counts());
      continue;
    }
    const std::string op = step.at("op");
    if (op == "arrive") {
      row.arrive(noted_item_of(step), HandlerRow::Names::kByChannel);
    } else if (op == "poll") {
      const auto next = row.poll();
      expect_equal(where + "got", step.at("got"), shown_by_alternating(next));
      expect_equal(where + "priority", step.at("priority"),
                   next.has_value() && row.task().gate->polled_priority());
    } else if (op == "advance") {
      row.pass(step.at("ms"), true);
    } else if (op == "advanceQuietly") {
      row.pass(step.at("ms"), false);
    } else if (op == "runTimers") {
      row.run_due_timers();
    } else {
      throw MalformedCase("unknown step: " + op);
    }
    expect_equal(where + "out", step.at("out"), row.take_events());
    compare_state(row, step, where);
  }
  expect_equal("persisted", line.at("persisted"), row.persisted());
  if (line.contains("timersRegistered")) {
    expect_equal("timersRegistered", line.at("timersRegistered"), row.timers_registered());
    expect_equal("timersAtEnd", line.at("timersAtEnd"), row.timers());
    row.task().handler->close();
    row.take_events();
    expect_equal("timersAfterClose", line.at("timersAfterClose"), row.timers());
  }
  row.task().expect_all_buffers_come_back();
}

const Registration kD("rows_barriers/barriers_rows_D.jsonl", &replay_row_of_handler);
const Registration kE("rows_barriers/barriers_rows_E.jsonl", &replay_row_of_handler);
const Registration kF("rows_barriers/barriers_rows_F.jsonl", &replay_row_f);
const Registration kG("rows_barriers/barriers_rows_G.jsonl", &replay_row_g);

}  // namespace
}  // namespace tailrace::golden
