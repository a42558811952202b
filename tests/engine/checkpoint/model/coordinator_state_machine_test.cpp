// Random scripts: the real coordinator must do what the naive one says, to the last event.
//
// The model plays a script and thereby writes a recording, in the form of those of Flink; the replay
// that reads Flink's recordings plays that one on the real coordinator.
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/engine/checkpoint/coordinator_replay_110.hpp"
#include "tests/engine/checkpoint/coordinator_replay_120.hpp"
#include "tests/engine/checkpoint/model/naive_coordinator.hpp"
#include "tests/engine/checkpoint/model/random_script.hpp"
#include "tests/engine/checkpoint/model/recorded_script.hpp"

namespace tailrace::engine::test {
namespace {

using Json = nlohmann::json;

void check(const RawScript& script, ScriptDialect dialect, MakeNaiveCoordinator make,
           std::string (*replay)(const Json&)) {
  const RecordedScript recorded = record_on_model(script, dialect, make);
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
