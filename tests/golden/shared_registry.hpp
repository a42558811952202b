// Histories of the registries of shared state, as the recordings have them.
#pragma once

#include "tests/golden/golden_registry.hpp"

namespace tailrace::golden {

// Throw Difference, or MalformedCase.
void replay_registry_110(const Json& ops);
void replay_registry_120(const Json& ops);
// Whether the steps of a row are such a history.
[[nodiscard]] bool is_registry_script(const Json& steps);

}  // namespace tailrace::golden
