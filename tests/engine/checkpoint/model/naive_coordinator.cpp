#include "tests/engine/checkpoint/model/naive_coordinator.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

namespace tailrace::engine::test {
namespace {

using Json = nlohmann::json;

std::pair<Json, std::vector<Json>> split(const Json& events) {
  std::pair<Json, std::vector<Json>> result{Json::array(), {}};
  for (const Json& event : events) {
    if (is_unordered_event(event)) {
      result.second.push_back(event);
    } else {
      result.first.push_back(event);
    }
  }
  std::sort(result.second.begin(), result.second.end());
  return result;
}

// Plays `steps`; `expected` is the one under way. Empty: no difference; else the first one.
std::string play_all(NaiveCoordinator& model, const Json& steps, const Json*& expected) {
  int number = 0;
  for (const Json& step : steps) {
    const std::string where =
        "step " + std::to_string(number++) + " (" + step.at("op").get<std::string>() + "): ";
    expected = &step;
    Json found;
    try {
      found = model.play(step);
    } catch (const std::runtime_error& error) {
      return where + error.what();
    }
    auto recorded_events = split(step.at("out"));
    auto found_events = split(found.at("out"));
    // The recordings that have no counts say nothing of discarding either.
    if (!step.contains("counts")) found_events.second = recorded_events.second;
    if (recorded_events != found_events) {
      return where + "events\n  Flink: " + step.at("out").dump() +
             "\n  model: " + found.at("out").dump();
    }
    for (const auto& [key, value] : found.items()) {
      // The recordings of some tools have fewer members, but never lack an exception or an answer.
      const bool optional = key != "returned" && key != "exception";
      if (key == "out" || (optional && !step.contains(key))) continue;
      const Json recorded = key == "exception" ? Json(step.contains(key)) : step.value(key, Json());
      if (recorded != value) {
        return where + key + "\n  Flink: " + recorded.dump() + "\n  model: " + value.dump();
      }
    }
  }
  return {};
}

}  // namespace

std::unique_ptr<NaiveCoordinator> NaiveCoordinator::next_life(const Json&, Draw) const {
  throw std::logic_error("no script goes on after this coordinator");
}

bool is_unordered_event(const Json& event) {
  const auto& kind = event.at("e").get_ref<const std::string&>();
  return kind == "discardState" || kind == "discardShared" || kind == "locationDisposed" ||
         kind == "completedDisposed" || kind.starts_with("hook");
}

std::string replay_on_model(const Json& line,
                            std::unique_ptr<NaiveCoordinator> (*make)(const Json&,
                                                                      NaiveCoordinator::Draw)) {
  const Json* expected = nullptr;
  // The draws are input: the delay of the event that comes next in the recording.
  const auto draw = [&expected](std::int64_t low, std::int64_t high, const Json& events) {
    auto done = std::count_if(events.begin(), events.end(),
                              [](const Json& event) { return !is_unordered_event(event); });
    for (const Json& event : expected->at("out")) {
      if (is_unordered_event(event) || done-- != 0) continue;
      if (event.at("e") != "schedule" || event.at("what") != "ScheduledTrigger") break;
      const std::int64_t delay = event.at("delay");
      if (delay < low || delay > high) throw std::runtime_error("a delay out of its range");
      return delay;
    }
    throw std::runtime_error("a draw that Flink did not make, after " + events.dump());
  };
  std::unique_ptr<NaiveCoordinator> model = make(line.at("config"), draw);
  const std::string difference = play_all(*model, line.at("steps"), expected);
  if (!difference.empty() || !line.contains("steps2")) return difference;
  model = model->next_life(line.at("config2"), draw);
  return play_all(*model, line.at("steps2"), expected);
}

}  // namespace tailrace::engine::test
