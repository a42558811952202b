// The `flink:` section: Flink's own keys and value syntax.
#pragma once

#include <string>
#include <string_view>
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

// An option that has an effect here.
struct ModelledOption {
  std::string_view name;     // in Flink 1.10, if it has the option
  std::string_view only_in;  // the version that has it; empty: both
  std::vector<std::string_view> other_names;
  std::string value;  // what it takes, in words
};
// In the order of the parser's table.
[[nodiscard]] std::vector<ModelledOption> modelled_flink_options();

// `node` may be null: then everything has its default. `around` is the position for what is missing.
// Errors: reported; the value is the default then.
[[nodiscard]] FlinkSection parse_flink(const yaml::Node* node, Position around,
                                       Diagnostics& diagnostics);

}  // namespace tailrace::scenarios
