#include "scenarios/map_reader.hpp"

#include <utility>
#include <vector>

#include "scenarios/edit_distance.hpp"
#include "scenarios/units.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::scenarios {
namespace {

std::vector<std::string_view> split_choices(std::string_view choices) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t bar = choices.find('|');
    parts.push_back(choices.substr(0, bar));
    if (bar == std::string_view::npos) return parts;
    choices.remove_prefix(bar + 1);
  }
}

std::string joined(const std::vector<std::string_view>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

std::string milli_text(std::int64_t milli) {
  std::string text = std::to_string(milli / 1000);
  if (milli % 1000 != 0) {
    std::string decimals = std::to_string(1000 + milli % 1000).substr(1);
    while (decimals.back() == '0') decimals.pop_back();
    text += '.' + decimals;
  }
  return text;
}

std::string bound_text(ValueType type, std::int64_t bound) {
  switch (type) {
    case ValueType::kDuration:
      return std::to_string(bound) + "ns";
    case ValueType::kSize:
      return std::to_string(bound) + 'B';
    case ValueType::kMilli:
      return milli_text(bound);
    case ValueType::kPercent:
      return milli_text(bound / 10) + '%';
    case ValueType::kText:
    case ValueType::kName:
    case ValueType::kInteger:
    case ValueType::kBoolean:
    case ValueType::kBandwidth:
    case ValueType::kChoice:
    case ValueType::kSection:
    case ValueType::kOther:
    case ValueType::kFlag:
      break;
  }
  return std::to_string(bound);
}

bool is_name(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (text.empty() || text.size() > 100 || !letter(text.front())) return false;
  for (const char c : text) {
    if (!letter(c) && !(c >= '0' && c <= '9') && c != '_' && c != '-') return false;
  }
  return true;
}

}  // namespace

std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates) {
  const std::string_view nearest = nearest_name(name, candidates);
  if (nearest.empty()) return {};
  return " (did you mean " + std::string(nearest) + "?)";
}

MapReader::MapReader(const yaml::Node* node, const SectionSpec& section, std::string path,
                     Position around, Diagnostics& diagnostics)
    : node_(node),
      section_(section),
      path_(std::move(path)),
      position_(node != nullptr ? node->position : around),
      diagnostics_(diagnostics) {
  if (node_ != nullptr && node_->kind == yaml::NodeKind::kNull) node_ = nullptr;
  if (node_ != nullptr && !node_->is_mapping()) {
    error_here("must be a mapping of keys to values, not " + yaml::name_of(*node_));
    node_ = nullptr;
    return;
  }
  if (node_ != nullptr) {
    for (const yaml::Entry& entry : node_->entries) {
      const KeySpec* known = find_key(section_, entry.key);
      if (known == nullptr) {
        std::vector<std::string_view> names;
        for (const KeySpec& candidate : section_.keys) names.push_back(candidate.key);
        const std::string near = did_you_mean(entry.key, names);
        diagnostics_.error(entry.key_position,
                           "unknown key " + in_quotes(entry.key) +
                               (path_.empty() ? "" : " in " + path_) +
                               (near.empty() ? "; the keys here are " + joined(names) : near));
      } else if (known->presence == Presence::kNotYet) {
        diagnostics_.error(entry.key_position,
                           this->path(entry.key) + " is not modelled yet in this version");
      }
    }
  }
  for (const KeySpec& required : section_.keys) {
    if (required.presence == Presence::kRequired && !has(required.key)) {
      diagnostics_.error(position_, (path_.empty() ? "the scenario" : path_) + " has no " +
                                        in_quotes(required.key) + ", which it needs");
    }
  }
}

const yaml::Node* MapReader::find(std::string_view key) const {
  return node_ == nullptr ? nullptr : node_->find(key);
}

Position MapReader::position(std::string_view key) const {
  const yaml::Node* value = find(key);
  return value == nullptr ? position_ : value->position;
}

std::string MapReader::path(std::string_view key) const {
  return path_.empty() ? std::string(key) : path_ + '.' + std::string(key);
}

const KeySpec& MapReader::spec(std::string_view key) const {
  const KeySpec* found = find_key(section_, key);
  TAILRACE_ASSERT_MSG(found != nullptr, std::string(key));
  return *found;
}

void MapReader::error(std::string_view key, std::string message) {
  diagnostics_.error(position(key), path(key) + ": " + std::move(message));
}

void MapReader::error_here(std::string message) {
  diagnostics_.error(position_, (path_.empty() ? "a scenario" : path_) + ' ' + std::move(message));
}

std::optional<std::string_view> MapReader::scalar(const KeySpec& spec) {
  const yaml::Node* value = find(spec.key);
  if (value == nullptr) {
    if (spec.fallback.empty()) return std::nullopt;
    return spec.fallback;
  }
  if (!value->is_scalar()) {
    error(spec.key, "needs one value, not " + yaml::name_of(*value));
    return std::nullopt;
  }
  return std::string_view(value->text);
}

