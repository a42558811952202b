#include "tests/golden/barrier_rows.hpp"

#include <charconv>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/golden/barriers_f110_setup.hpp"
#include "tests/golden/barriers_f120_setup.hpp"

namespace tailrace::golden {
namespace {

namespace of120 = barriers_f120;
using engine::Duration;

// An operation: `b1@0` barrier, `c1@0` cancel marker, `d1000@0` data of so many bytes, `e@0` end of
// partition; `=2000` the clock when the checkpoints are triggered, `+6` time that passes.
struct RowOp {
  char kind;
  std::int64_t number = 0;
  std::int32_t channel = -1;
};

std::int64_t number_of(std::string_view text, const std::string& op) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw MalformedCase("unknown operation: " + op);
  }
  return number;
}

RowOp parse_row_op(const std::string& op) {
  if (op.empty()) throw MalformedCase("an empty operation");
  const std::string_view text = op;
  RowOp parsed{op.front()};
  if (parsed.kind == '=' || parsed.kind == '+') {
    parsed.number = number_of(text.substr(1), op);
    return parsed;
  }
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos || std::string_view("bcde").find(parsed.kind) == text.npos) {
    throw MalformedCase("unknown operation: " + op);
  }
  if (parsed.kind != 'e') parsed.number = number_of(text.substr(1, at - 1), op);
  parsed.channel = static_cast<std::int32_t>(number_of(text.substr(at + 1), op));
  return parsed;
}

Json item_of(const RowOp& op) {
  switch (op.kind) {
    case 'b':
      return {{"k", "barrier"}, {"cp", op.number}};
    case 'c':
      return {{"k", "cancel"}, {"cp", op.number}};
    case 'd':
      return {{"k", "buffer"}, {"size", op.number}};
    default:
      return {{"k", "eop"}};
  }
}

// What the task heard, in the words of the recording.
std::string heard(const Json& event) {
  const std::string id = std::to_string(event.at("cp").get<std::int64_t>());
  if (event.at("e") == "trigger") return "trigger " + id;
  return "abort " + id + " " + event.at("reason").get<std::string>();
}

// The two generations behind the same few questions.
class RowTask {
 public:
  virtual ~RowTask() = default;
  virtual void pass(Duration time) = 0;
  // Feeds the item and polls until nothing is left. Returns: what the task heard.
  virtual Json feed(const RowOp& op, std::int64_t started_ms) = 0;
  [[nodiscard]] virtual Json blocked() const = 0;
  [[nodiscard]] virtual Json latest() const = 0;
  [[nodiscard]] virtual Json pending() const = 0;
  // Of the last trigger.
  [[nodiscard]] virtual Json metric(const std::string& what) const = 0;
};

class RowTask110 final : public RowTask {
 public:
  RowTask110(const std::string& mode, std::int32_t channels)
      : task_({.mode = mode == "tracker" ? engine::CheckpointingMode::AT_LEAST_ONCE
                                         : engine::CheckpointingMode::EXACTLY_ONCE},
              {channels}, engine::test::ScriptedInputGate::Order::kArrival,
              engine::test::ScriptedInputGate::End::kAllPartitionsEnded) {
    if (mode != "tracker" && mode != "aligned") throw MalformedCase("unknown mode: " + mode);
  }

  void pass(Duration time) override { task_.clock.advance(time); }
  Json feed(const RowOp& op, std::int64_t started_ms) override {
    Json item = item_of(op);
    item["ts"] = started_ms;
    task_.feed(0, op.channel, item, 0);
    while (task_.inputs->input(0).poll_next()) {
    }
    Json out = Json::array();
    for (const auto& note : task_.listener.take()) out.push_back(heard(event_of(note)));
    return out;
  }
  [[nodiscard]] Json blocked() const override { return task_.blocked_channels(); }
  [[nodiscard]] Json latest() const override { return task_.inputs->latest_checkpoint_id(); }
  [[nodiscard]] Json pending() const override { return nullptr; }
  [[nodiscard]] Json metric(const std::string& what) const override {
    throw MalformedCase("unknown check: " + what);
  }

 private:
  BarrierTask task_;
};

of120::BarrierTask120::Kind kind_of_mode(const std::string& mode) {
  if (mode == "aligned") return of120::BarrierTask120::Kind::kAligned;
  if (mode == "alternating") return of120::BarrierTask120::Kind::kAlternating;
  if (mode == "tracker") return of120::BarrierTask120::Kind::kTracker;
  throw MalformedCase("unknown mode: " + mode);
}

