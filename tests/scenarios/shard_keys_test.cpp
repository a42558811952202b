#include "scenarios/shard_keys.hpp"

#include <bit>
#include <cstdlib>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/state/java_hash.hpp"
#include "engine/state/key_group_assignment.hpp"
#include "scenarios/inverse_power.hpp"
#include "scenarios/record_text.hpp"

namespace tailrace::scenarios {
namespace {

using Keys = std::vector<std::int64_t>;

constexpr std::int32_t kGroups = 128;
constexpr std::int32_t kShards = 12;

std::int32_t group_of(std::int64_t key, std::int32_t groups = kGroups) {
  return engine::assign_to_key_group(engine::java_long_hash(key), groups);
}

Keys first(const ShardKeys& keys, std::int32_t shard, std::int64_t count) {
  Keys result;
  for (std::int64_t seq = 0; seq < count; ++seq) result.push_back(keys.key(shard, seq));
  return result;
}

// The expected keys were computed from the definition by another program in another language.

TEST(BalancedKeys, GoThroughTheKeyGroupsInStepsOf37) {
  const ShardKeys keys({KeyDistribution::kBalanced, 1024, 1024}, kShards, kGroups);
  const Keys all = keys.all();
  ASSERT_EQ(all.size(), 1024u);
  EXPECT_EQ(Keys(all.begin(), all.begin() + 12),
            (Keys{312, 73, 203, 635, 29, 76, 0, 196, 117, 400, 369, 263}));
  EXPECT_EQ(Keys(all.end() - 4, all.end()), (Keys{468, 586, 837, 606}));
  EXPECT_EQ(std::accumulate(all.begin(), all.end(), std::int64_t{0}), 586574);
  EXPECT_EQ(keys.largest(), 2654);
  EXPECT_EQ(group_of(all[0]), 0);
  EXPECT_EQ(group_of(all[1]), 37);
  EXPECT_EQ(group_of(all[4]), 20);
}

TEST(BalancedKeys, FillAllKeyGroupsEqually) {
  const ShardKeys keys({KeyDistribution::kBalanced, 10240, 10240}, kShards, kGroups);
  std::map<std::int32_t, int> of_group;
  for (const std::int64_t key : keys.all()) ++of_group[group_of(key)];
  ASSERT_EQ(of_group.size(), 128u);
  for (const auto& [group, count] : of_group) EXPECT_EQ(count, 80) << group;
  EXPECT_EQ(keys.largest(), 13758);
  EXPECT_EQ(keys.all()[5000], 5403);
}

TEST(BalancedKeys, ComeInTurnAcrossTheShards) {
  const ShardKeys keys({KeyDistribution::kBalanced, 1024, 1024}, kShards, kGroups);
  EXPECT_EQ(first(keys, 3, 8), (Keys{635, 131, 23, 214, 393, 14, 207, 28}));
  // Far beyond what 32 bits hold.
  EXPECT_EQ(keys.key(3, 1'000'000'007), 28);
  const std::int64_t far = std::int64_t{1} << 62;
  EXPECT_EQ(keys.key(3, far), keys.all()[(4 * kShards * (far / 4 % 1024) + 3) % 1024]);
}

TEST(BalancedKeys, AreRoundedUpToWholeRounds) {
  const ShardKeys keys({KeyDistribution::kBalanced, 1000, 1000}, kShards, kGroups);
  EXPECT_EQ(keys.count(), 1024);
  EXPECT_EQ(keys.active(), 1024);
  const ShardKeys some({KeyDistribution::kBalanced, 1000, 130}, kShards, kGroups);
  EXPECT_EQ(some.count(), 1024);
  EXPECT_EQ(some.active(), 130);  // as many as were asked for
  EXPECT_EQ(some.key(0, 0), some.all()[0]);
  EXPECT_EQ(some.key(10, 10), some.all()[0]);  // 10 * 12 + 10 = 130
  const ShardKeys few({KeyDistribution::kBalanced, 10, 10}, 1, 12);
  EXPECT_EQ(few.all(), (Keys{32, 17, 30, 18, 26, 3, 1, 4, 16, 13, 0, 2}));
}

TEST(BalancedKeys, WorkWhereTheStepMissesKeyGroups) {
  const ShardKeys keys({KeyDistribution::kBalanced, 74, 74}, 1, 74);  // 2 * 37
  for (const std::int64_t key : keys.all()) {
    EXPECT_TRUE(group_of(key, 74) == 0 || group_of(key, 74) == 37) << key;
  }
}

TEST(UniformKeys, AreDrawnByAMixerOverShardAndRecord) {
  const ShardKeys keys({KeyDistribution::kUniform, 500, 500}, kShards, kGroups);
  EXPECT_EQ(first(keys, 0, 10), (Keys{117, 455, 479, 367, 189, 205, 240, 107, 426, 107}));
  EXPECT_EQ(first(keys, 5, 10), (Keys{106, 413, 309, 243, 185, 136, 103, 242, 287, 223}));
  EXPECT_EQ(keys.key(0, 123'456'789), 207);
  EXPECT_EQ(keys.key(5, 123'456'789), 320);
  EXPECT_EQ(keys.largest(), 499);
}

TEST(UniformKeys, OnlyActiveOnesComeAndAllAreKept) {
  const ShardKeys keys({KeyDistribution::kUniform, 500, 3}, kShards, kGroups);
  for (const std::int64_t key : first(keys, 0, 1000)) EXPECT_LT(key, 3);
  EXPECT_EQ(keys.all().size(), 500u);
  EXPECT_EQ(keys.all().back(), 499);
}

TEST(ZipfKeys, AreTheFirstOnesWhoseShareIsReached) {
  const ShardKeys keys({KeyDistribution::kZipf, 1000, 1000, 1000}, kShards, kGroups);
  EXPECT_EQ(first(keys, 0, 16),
            (Keys{2, 513, 738, 137, 9, 11, 20, 2, 334, 2, 199, 11, 30, 7, 13, 1}));
  EXPECT_EQ(first(keys, 5, 16), (Keys{2, 274, 57, 20, 8, 3, 2, 20, 40, 15, 5, 1, 37, 9, 4, 2}));
  const ShardKeys flatter({KeyDistribution::kZipf, 1000, 1000, 750}, kShards, kGroups);
  EXPECT_EQ(first(flatter, 0, 16),
            (Keys{14, 730, 869, 362, 50, 62, 98, 12, 589, 12, 447, 61, 135, 44, 69, 7}));
}

TEST(ZipfKeys, AreUniformWithoutAnExponent) {
  const ShardKeys keys({KeyDistribution::kZipf, 1000, 1000, 0}, kShards, kGroups);
  const ShardKeys uniform({KeyDistribution::kUniform, 1000, 1000}, kShards, kGroups);
  int same = 0;
  for (std::int64_t seq = 0; seq < 1000; ++seq) same += keys.key(1, seq) == uniform.key(1, seq);
  EXPECT_EQ(same, 1000);
}

// --- powers --------------------------------------------------------------------------------------

std::int64_t ulps_apart(double a, double b) {
  return std::abs(std::bit_cast<std::int64_t>(a) - std::bit_cast<std::int64_t>(b));
}

// Correctly rounded powers of doubles, by 300 bits of arithmetic.
struct PowerCase {
  std::int64_t n;
  std::int64_t exponent_milli;
  double value;
};
constexpr PowerCase kPowers[] = {
    {1, 750, 1.0},
    {2, 500, 0x1.6a09e667f3bcdp-1},
    {3, 500, 0x1.279a74590331cp-1},
    {3, 750, 0x1.c1384d50fec88p-2},
    {10, 1500, 0x1.030dc4ea03a72p-5},
    {999, 750, 0x1.70d00a27c5faap-8},
    {1000, 990, 0x1.18e4717dfb182p-10},
    {65536, 1100, 0x1.51cb453b95366p-18},
    {123456, 1, 0x1.fa0854da9bda2p-1},
    {9999999, 333, 0x1.31d4746f86444p-8},
    {7, 9999, 0x1.e77ff9ecff0d7p-29},
    {9999999, 10000, 0x1.615ea9018241fp-233},
    {10000000, 2000, 0x1.6849b86a12b9bp-47},
    {std::int64_t{1} << 40, 10000, 0x1p-400},
    {10, 3000, 0x1.0624dd2f1a9fcp-10},
    {3, 10000, 0x1.1c1fa5f678884p-16},
};

TEST(InversePower, IsThatOfExactArithmetic) {
  for (const PowerCase& row : kPowers) {
    EXPECT_EQ(ulps_apart(inverse_power(row.n, row.exponent_milli), row.value), 0)
        << row.n << " to the " << row.exponent_milli;
  }
}

TEST(InversePower, OfOneIsOnePlainDivision) {
  for (std::int64_t n = 1; n < 2000; ++n) {
    EXPECT_EQ(inverse_power(n, 1000), 1.0 / static_cast<double>(n));
  }
}

TEST(InversePower, FallsWithTheNumberAndWithTheExponent) {
  for (std::int64_t milli = 1; milli <= 10'000; milli += 37) {
    for (std::int64_t n = 2; n < 5000; n += 113) {
      EXPECT_LT(inverse_power(n + 1, milli), inverse_power(n, milli));
      EXPECT_LT(inverse_power(n, milli + 1), inverse_power(n, milli));
    }
  }
}

// --- texts ---------------------------------------------------------------------------------------

TEST(RecordText, HasTheKeyASpaceAndFilling) {
  std::string text = filled_text(30, '.');
  EXPECT_EQ(text, "................");  // 30 - 13 - 1
  put_key(text, 4711);
  EXPECT_EQ(text, "4711 ...........");
  std::string tight = filled_text(18, '.');
  put_key(tight, 4711);
  EXPECT_EQ(tight, "4711");
  tight = filled_text(18, '.');
  put_key(tight, 7);
  EXPECT_EQ(tight, "7 ..");
}

TEST(RecordText, HasALetterOfTwoBytesWhereTheLengthNeedsAnotherByte) {
  EXPECT_EQ(text_units(140), 126);
  EXPECT_EQ(text_units(141), 126);
  EXPECT_EQ(text_units(142), 127);
  EXPECT_EQ(filled_text(140, '.').size(), 126u);
  EXPECT_EQ(filled_text(141, '.'), std::string(125, '.') + "\xc3\xa4");
  EXPECT_EQ(filled_text(142, '.').size(), 127u);
}

}  // namespace
}  // namespace tailrace::scenarios
