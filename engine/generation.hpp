// The seam between the two generations of Flink: the only place that looks at the version.
//
// Rooms keep what differs in `f110/` and `f120/` under Flink's class names; this header makes the
// right ones. Small differences are named fields of `Semantics`. A test over the source text
// forbids `Generation::` anywhere else.
#pragma once

#include <string_view>

#include "engine/ids.hpp"

namespace tailrace::engine {

// "1.10" or "1.20", as a scenario writes it.
[[nodiscard]] constexpr std::string_view name_of(Generation generation) {
  return generation == Generation::kFlink110 ? "1.10" : "1.20";
}

// Whether this build has the engine of that generation.
[[nodiscard]] constexpr bool is_available(Generation generation) {
  return generation == Generation::kFlink110;
}

}  // namespace tailrace::engine
