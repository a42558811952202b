// Named sets of prices: scenarios/profiles/NAME.yaml, part of the program.
//
// A profile has the sections `costs` and `cluster` of a scenario. What a scenario does not say itself it
// takes from its profile, and what neither says has the language's default.
#pragma once

#include <span>
#include <string_view>

#include "scenarios/diagnostics.hpp"
#include "scenarios/yaml/node.hpp"

namespace tailrace::scenarios {

struct Profile {
  std::string_view name;
  std::string_view text;  // YAML
};
// Sorted by name.
[[nodiscard]] std::span<const Profile> all_profiles();

// Puts what the profile of `root` says where `root` says nothing. Nothing without `profile`.
// Errors: no such profile.
void apply_profile(yaml::Node& root, Diagnostics& diagnostics);

}  // namespace tailrace::scenarios
