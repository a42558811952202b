// Key groups: the unit in which keyed state is dealt out.
//
// Flink KeyGroupRange, KeyGroupRangeOffsets (spec rescale.md 1.5).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/base/assert.hpp"

namespace tailrace::engine {

// Inclusive interval [first, last]; the empty range is (0, -1).
struct KeyGroupRange {
  std::int32_t first = 0;
  std::int32_t last = -1;

  [[nodiscard]] constexpr bool empty() const { return last < first; }
  [[nodiscard]] constexpr std::int32_t size() const { return empty() ? 0 : last - first + 1; }
  [[nodiscard]] constexpr bool contains(std::int32_t key_group) const {
    return first <= key_group && key_group <= last;
  }
  [[nodiscard]] constexpr KeyGroupRange intersect(KeyGroupRange other) const {
    const KeyGroupRange common{std::max(first, other.first), std::min(last, other.last)};
    return common.empty() ? KeyGroupRange{} : common;
  }
  friend constexpr bool operator==(const KeyGroupRange&, const KeyGroupRange&) = default;
};

// A range with one stream offset per key group.
struct KeyGroupRangeOffsets {
  KeyGroupRange range;
  std::vector<std::int64_t> offsets;  // offsets[i] belongs to key group range.first + i

  // Requires: range.contains(key_group).
  [[nodiscard]] std::int64_t offset(std::int32_t key_group) const {
    TAILRACE_ASSERT(range.contains(key_group));
    return offsets[static_cast<std::size_t>(key_group - range.first)];
  }
  [[nodiscard]] KeyGroupRangeOffsets intersect(KeyGroupRange other) const {
    KeyGroupRangeOffsets result{range.intersect(other), {}};
    for (std::int32_t group = result.range.first; group <= result.range.last; ++group) {
      result.offsets.push_back(offset(group));
    }
    return result;
  }
  friend bool operator==(const KeyGroupRangeOffsets&, const KeyGroupRangeOffsets&) = default;
};

}  // namespace tailrace::engine
