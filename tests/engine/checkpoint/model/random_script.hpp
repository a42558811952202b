// Scripts for a checkpoint coordinator, made from small numbers so that they shrink.
#pragma once

#include <tuple>
#include <vector>

#include <nlohmann/json.hpp>
#include <rapidcheck.h>

namespace tailrace::engine::test {

// Three numbers below 1000 that choose an operation and its arguments; smaller is simpler.
using RawAction = std::tuple<int, int, int>;

struct RawScript {
  std::vector<int> config;  // kConfigChoices of them
  std::vector<RawAction> actions;
};
inline constexpr int kConfigChoices = 20;

enum class ScriptDialect { k110, k120 };

rc::Gen<RawScript> raw_scripts();
nlohmann::json config_of(const RawScript& script, ScriptDialect dialect);
// The operation; `state` is what the step before left: it only steers towards checkpoints that
// exist. `number` counts the operations, to give requests and states names of their own.
// In the dialect of 1.20 it may be a `restart`: with this the first part of the script ends, and the
// second begins, with the given `config`.
nlohmann::json operation_of(const RawAction& action, const nlohmann::json& config,
                            const nlohmann::json& state, int number, ScriptDialect dialect);

}  // namespace tailrace::engine::test