class RowTask120 final : public RowTask {
 public:
  RowTask120(const std::string& mode, std::int32_t channels, bool after_finish)
      : barrier_mode_(mode == "tracker" ? "atLeastOnce" : "aligned"),
        task_(kind_of_mode(mode), channels, after_finish) {}

  void pass(Duration time) override {
    const engine::Time until = task_.clock.now() + time;
    while (task_.run_timer(until)) {
    }
    task_.clock.advance(until - task_.clock.now());
  }
  Json feed(const RowOp& op, std::int64_t started_ms) override {
    Json item = item_of(op);
    item["mode"] = barrier_mode_;
    task_.events.out = Json::array();
    task_.gate->receive(op.channel,
                        of120::item_of(item, started_ms, Duration::max(), 0, task_.buffers));
    while (task_.input->poll_next()) {
    }
    Json out = Json::array();
    for (const Json& event : task_.events.out) {
      if (event.at("e") == "trigger" || event.at("e") == "abort") out.push_back(heard(event));
    }
    return out;
  }
  [[nodiscard]] Json blocked() const override { return task_.gate->handler_blocked(); }
  [[nodiscard]] Json latest() const override { return task_.handler->latest_checkpoint_id(); }
  [[nodiscard]] Json pending() const override { return task_.handler->is_checkpoint_pending(); }
  [[nodiscard]] Json metric(const std::string& what) const override {
    if (task_.triggers.empty()) throw Difference(what, "a trigger", "none");
    const engine::AlignmentMetrics& metrics = task_.triggers.back().metrics;
    expect_equal(what + ": known", true, metrics.is_final);
    if (what == "start delay in ns") return metrics.start_delay_ns;
    if (what == "alignment in ns") return metrics.duration_ns;
    if (what == "processed") return metrics.bytes_processed;
    throw MalformedCase("unknown check: " + what);
  }

 private:
  std::string barrier_mode_;
  of120::BarrierTask120 task_;
};

std::unique_ptr<RowTask> make_task(const Json& line) {
  const Json& config = line.at("config");
  const std::int32_t channels = channels_of(config.at("channels"));
  const auto mode = config.at("mode").get<std::string>();
  const auto version = line.at("flink").get<std::string>();
  if (version == "1.10") return std::make_unique<RowTask110>(mode, channels);
  if (version == "1.20") {
    return std::make_unique<RowTask120>(mode, channels, config.at("afterFinish").get<bool>());
  }
  throw MalformedCase("unknown version: " + version);
}

}  // namespace

bool is_barrier_row(const Json& line) {
  const auto found = line.find("config");
  return found != line.end() && found->contains("mode") && found->contains("channels");
}

void replay_barrier_row(const Json& line) {
  const std::unique_ptr<RowTask> task = make_task(line);
  const std::int32_t channels = channels_of(line.at("config").at("channels"));
  std::int64_t started_ms = 0;
  std::int64_t now_ms = 0;
  Json all_heard = Json::array();
  std::size_t number = 0;
  for (const Json& step : line.at("steps")) {
    const auto text = step.at("op").get<std::string>();
    const std::string where = "step " + std::to_string(number++) + " (" + text + "): ";
    const RowOp op = parse_row_op(text);
    if (op.kind == '=' || op.kind == '+') {
      const std::int64_t until = op.kind == '=' ? op.number : now_ms + op.number;
      if (until < now_ms) throw MalformedCase("time goes backwards: " + text);
      task->pass(Duration::millis(until - now_ms));
      now_ms = until;
      if (op.kind == '=') started_ms = until;
      continue;
    }
    if (op.channel < 0 || op.channel >= channels) throw MalformedCase("no such channel: " + text);
    const Json out = task->feed(op, started_ms);
    expect_equal(where + "heard", step.at("heard"), out);
    expect_equal(where + "blocked", step.at("blocked"), task->blocked());
    expect_equal(where + "latest", step.at("latest"), task->latest());
    if (step.contains("pending")) {
      expect_equal(where + "pending", step.at("pending"), task->pending());
    }
    for (const Json& one : out) all_heard.push_back(one);
  }
  for (const Json& check : line.at("checks")) {
    const auto what = check.at("what").get<std::string>();
    if (what == "the task hears" || what == "triggered") {
      expect_equal(what, check.at("value"), all_heard);
    } else if (what == "a is not blocked") {
      expect_equal(what, Json::array(), task->blocked());
    } else {
      expect_equal(what, check.at("value"), task->metric(what));
    }
  }
}

}  // namespace tailrace::golden
