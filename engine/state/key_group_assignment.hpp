// Which key belongs to which key group, and which key groups to which subtask.
//
// Flink KeyGroupRangeAssignment, MathUtils.murmurHash (spec rescale.md 2.1, 2.2). Pure functions;
// senders, backends and the state assignment must agree on them bit by bit.
//
// Invariants
//   K1  The ranges of subtasks 0 .. parallelism - 1 are contiguous, disjoint, never empty and cover
//       [0, max_parallelism - 1]; their sizes differ by at most 1.
//   K2  A range is exactly what compute_operator_index_for_key_group maps to its subtask.
#pragma once

#include <bit>
#include <cstdint>

#include "engine/state/java_hash.hpp"
#include "engine/state/key_group_range.hpp"
#include "sim/base/assert.hpp"
#include "sim/base/result.hpp"

namespace tailrace::engine {

// Flink KeyGroupRangeAssignment.DEFAULT_LOWER_BOUND_MAX_PARALLELISM.
inline constexpr std::int32_t kDefaultLowerBoundMaxParallelism = 1 << 7;
// Flink KeyGroupRangeAssignment.UPPER_BOUND_MAX_PARALLELISM: up to here no product overflows.
inline constexpr std::int32_t kUpperBoundMaxParallelism = 1 << 15;

// Whether S-2.3 has an answer: 1 <= parallelism <= max_parallelism <= 32768. Whoever takes the two
// from a user checks this; the functions below assert it.
[[nodiscard]] constexpr bool are_valid_parallelisms(std::int32_t max_parallelism,
                                                    std::int32_t parallelism) {
  return 1 <= parallelism && parallelism <= max_parallelism &&
         max_parallelism <= kUpperBoundMaxParallelism;
}

// Never negative: the final step negates, it does not clear the sign bit.
// Source: Flink MathUtils.murmurHash.
[[nodiscard]] constexpr std::int32_t murmur_hash(std::int32_t code) {
  std::uint32_t hash = static_cast<std::uint32_t>(code);
  hash *= 0xcc9e2d51U;
  hash = std::rotl(hash, 15);
  hash *= 0x1b873593U;
  hash = std::rotl(hash, 13);
  hash = hash * 5 + 0xe6546b64U;
  hash ^= 4;  // MurmurHash3 mixes in the length of what it hashed: one int
  hash ^= hash >> 16;
  hash *= 0x85ebca6bU;
  hash ^= hash >> 13;
  hash *= 0xc2b2ae35U;
  hash ^= hash >> 16;
  if (hash == 0x80000000U) return 0;
  const auto result = static_cast<std::int32_t>(hash);
  return result >= 0 ? result : -result;
}

// Requires: 1 <= max_parallelism. `java_hash`: the key's hash code (java_hash.hpp).
[[nodiscard]] constexpr std::int32_t assign_to_key_group(std::int32_t java_hash,
                                                         std::int32_t max_parallelism) {
  TAILRACE_ASSERT(max_parallelism >= 1);
  return murmur_hash(java_hash) % max_parallelism;
}

// Requires: are_valid_parallelisms; 0 <= key_group < max_parallelism.
[[nodiscard]] constexpr std::int32_t compute_operator_index_for_key_group(
    std::int32_t max_parallelism, std::int32_t parallelism, std::int32_t key_group) {
  TAILRACE_ASSERT(are_valid_parallelisms(max_parallelism, parallelism));
  TAILRACE_ASSERT(0 <= key_group && key_group < max_parallelism);
  return key_group * parallelism / max_parallelism;
}

// Requires: are_valid_parallelisms; 0 <= index < parallelism.
[[nodiscard]] constexpr KeyGroupRange compute_key_group_range_for_operator_index(
    std::int32_t max_parallelism, std::int32_t parallelism, std::int32_t index) {
  TAILRACE_ASSERT(are_valid_parallelisms(max_parallelism, parallelism));
  TAILRACE_ASSERT(0 <= index && index < parallelism);
  return {(index * max_parallelism + parallelism - 1) / parallelism,
          ((index + 1) * max_parallelism - 1) / parallelism};
}

// The channel that a record with this key hash takes to its consumer.
// Requires: are_valid_parallelisms.
[[nodiscard]] constexpr std::int32_t assign_key_to_parallel_operator(std::int32_t java_hash,
                                                                     std::int32_t max_parallelism,
                                                                     std::int32_t parallelism) {
  return compute_operator_index_for_key_group(max_parallelism, parallelism,
                                              assign_to_key_group(java_hash, max_parallelism));
}

enum class KeyGroupError : std::uint8_t { kParallelismOutOfRange };

// Max parallelism of a vertex that was given none.
// Errors: parallelism outside 1 .. 32768.
[[nodiscard]] base::Result<std::int32_t, KeyGroupError> compute_default_max_parallelism(
    std::int32_t parallelism);

}  // namespace tailrace::engine
