#include "tests/engine/checkpoint/model/recorded_script.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace tailrace::engine::test {
namespace {

using Json = nlohmann::json;

// Any number in the range will do, as long as it changes from draw to draw.
NaiveCoordinator::Draw draws() {
  return [count = std::int64_t{0}](std::int64_t low, std::int64_t high, const Json&) mutable {
    return low + (37 * ++count) % (std::min<std::int64_t>(high - low, 300) + 1);
  };
}

}  // namespace

RecordedScript record_on_model(const RawScript& script, ScriptDialect dialect,
                               MakeNaiveCoordinator make) {
  Json config = config_of(script, dialect);
  RecordedScript result{{{"config", config}, {"steps", Json::array()}},
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

}  // namespace tailrace::engine::test
