#include "scenarios/shard_keys.hpp"

#include <algorithm>
#include <numeric>

#include "engine/state/java_hash.hpp"
#include "engine/state/key_group_assignment.hpp"
#include "scenarios/inverse_power.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::scenarios {
namespace {

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014), with its increment.
constexpr std::uint64_t mix(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

constexpr std::uint64_t kStreamOfKeys = 0x6b657973;  // "keys"
constexpr std::int64_t kGroupStride = 37;

std::int64_t rounded_up(std::int64_t count, std::int64_t multiple) {
  return (count + multiple - 1) / multiple * multiple;
}

// Keys by their number: the longs in ascending order, each to the next free number of its group.
std::vector<std::int64_t> balanced_keys(std::int64_t count, std::int32_t groups) {
  const std::int64_t per_group = count / groups;
  // Without a common factor the numbers of a round visit every group once; otherwise a group has
  // several numbers a round, and they share its longs.
  std::vector<std::vector<std::int64_t>> wanted(static_cast<std::size_t>(groups));
  std::int64_t missing = 0;
  for (std::int64_t i = 0; i < groups; ++i) {
    wanted[static_cast<std::size_t>(i * kGroupStride % groups)].push_back(i);
  }
  for (const auto& numbers : wanted) missing += numbers.empty() ? 0 : per_group;
  std::vector<std::int64_t> found(static_cast<std::size_t>(groups), 0);
  std::vector<std::int64_t> keys(static_cast<std::size_t>(count));
  for (std::int64_t key = 0; missing > 0; ++key) {
    const auto group =
        static_cast<std::size_t>(engine::assign_to_key_group(engine::java_long_hash(key), groups));
    if (wanted[group].empty() || found[group] == per_group) continue;
    for (const std::int64_t number : wanted[group]) {
      keys[static_cast<std::size_t>(found[group] * groups + number)] = key;
    }
    ++found[group];
    --missing;
  }
  return keys;
}

std::vector<double> zipf_shares(std::int64_t active, std::int64_t exponent_milli) {
  std::vector<double> shares;
  shares.reserve(static_cast<std::size_t>(active));
  double total = 0;
  for (std::int64_t i = 0; i < active; ++i) {
    total += inverse_power(i + 1, exponent_milli);
    shares.push_back(total);
  }
  for (double& share : shares) share /= total;
  return shares;
}

}  // namespace

ShardKeys::ShardKeys(const SourceKeys& keys, std::int32_t shards, std::int32_t key_groups)
    : distribution_(keys.distribution), shards_(shards), count_(keys.count), active_(keys.active) {
  TAILRACE_ASSERT(0 < active_ && active_ <= count_ && shards > 0);
  if (distribution_ == KeyDistribution::kBalanced) {
    TAILRACE_ASSERT(key_groups > 0);
    count_ = rounded_up(count_, key_groups);
    if (active_ == keys.count) active_ = count_;
    balanced_ = balanced_keys(count_, key_groups);
    return;
  }
  if (distribution_ == KeyDistribution::kZipf) {
    cumulative_ = zipf_shares(active_, keys.exponent_milli);
  }
  for (std::int32_t shard = 0; shard < shards; ++shard) {
    streams_.push_back(mix(kStreamOfKeys + static_cast<std::uint64_t>(shard)));
  }
}

double ShardKeys::draw(std::int32_t shard, std::int64_t seq) const {
  const std::uint64_t bits =
      mix(streams_[static_cast<std::size_t>(shard)] ^ static_cast<std::uint64_t>(seq));
  return static_cast<double>(bits >> 11) * 0x1p-53;  // both exact
}

std::int64_t ShardKeys::key(std::int32_t shard, std::int64_t seq) const {
  switch (distribution_) {
    case KeyDistribution::kBalanced: {
      // Taken apart, because seq * shards may be too large.
      const std::int64_t number =
          (seq % active_ * (shards_ % active_) % active_ + shard % active_) % active_;
      return balanced_[static_cast<std::size_t>(number)];
    }
    case KeyDistribution::kUniform: {
      const double scaled = draw(shard, seq) * static_cast<double>(active_);
      return std::min(active_ - 1, static_cast<std::int64_t>(scaled));
    }
    case KeyDistribution::kZipf: {
      const auto found = std::lower_bound(cumulative_.begin(), cumulative_.end(), draw(shard, seq));
      return std::min<std::int64_t>(active_ - 1, found - cumulative_.begin());
    }
  }
  TAILRACE_ASSERT_MSG(false, "an unknown distribution");
  return 0;
}

std::vector<std::int64_t> ShardKeys::all() const {
  if (distribution_ == KeyDistribution::kBalanced) return balanced_;
  std::vector<std::int64_t> keys(static_cast<std::size_t>(count_));
  std::iota(keys.begin(), keys.end(), std::int64_t{0});
  return keys;
}

std::int64_t ShardKeys::largest() const {
  if (distribution_ != KeyDistribution::kBalanced) return count_ - 1;
  return *std::max_element(balanced_.begin(), balanced_.end());
}

}  // namespace tailrace::scenarios
