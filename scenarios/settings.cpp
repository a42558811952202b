#include "scenarios/settings.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "scenarios/map_reader.hpp"
#include "scenarios/units.hpp"
#include "scenarios/yaml/load.hpp"

namespace tailrace::scenarios {
namespace {

constexpr std::string_view kFlinkPrefix = "flink.";
constexpr std::size_t kMissing = static_cast<std::size_t>(-1);

std::vector<std::string> split_path(const std::string& path) {
  if (path.starts_with(kFlinkPrefix)) return {"flink", path.substr(kFlinkPrefix.size())};
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (true) {
    const std::size_t dot = path.find('.', begin);
    parts.push_back(path.substr(begin, dot - begin));
    if (dot == std::string::npos) return parts;
    begin = dot + 1;
  }
}

// A value from the command line has no line and no column anywhere.
void place(yaml::Node& node, std::int32_t source) {
  node.position = {source, 0, 0};
  for (yaml::Node& item : node.items) place(item, source);
  for (yaml::Entry& entry : node.entries) {
    entry.key_position = {source, 0, 0};
    place(entry.value, source);
  }
}

std::size_t find_element(const yaml::Node& list, const std::string& name) {
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const yaml::Node* id = list.items[i].find("id");
    if (id != nullptr && id->is_scalar() && id->text == name) return i;
  }
  const Parsed<std::int64_t> number = parse_integer(name);
  if (number.ok() && number.value() >= 0 &&
      static_cast<std::size_t>(number.value()) < list.items.size()) {
    return static_cast<std::size_t>(number.value());
  }
  return kMissing;
}

std::string element_hint(const yaml::Node& list, const std::string& name) {
  std::vector<std::string_view> ids;
  for (const yaml::Node& item : list.items) {
    const yaml::Node* id = item.find("id");
    if (id != nullptr && id->is_scalar()) ids.push_back(id->text);
  }
  const std::string near = did_you_mean(name, ids);
  return near.empty() ? "; it has " + std::to_string(list.items.size()) + " elements" : near;
}

yaml::Node& child(yaml::Node& mapping, const std::string& key, std::int32_t source) {
  if (yaml::Node* known = mapping.find(key)) return *known;
  mapping.kind = yaml::NodeKind::kMapping;  // it may have been empty
  yaml::Entry entry;
  entry.key = key;
  entry.key_position = {source, 0, 0};
  entry.value.position = {source, 0, 0};
  mapping.entries.push_back(std::move(entry));
  return mapping.entries.back().value;
}

}  // namespace

Setting parse_setting(const std::string& text) {
  const std::size_t equals = text.find('=');
  Setting setting;
  setting.path = text.substr(0, equals);
  setting.value = equals == std::string::npos ? "" : text.substr(equals + 1);
  setting.shown = "--set " + text;
  return setting;
}

std::vector<Setting> settings_of(const std::string& seed, const std::string& until,
                                 const std::vector<std::string>& sets) {
  std::vector<Setting> settings;
  if (!seed.empty()) settings.push_back({"seed", seed, "--seed " + seed});
  if (!until.empty()) {
    const bool is_time = until.find_first_of("0123456789") != std::string::npos;
    const std::string shown = "--until " + until;
    // A time is the only end then; `until: idle` in the file would cut it short.
    if (is_time) settings.push_back({"until", "~", shown});
    settings.push_back({is_time ? "duration" : "until", until, shown});
  }
  for (const std::string& text : sets) settings.push_back(parse_setting(text));
  return settings;
}

void apply_setting(const Setting& setting, std::int32_t source, yaml::Node& root,
                   Diagnostics& diagnostics) {
  const Position here{source, 0, 0};
  if (setting.path.empty() || setting.value.empty()) {
    diagnostics.error(here, "write it as path=value, such as seed=7");
    return;
  }
  const std::size_t errors_before = diagnostics.size();
  yaml::Node value = yaml::parse(setting.value, source, diagnostics);
  // What cannot be read must not count as `~` and take away what the file says.
  if (diagnostics.size() > errors_before) return;
  place(value, source);
  yaml::Node* node = &root;
  yaml::Node* parent = nullptr;
  std::string last;
  std::string so_far;
  for (const std::string& part : split_path(setting.path)) {
    const std::string name = so_far.empty() ? "the scenario" : so_far;
    if (part.empty()) {
      diagnostics.error(here, "the path has an empty part");
      return;
    }
    parent = node;
    last = part;
    if (node->is_sequence()) {
      const std::size_t index = find_element(*node, part);
      if (index == kMissing) {
        diagnostics.error(here,
                          name + " has no element " + in_quotes(part) + element_hint(*node, part));
        return;
      }
      node = &node->items[index];
    } else if (node->is_scalar()) {
      diagnostics.error(here,
                        name + " is " + yaml::name_of(*node) + ", and has no " + in_quotes(part));
      return;
    } else {
      node = &child(*node, part, source);
    }
    so_far += (so_far.empty() ? "" : ".") + part;
  }
  if (value.kind == yaml::NodeKind::kNull && parent->is_mapping()) {
    std::erase_if(parent->entries, [&last](const yaml::Entry& entry) { return entry.key == last; });
    return;
  }
  *node = std::move(value);
}

}  // namespace tailrace::scenarios
