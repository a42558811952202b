// Which key a record of an endless source has: a pure function of its shard and its number there.
//
// Three distributions over a set of keys, all non-negative longs.
//   balanced  All key groups hold equally many keys. Key number i is the (i / G)-th smallest
//             non-negative long of key group (i % G) * 37 % G, with G key groups in all; record seq
//             of shard s has key number (seq * shards + s) % active. `count` is rounded up to a
//             multiple of G, and `active` with it if it is all of them. 37 shares no factor with a power of two, so that neighbouring
//             keys lie far apart and still all groups have their turn; with a G that is a multiple
//             of 37 some groups have none, and others have more.
//   uniform   Keys 0 .. count - 1, drawn from the first `active` ones by a mixer of 64 bits over
//             shard and seq.
//   zipf      The same, and key k comes with a probability in proportion to (k + 1)^-exponent.
// The draws are the definition of the load, not of the run: the seed of a scenario does not change
// them, and the same record of the same shard has the same key in every run.
#pragma once

#include <cstdint>
#include <vector>

namespace tailrace::scenarios {

enum class KeyDistribution : std::uint8_t { kBalanced, kUniform, kZipf };

struct SourceKeys {
  KeyDistribution distribution = KeyDistribution::kBalanced;
  std::int64_t count = 0;
  std::int64_t active = 0;  // at most `count`
  std::int64_t exponent_milli = 1000;
};

class ShardKeys {
 public:
  // `key_groups`: max parallelism of the job; balanced only.
  // Requires: 0 < active <= count; shards > 0; key_groups > 0 if balanced.
  // Cost: O(count), and as much memory for balanced and zipf.
  ShardKeys(const SourceKeys& keys, std::int32_t shards, std::int32_t key_groups);

  // Of record `seq` of a shard. Requires: 0 <= shard < shards; seq >= 0.
  // Cost: O(1); zipf: O(log active). No allocation.
  [[nodiscard]] std::int64_t key(std::int32_t shard, std::int64_t seq) const;

  [[nodiscard]] std::int64_t count() const { return count_; }    // rounded up
  [[nodiscard]] std::int64_t active() const { return active_; }  // rounded up
  // All `count` keys, by their number.
  [[nodiscard]] std::vector<std::int64_t> all() const;
  [[nodiscard]] std::int64_t largest() const;

 private:
  [[nodiscard]] double draw(std::int32_t shard, std::int64_t seq) const;

  KeyDistribution distribution_;
  std::int32_t shards_;
  std::int64_t count_;
  std::int64_t active_;
  std::vector<std::int64_t> balanced_;  // by number
  std::vector<double> cumulative_;      // zipf: share of the keys up to this one
  std::vector<std::uint64_t> streams_;  // of the mixer, by shard
};

}  // namespace tailrace::scenarios
