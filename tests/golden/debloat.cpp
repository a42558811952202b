// Replays golden/network/debloat.jsonl and golden/rows_barriers/barriers_rows_K.jsonl: the moving
// average, what is announced, the throughput, and all of them together as a gate uses them.
#include <cstdint>
#include <optional>
#include <string>

#include "engine/network/f120/buffer_debloater.hpp"
#include "engine/network/f120/buffer_size_ema.hpp"
#include "engine/network/f120/throughput_calculator.hpp"
#include "sim/base/assert.hpp"
#include "tests/golden/golden_registry.hpp"

namespace tailrace::golden {
namespace {

using engine::BufferDebloatConfiguration;
using engine::BufferDebloater;
using engine::BufferSizeEMA;
using engine::Duration;
using engine::ThroughputCalculator;
using engine::Time;

class ManualClock final : public engine::Clock {
 public:
  [[nodiscard]] Time now() const override { return now_; }
  void advance_ms(std::int64_t ms) {
    if (ms < 0) throw MalformedCase("time goes backwards: " + std::to_string(ms));
    now_ = now_ + Duration::millis(ms);
  }

 private:
  Time now_;
};

// 64-bit numbers are strings where they may not fit into a double.
std::int64_t long_of(const Json& value) {
  return value.is_string() ? std::stoll(value.get<std::string>()) : value.get<std::int64_t>();
}

Json or_null(std::optional<std::int32_t> size) {
  return size ? Json(*size) : Json(nullptr);
}

std::string step_name(std::size_t number) {
  return "step " + std::to_string(number) + ": ";
}

BufferDebloatConfiguration configuration_of(const Json& line) {
  BufferDebloatConfiguration configuration;
  configuration.target = Duration::millis(line.value("target", std::int64_t{1000}));
  configuration.samples = line.value("samples", 20);
  configuration.threshold_percentages = line.at("threshold").get<std::int32_t>();
  configuration.min_buffer_bytes = line.at("min").get<std::int32_t>();
  const std::string error = configuration.find_error(line.at("max").get<std::int32_t>());
  if (!error.empty()) throw MalformedCase(error);
  return configuration;
}

BufferDebloater debloater_of(const Json& line) {
  return {configuration_of(line), line.at("max").get<std::int32_t>()};
}

BufferSizeEMA average_of(const Json& line) {
  configuration_of({{"threshold", 0}, {"min", line.at("min")}, {"max", line.at("max")}});
  return {line.at("max").get<std::int32_t>(), line.at("min").get<std::int32_t>(),
          line.at("samples").get<std::int64_t>()};
}

// Nothing: the class refuses the call, as Flink's throws.
template <typename F>
std::optional<std::int32_t> unless_refused(F call) {
  try {
    return call();
  } catch (const base::InvariantViolation&) {
    return std::nullopt;
  }
}

void replay_average(const Json& line) {
  BufferSizeEMA average = average_of(line);
  std::size_t number = 0;
  for (const Json& step : line.at("steps")) {
    const std::int64_t total =
        long_of(step.contains("total") ? step.at("total") : step.at("bytes"));
    const std::optional<std::int32_t> size = unless_refused([&] {
      return average.calculate_buffer_size(total, step.at("buffers").get<std::int32_t>());
    });
    const bool refused = step.value("rejected", false) || step.value("size", Json()) == "error";
    expect_equal(step_name(number++) + "size", refused ? Json(nullptr) : step.at("size"),
                 or_null(size));
  }
}

void replay_skip(const Json& line) {
  const BufferDebloater debloater = debloater_of(line);
  const auto announced = line.at("announced").get<std::int32_t>();
  std::size_t number = 0;
  for (const Json& step : line.at("steps")) {
    const Json& size = step.contains("new") ? step.at("new") : step.at("size");
    expect_equal(step_name(number++) + "skip", step.at("skip"),
                 debloater.skip_update(size.get<std::int32_t>(), announced));
  }
}

// Members are named differently in the recording and in the rows, and rows may state the input once
// for all steps.
void replay_debloater(const Json& line) {
  BufferDebloater debloater = debloater_of(line);
  BufferSizeEMA average = average_of(line);
  const bool is_row = line.contains("row");
  const auto input = [&line](const Json& step, const char* name) {
    return (step.contains(name) ? step : line).at(name).get<std::int64_t>();
  };
  std::size_t number = 0;
  for (const Json& step : line.at("steps")) {
    const std::string where = step_name(number++);
    const std::int64_t throughput = input(step, "throughput");
    const auto in_use = static_cast<std::int32_t>(input(step, "inUse"));
    const std::optional<std::int32_t> announce =
        debloater.recalculate_buffer_size(throughput, in_use);
    expect_equal(where + "announce", step.at(is_row ? "announced" : "announce"), or_null(announce));
    if (step.contains("ema")) {
      const std::int64_t wanted = throughput * line.at("target").get<std::int64_t>() / 1000;
      expect_equal(where + "ema", step.at("ema"), average.calculate_buffer_size(wanted, in_use));
    }
    if (const char* last = is_row ? "last" : "announced"; step.contains(last)) {
      expect_equal(where + "announced", step.at(last), debloater.last_buffer_size());
    }
    expect_equal(where + "time to consume", step.at(is_row ? "estimatedMs" : "consumeMs"),
                 debloater.last_estimated_time_to_consume().millis_truncated());
  }
}

// `word`: data N, advance N, pause, resume, ask; or in short N, +N, pause, resume, ?.
void replay_throughput(const Json& line) {
  ManualClock clock;
  ThroughputCalculator calculator(clock);
  std::size_t number = 0;
  for (const Json& step : line.at("steps")) {
    const auto op = step.at("op").get<std::string>();
    const std::string where = step_name(number++);
    if (op == "data") {
      calculator.incoming_data_size(step.at("bytes").get<std::int64_t>());
    } else if (op == "advance") {
      clock.advance_ms(step.at("ms").get<std::int64_t>());
    } else if (op == "pause") {
      calculator.pause_measurement();
    } else if (op == "resume") {
      calculator.resume_measurement();
    } else if (op == "ask" || op == "?") {
      expect_equal(where + "throughput", step.at("throughput"), calculator.calculate_throughput());
    } else if (op.size() > 1 && op[0] == '+') {
      clock.advance_ms(std::stoll(op.substr(1)));
    } else if (!op.empty() && op.find_first_not_of("0123456789") == std::string::npos) {
      calculator.incoming_data_size(std::stoll(op));
    } else {
      throw MalformedCase("unknown operation: " + op);
    }
  }
}

// Polls of a gate, and one run at the end of each period.
void replay_loop(const Json& line) {
  ManualClock clock;
  ThroughputCalculator calculator(clock);
  BufferDebloater debloater = debloater_of(line);
  const auto period = line.at("period").get<std::int64_t>();
  std::size_t number = 0;
  for (const Json& step : line.at("steps")) {
    const std::string where = step_name(number++);
    std::int64_t passed = 0;
    for (const Json& poll : step.at("polls")) {
      const auto at = poll.at(0).get<std::int64_t>();
      clock.advance_ms(at - passed);
      passed = at;
      if (poll.at(1).is_null()) {
        calculator.pause_measurement();
      } else {
        calculator.resume_measurement();
        calculator.incoming_data_size(poll.at(1).get<std::int64_t>());
      }
    }
    clock.advance_ms(period - passed);
    const std::int64_t throughput = calculator.calculate_throughput();
    expect_equal(where + "throughput", step.at("throughput"), throughput);
    const std::optional<std::int32_t> announce =
        debloater.recalculate_buffer_size(throughput, step.at("inUse").get<std::int32_t>());
    expect_equal(where + "announce", step.at("announce"), or_null(announce));
    expect_equal(where + "time to consume", step.at("consumeMs"),
                 debloater.last_estimated_time_to_consume().millis_truncated());
  }
}

// Where Flink's arithmetic and the exact one differ.
void replay_quotients(const Json& line) {
  std::size_t number = 0;
  for (const Json& one : line.at("cases")) {
    const auto bytes = one.at("bytes").get<std::int64_t>();
    const auto ms = one.at("ms").get<std::int64_t>();
    if (ms <= 0) throw MalformedCase("ms: " + std::to_string(ms));
    const std::string where = step_name(number++);
    expect_equal(where + "throughput", one.at("throughput"),
                 ThroughputCalculator::instant_throughput(bytes, ms));
    expect_equal(where + "integer", one.at("integer"), bytes * 1000 / ms);
  }
}

void replay_case(const Json& line) {
  const auto kind = line.at("kind").get<std::string>();
  if (kind == "ema") return replay_average(line);
  if (kind == "skip") return replay_skip(line);
  if (kind == "debloater") return replay_debloater(line);
  if (kind == "throughput") return replay_throughput(line);
  if (kind == "loop") return replay_loop(line);
  if (kind == "quotients") return replay_quotients(line);
  throw MalformedCase("unknown kind: " + kind);
}

const Registration kDebloat("network/debloat.jsonl", &replay_case);
const Registration kRows("rows_barriers/barriers_rows_K.jsonl", &replay_case);

}  // namespace
}  // namespace tailrace::golden
