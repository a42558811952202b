#include "analysis/statistics.hpp"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "analysis/time_text.hpp"

namespace tailrace::analysis {
namespace {

TEST(Percentiles, NoSampleHasNone) {
  const SortedSamples samples({});
  EXPECT_EQ(samples.percentile(500), std::nullopt);
  EXPECT_EQ(samples.min(), std::nullopt);
  EXPECT_EQ(samples.max(), std::nullopt);
}

TEST(Percentiles, AreTheNearestRankAndNeverBetweenTwoSamples) {
  const SortedSamples samples({40, 10, 30, 20});
  EXPECT_EQ(samples.percentile(250), 10);
  EXPECT_EQ(samples.percentile(251), 20);
  EXPECT_EQ(samples.percentile(500), 20);
  EXPECT_EQ(samples.percentile(990), 40);
  EXPECT_EQ(samples.percentile(1000), 40);
  EXPECT_EQ(samples.percentile(1), 10);
}

TEST(Percentiles, P999OfAThousandSamplesIsTheLastButOne) {
  std::vector<std::int64_t> samples(1000, 1);
  samples.back() = 99;
  EXPECT_EQ(SortedSamples(samples).percentile(999), 1);
  samples.assign(1000, 1);
  samples[0] = samples[1] = 99;
  EXPECT_EQ(SortedSamples(samples).percentile(999), 99);
}

RC_GTEST_PROP(Percentiles, SplitTheSamplesAtTheirShare, (std::vector<std::int64_t> samples)) {
  RC_PRE(!samples.empty());
  const auto permille = *rc::gen::inRange<std::int64_t>(1, 1001);
  const std::int64_t found = *SortedSamples(samples).percentile(permille);
  const auto count = static_cast<std::int64_t>(samples.size());
  const auto not_above = std::count_if(samples.begin(), samples.end(),
                                       [&](std::int64_t sample) { return sample <= found; });
  const auto below = std::count_if(samples.begin(), samples.end(),
                                   [&](std::int64_t sample) { return sample < found; });
  RC_ASSERT(not_above * 1000 >= permille * count);
  RC_ASSERT(below * 1000 < permille * count);
}

TEST(TimeText, TruncatesTowardsZero) {
  EXPECT_EQ(milliseconds(0), "0.000");
  EXPECT_EQ(milliseconds(999), "0.000");
  EXPECT_EQ(milliseconds(1'000), "0.001");
  EXPECT_EQ(milliseconds(1'234'567'999), "1234.567");
  EXPECT_EQ(milliseconds(-1'999), "-0.001");
  EXPECT_EQ(seconds(1'234'567), "0.001234567");
  EXPECT_EQ(seconds(60'000'000'000), "60.000000000");
  EXPECT_EQ(seconds(std::numeric_limits<std::int64_t>::min()), "-9223372036.854775808");
  EXPECT_EQ(hex64(0xabc), "0000000000000abc");
}

}  // namespace
}  // namespace tailrace::analysis
