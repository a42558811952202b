// A YAML document as we keep it: values with positions, mappings in the order of the file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/position.hpp"

namespace tailrace::scenarios::yaml {

// Limits of a scenario file. Aliases and merges count with everything that they stand for.
inline constexpr std::int64_t kMaxFileBytes = 1 << 20;
inline constexpr std::int32_t kMaxDepth = 32;
inline constexpr std::int64_t kMaxNodes = 50'000;

enum class NodeKind : std::uint8_t { kNull, kScalar, kSequence, kMapping };

struct Entry;

struct Node {
  NodeKind kind = NodeKind::kNull;
  Position position;
  bool quoted = false;         // scalars: written in quotes or as a block
  std::string text;            // scalars
  std::vector<Node> items;     // sequences
  std::vector<Entry> entries;  // mappings; keys are unique, merge keys are resolved

  [[nodiscard]] bool is_scalar() const { return kind == NodeKind::kScalar; }
  [[nodiscard]] bool is_mapping() const { return kind == NodeKind::kMapping; }
  [[nodiscard]] bool is_sequence() const { return kind == NodeKind::kSequence; }
  // Null if this is no mapping or has no such key.
  [[nodiscard]] const Node* find(std::string_view key) const;
  [[nodiscard]] Node* find(std::string_view key);
};

struct Entry {
  std::string key;
  Position key_position;
  Node value;
};

// "a mapping", "a list", "nothing", or the quoted scalar: what a message calls it.
[[nodiscard]] std::string name_of(const Node& node);

}  // namespace tailrace::scenarios::yaml