bool MapReader::in_range(const KeySpec& spec, std::int64_t value, std::string_view text) {
  if (value >= spec.min && value <= spec.max) return true;
  std::string message = in_quotes(text) + " is out of range; it must be ";
  if (spec.min == spec.max) {
    message += bound_text(spec.type, spec.min);
  } else if (spec.max == std::numeric_limits<std::int64_t>::max()) {
    message += "at least " + bound_text(spec.type, spec.min);
  } else {
    message += "from " + bound_text(spec.type, spec.min) + " to " + bound_text(spec.type, spec.max);
  }
  error(spec.key, std::move(message));
  return false;
}

std::optional<std::string> MapReader::text(std::string_view key) {
  const KeySpec& row = spec(key);
  const std::optional<std::string_view> value = scalar(row);
  if (!value.has_value()) return std::nullopt;
  if (row.type == ValueType::kName && !is_name(*value)) {
    error(key,
          in_quotes(*value) + " is not a name: letters, digits, _ and -, beginning with a letter");
    return std::nullopt;
  }
  return std::string(*value);
}

std::optional<std::int64_t> MapReader::number(std::string_view key) {
  const KeySpec& row = spec(key);
  const std::optional<std::string_view> value = scalar(row);
  if (!value.has_value()) return std::nullopt;
  const Parsed<std::int64_t> parsed = row.type == ValueType::kInteger   ? parse_integer(*value)
                                      : row.type == ValueType::kPercent ? parse_percent(*value)
                                                                        : parse_milli(*value);
  if (!parsed.ok()) {
    error(key, in_quotes(*value) + ' ' + parsed.error());
    return std::nullopt;
  }
  if (!in_range(row, parsed.value(), *value)) return std::nullopt;
  return parsed.value();
}

std::optional<base::Duration> MapReader::duration(std::string_view key) {
  const KeySpec& row = spec(key);
  const std::optional<std::string_view> value = scalar(row);
  if (!value.has_value()) return std::nullopt;
  const Parsed<base::Duration> parsed = parse_duration(*value);
  if (!parsed.ok()) {
    error(key, in_quotes(*value) + ' ' + parsed.error());
    return std::nullopt;
  }
  if (!in_range(row, parsed.value().ns, *value)) return std::nullopt;
  return parsed.value();
}

std::optional<std::int64_t> MapReader::size(std::string_view key) {
  const KeySpec& row = spec(key);
  const std::optional<std::string_view> value = scalar(row);
  if (!value.has_value()) return std::nullopt;
  const Parsed<std::int64_t> parsed = parse_size(*value);
  if (!parsed.ok()) {
    error(key, in_quotes(*value) + ' ' + parsed.error());
    return std::nullopt;
  }
  if (!in_range(row, parsed.value(), *value)) return std::nullopt;
  return parsed.value();
}

bool MapReader::boolean(std::string_view key) {
  const std::optional<std::string_view> value = scalar(spec(key));
  if (!value.has_value()) return false;
  const Parsed<bool> parsed = parse_boolean(*value);
  if (!parsed.ok()) {
    error(key, in_quotes(*value) + ' ' + parsed.error());
    return false;
  }
  return parsed.value();
}

bool MapReader::flag(std::string_view key) {
  const yaml::Node* value = find(key);
  if (value == nullptr) return false;
  if (value->kind == yaml::NodeKind::kNull) return true;
  if (!value->is_scalar() || value->text != "true") {
    error(key, "takes no value, or true; not " + yaml::name_of(*value));
  }
  return true;
}

base::BytesPerSecond MapReader::bandwidth(std::string_view key) {
  const std::optional<std::string_view> value = scalar(spec(key));
  if (!value.has_value()) return {1};
  const Parsed<base::BytesPerSecond> parsed = parse_bandwidth(*value);
  if (!parsed.ok()) {
    error(key, in_quotes(*value) + ' ' + parsed.error());
    return {1};
  }
  return parsed.value();
}

std::optional<std::int32_t> MapReader::choice(std::string_view key) {
  const KeySpec& row = spec(key);
  const std::optional<std::string_view> value = scalar(row);
  if (!value.has_value()) return std::nullopt;
  const std::vector<std::string_view> choices = split_choices(row.choices);
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (choices[i] == *value) return static_cast<std::int32_t>(i);
  }
  error(key,
        in_quotes(*value) + " is not one of " + joined(choices) + did_you_mean(*value, choices));
  return std::nullopt;
}

std::int32_t MapReader::small(std::string_view key) {
  return static_cast<std::int32_t>(number(key).value_or(spec(key).min));
}

base::Duration MapReader::time_span(std::string_view key) {
  return duration(key).value_or(base::Duration{});
}

MapReader MapReader::section(std::string_view key, const SectionSpec& section) {
  return MapReader(find(key), section, path(key), position_, diagnostics_);
}

}  // namespace tailrace::scenarios
