// A random script together with what a naive coordinator did, in the form of Flink's recordings.
#pragma once

#include <memory>

#include <nlohmann/json.hpp>

#include "tests/engine/checkpoint/model/naive_coordinator.hpp"
#include "tests/engine/checkpoint/model/random_script.hpp"

namespace tailrace::engine::test {

using MakeNaiveCoordinator = std::unique_ptr<NaiveCoordinator> (*)(const nlohmann::json& config,
                                                                   NaiveCoordinator::Draw draw);

struct RecordedScript {
  nlohmann::json inputs;  // config and operations only
  nlohmann::json line;    // with what the model did
};

RecordedScript record_on_model(const RawScript& script, ScriptDialect dialect,
                               MakeNaiveCoordinator make);

}  // namespace tailrace::engine::test
