#include "scenarios/profiles.hpp"

#include <string>
#include <utility>
#include <vector>

#include "scenarios/map_reader.hpp"
#include "scenarios/yaml/load.hpp"

namespace tailrace::scenarios {
namespace {

// Recursively: mappings are joined, anything else stays as `target` has it.
void add_missing(yaml::Node& target, const yaml::Node& defaults) {
  for (const yaml::Entry& entry : defaults.entries) {
    yaml::Node* const present = target.find(entry.key);
    if (present == nullptr) {
      target.entries.push_back(entry);
    } else if (present->is_mapping() && entry.value.is_mapping()) {
      add_missing(*present, entry.value);
    }
  }
}

}  // namespace

void apply_profile(yaml::Node& root, Diagnostics& diagnostics) {
  const yaml::Node* const name = root.find("profile");
  if (name == nullptr || !name->is_scalar()) return;  // its type is checked with all others
  std::vector<std::string_view> names;
  for (const Profile& profile : all_profiles()) {
    names.push_back(profile.name);
    if (profile.name != name->text) continue;
    const std::int32_t source = diagnostics.add_source("profile " + std::string(profile.name));
    yaml::Node values = yaml::parse(std::string(profile.text), source, diagnostics);
    std::erase_if(values.entries, [](const yaml::Entry& entry) {
      return entry.key != "costs" && entry.key != "cluster";
    });
    add_missing(root, values);
    return;
  }
  std::string known;
  for (const std::string_view one : names) known += (known.empty() ? "" : ", ") + std::string(one);
  diagnostics.error(name->position, "profile: there is no profile " + in_quotes(name->text) +
                                        did_you_mean(name->text, names) + "; there are " + known);
}

}  // namespace tailrace::scenarios
