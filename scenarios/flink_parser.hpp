// The `flink:` section: Flink's own keys and value syntax.
#pragma once

#include <string>
#include <vector>

#include "scenarios/diagnostics.hpp"
#include "scenarios/flink_options.hpp"
#include "scenarios/position.hpp"
#include "scenarios/yaml/node.hpp"

namespace tailrace::scenarios {

struct FlinkSection {
  FlinkOptions options;
  // One line for each real key that has no effect here, in the order of the file.
  std::vector<std::string> notes;
};

// `node` may be null: then everything has its default. `around` is the position for what is missing.
// Errors: reported; the value is the default then.
[[nodiscard]] FlinkSection parse_flink(const yaml::Node* node, Position around,
                                       Diagnostics& diagnostics);

}  // namespace tailrace::scenarios
