// Random scripts: the real coordinator must do what the naive one says, to the last event.
//
// The model plays a script and thereby writes a recording, in the form of those of Flink; the replay
// that reads Flink's recordings plays that one on the real coordinator.
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/engine/checkpoint/coordinator_replay_110.hpp"
#include "tests/engine/checkpoint/coordinator_replay_120.hpp"
#include "tests/engine/checkpoint/model/naive_coordinator.hpp"
#include "tests/engine/checkpoint/model/random_script.hpp"

namespace tailrace::engine::test {
namespace {

using Json = nlohmann::json;

// Any number in the range will do, as long as it changes from draw to draw.
NaiveCoordinator::Draw draws() {
  return [count = std::int64_t{0}](std::int64_t low, std::int64_t high, const Json&) mutable {
    return low + (37 * ++count) % (std::min<std::int64_t>(high - low, 300) + 1);
  };
}

struct Recorded {
  Json inputs;  // config and operations only
  Json line;    // with what the model did
};

Recorded record(const RawScript& script, ScriptDialect dialect,
                std::unique_ptr<NaiveCoordinator> (*make)(const Json&, NaiveCoordinator::Draw)) {
  Json config = config_of(script, dialect);
  Recorded result{{{"config", config}, {"steps", Json::array()}},
                  {{"config", config}, {"steps", Json::array()}}};
  std::unique_ptr<NaiveCoordinator> model = make(config, draws());
  Json state = Json::object();
  std::string steps = "steps";
  int number = 0;
  for (const RawAction& action : script.actions) {
    Json step = operation_of(action, config, state, number++, dialect);
    if (step.at("op") == "restart") {
      config = step.at("config");
      model = model->next_life(config, draws());
      steps = "steps2";
      for (Json* line : {&result.inputs, &result.line}) {
        (*line)["config2"] = config;
        (*line)["steps2"] = Json::array();
      }
      state = {{"restarted", true},
               {"written", state.value("written", Json::array())},
               {"retained", state.value("retained", Json::array())},
               {"pending", Json::array()}};
      continue;
    }
    result.inputs[steps].push_back(step);
    state = model->play(step);
    for (auto& [key, value] : state.items()) {
      if (key == "exception" && value == false) continue;
      step[key] = value;
    }
    result.line[steps].push_back(std::move(step));
    if (steps == "steps2") state["restarted"] = true;
  }
  return result;
}

void check(const RawScript& script, ScriptDialect dialect,
           std::unique_ptr<NaiveCoordinator> (*make)(const Json&, NaiveCoordinator::Draw),
           std::string (*replay)(const Json&)) {
  const Recorded recorded = record(script, dialect, make);
  std::string difference;
  try {
    difference = replay(recorded.line);
  } catch (const std::exception& error) {
    difference = error.what();
  }
  if (difference.empty()) return;
  RC_FAIL("the model (as \"Flink\") and the coordinator differ: " + difference +
          "\nthe script: " + recorded.inputs.dump());
}

RC_GTEST_PROP(CoordinatorStateMachine110, DoesWhatTheNaiveOneDoes, ()) {
  const RawScript script = *raw_scripts();
  check(script, ScriptDialect::k110, &make_naive_coordinator_110, &replay_coordinator_script);
}

RC_GTEST_PROP(CoordinatorStateMachine120, DoesWhatTheNaiveOneDoes, ()) {
  const RawScript script = *raw_scripts();
  check(script, ScriptDialect::k120, &make_naive_coordinator_120, &replay_coordinator_script_120);
}

}  // namespace
}  // namespace tailrace::engine::test
