// Values given on the command line, put into the tree of a scenario before it is checked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scenarios/diagnostics.hpp"
#include "scenarios/yaml/node.hpp"

namespace tailrace::scenarios {

// One `--set path=value`. `shown` is how messages call it; the value is YAML.
struct Setting {
  std::string path;
  std::string value;
  std::string shown;
};

// "a.b=c" as a setting; without `=` the path is all of it and the value is missing, which
// apply_setting reports.
[[nodiscard]] Setting parse_setting(const std::string& text);

// What the options --seed, --until (a time, `sources_finished` or `idle`) and --set stand for, in this
// order; later ones win. Empty texts were not given.
[[nodiscard]] std::vector<Setting> settings_of(const std::string& seed, const std::string& until,
                                               const std::vector<std::string>& sets);

// Sets what `path` names: keys separated by dots, list elements by their `id` or, where they have
// none, by their number from 0. Everything after `flink.` is one key. Mappings on the way that do
// not exist are made; list elements are not. `~` takes a key away.
// `source` is the index of this setting in the diagnostics' sources; the new value has it.
void apply_setting(const Setting& setting, std::int32_t source, yaml::Node& root,
                   Diagnostics& diagnostics);

}  // namespace tailrace::scenarios
