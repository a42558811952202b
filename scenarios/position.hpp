// Where a value of a scenario was written.
#pragma once

#include <cstdint>

namespace tailrace::scenarios {

// `line` and `column` count from 1; 0 means that there is none (a value from the command line).
// `source` indexes Scenario::sources: 0 is the scenario file, the others are `--set` options.
struct Position {
  std::int32_t source = 0;
  std::int32_t line = 0;
  std::int32_t column = 0;
};

}  // namespace tailrace::scenarios
