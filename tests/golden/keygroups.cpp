// Replays golden/keygroups: hashes of Java values, murmur, key groups, ranges, default max
// parallelism.
#include <charconv>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/state/key_group_assignment.hpp"
#include "tests/golden/golden_registry.hpp"

namespace tailrace::golden {
namespace {

template <typename Integer>
Integer parse_integer(const std::string& text, int base) {
  Integer value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (error != std::errc{} || stop != end) throw MalformedCase("no number: " + text);
  return value;
}

std::u16string units_of(const Json& numbers) {
  std::u16string units;
  for (const Json& number : numbers) units += static_cast<char16_t>(number.get<std::uint16_t>());
  return units;
}

// UTF-8, with a surrogate that stands alone encoded as if it were a character.
std::string to_utf8(const std::u16string& units) {
  std::string bytes;
  const auto put = [&bytes](std::uint32_t byte) { bytes += static_cast<char>(byte); };
  for (std::size_t i = 0; i < units.size(); ++i) {
    std::uint32_t c = units[i];
    if ((c & 0xFC00U) == 0xD800U && i + 1 < units.size() && (units[i + 1] & 0xFC00U) == 0xDC00U) {
      c = 0x10000U + ((c & 0x3FFU) << 10) + (units[++i] & 0x3FFU);
    }
    if (c < 0x80) {
      put(c);
    } else if (c < 0x800) {
      put(0xC0U | (c >> 6));
      put(0x80U | (c & 0x3FU));
    } else if (c < 0x10000) {
      put(0xE0U | (c >> 12));
      put(0x80U | ((c >> 6) & 0x3FU));
      put(0x80U | (c & 0x3FU));
    } else {
      put(0xF0U | (c >> 18));
      put(0x80U | ((c >> 12) & 0x3FU));
      put(0x80U | ((c >> 6) & 0x3FU));
      put(0x80U | (c & 0x3FU));
    }
  }
  return bytes;
}

std::int32_t hash_of_units(const Json& numbers) {
  const std::u16string units = units_of(numbers);
  const std::int32_t hash = engine::java_string_hash(units);
  expect_equal("hash of the same string in UTF-8", hash, engine::java_string_hash(to_utf8(units)));
  return hash;
}

std::int32_t hash_of(const Json& line) {
  const auto& type = line.at("type").get_ref<const std::string&>();
  const Json& value = line.at("value");
  if (type == "int" || type == "byte" || type == "short") return value.get<std::int32_t>();
  if (type == "char") {
    return engine::java_char_hash(static_cast<char16_t>(value.get<std::uint16_t>()));
  }
  if (type == "long") {
    return engine::java_long_hash(
        parse_integer<std::int64_t>(value.get_ref<const std::string&>(), 10));
  }
  if (type == "double") {
    return engine::java_double_hash_of_bits(
        parse_integer<std::uint64_t>(value.get_ref<const std::string&>(), 16));
  }
  if (type == "boolean") return engine::java_boolean_hash(value.get<bool>());
  if (type == "string") return hash_of_units(line.at("utf16"));
  if (type == "tuple2") {
    const std::int32_t fields[] = {value.at("f0").get<std::int32_t>(),
                                   hash_of_units(value.at("f1utf16"))};
    return engine::java_tuple_hash(fields);
  }
  throw MalformedCase("unknown type of key: " + type);
}

void replay_key(const Json& line) {
  const std::int32_t hash = hash_of(line);
  expect_equal("hash", line.at("hash"), hash);
  for (const Json& group : line.at("groups")) {
    const auto max_parallelism = group.at("M").get<std::int32_t>();
    const auto parallelism = group.at("p").get<std::int32_t>();
    const std::string where =
        "M " + std::to_string(max_parallelism) + ", p " + std::to_string(parallelism);
    const std::int32_t key_group = engine::assign_to_key_group(hash, max_parallelism);
    expect_equal(where + ": key group", group.at("kg"), key_group);
    expect_equal(
        where + ": operator", group.at("op"),
        engine::compute_operator_index_for_key_group(max_parallelism, parallelism, key_group));
    expect_equal(where + ": channel", group.at("op"),
                 engine::assign_key_to_parallel_operator(hash, max_parallelism, parallelism));
  }
}

void replay_murmur(const Json& line) {
  expect_equal("murmur", line.at("murmur"),
               engine::murmur_hash(line.at("code").get<std::int32_t>()));
}

void replay_ranges(const Json& line) {
  const auto max_parallelism = line.at("M").get<std::int32_t>();
  const auto parallelism = line.at("p").get<std::int32_t>();
  Json ranges = Json::array();
  for (std::int32_t index = 0; index < parallelism; ++index) {
    const engine::KeyGroupRange range =
        engine::compute_key_group_range_for_operator_index(max_parallelism, parallelism, index);
    ranges.push_back({range.first, range.last});
  }
  expect_equal("ranges", line.at("ranges"), ranges);
  const auto expected = line.find("operators");
  if (expected == line.end()) return;
  Json operators = Json::array();
  for (std::int32_t key_group = 0; key_group < max_parallelism; ++key_group) {
    operators.push_back(
        engine::compute_operator_index_for_key_group(max_parallelism, parallelism, key_group));
  }
  expect_equal("operators", *expected, operators);
}

void replay_default_max_parallelism(const Json& line) {
  const auto result = engine::compute_default_max_parallelism(line.at("p").get<std::int32_t>());
  expect_equal("error", line.value("error", false), !result.ok());
  if (result.ok()) expect_equal("max", line.at("max"), result.value());
}

const Registration kKeys("keygroups/keygroups_keys.jsonl", &replay_key);
const Registration kMurmur("keygroups/keygroups_murmur.jsonl", &replay_murmur);
const Registration kRanges("keygroups/keygroups_ranges.jsonl", &replay_ranges);
const Registration kDefault("keygroups/default_max_parallelism.jsonl",
                            &replay_default_max_parallelism);

}  // namespace
}  // namespace tailrace::golden
