// Debloating beside what is replayed: settings, Java's numbers, what must hold for any input.
#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "engine/network/f120/buffer_debloater.hpp"
#include "engine/network/java_numbers.hpp"
#include "engine/network/network_config.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

using base::Duration;

TEST(BufferDebloatConfiguration, HasFlinksDefaults) {
  const BufferDebloatConfiguration defaults = NetworkConfig{}.buffer_debloat;
  EXPECT_FALSE(defaults.enabled);
  EXPECT_EQ(defaults.period, Duration::millis(200));
  EXPECT_EQ(defaults.target, Duration::seconds(1));
  EXPECT_EQ(defaults.samples, 20);
  EXPECT_EQ(defaults.threshold_percentages, 25);
  EXPECT_EQ(defaults.min_buffer_bytes, 256);
  EXPECT_EQ(defaults.find_error(32768), "");
}

TEST(BufferDebloatConfiguration, RefusesWhatFlinkRefuses) {
  EXPECT_NE(BufferDebloatConfiguration{}.find_error(0), "");
  EXPECT_NE(BufferDebloatConfiguration{}.find_error(255), "");
  EXPECT_EQ(BufferDebloatConfiguration{}.find_error(256), "");
  EXPECT_NE(BufferDebloatConfiguration{.min_buffer_bytes = 0}.find_error(256), "");
  EXPECT_NE(BufferDebloatConfiguration{.samples = 0}.find_error(256), "");
  EXPECT_NE(BufferDebloatConfiguration{.target = Duration::micros(999)}.find_error(256), "");
  EXPECT_THROW(BufferDebloater({}, 255), base::InvariantViolation);
}

TEST(JavaNumbers, NarrowTowardsZeroAndToTheNearest) {
  EXPECT_EQ(java_narrow<std::int32_t>(-1.9), -1);
  EXPECT_EQ(java_narrow<std::int32_t>(1.9), 1);
  EXPECT_EQ(java_narrow<std::int32_t>(2147483647.5), 2147483647);
  EXPECT_EQ(java_narrow<std::int32_t>(1e10), std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(java_narrow<std::int32_t>(-1e10), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(java_narrow<std::int64_t>(1e19), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(java_narrow<std::int64_t>(-9223372036854775808.0),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(java_narrow<std::int64_t>(std::numeric_limits<double>::quiet_NaN()), 0);
}

TEST(JavaNumbers, WrapAround) {
  EXPECT_EQ(java_multiply(std::int32_t{65536}, std::int32_t{32768}),
            std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(java_multiply(std::int64_t{1} << 62, std::int64_t{4}), 0);
}

// More buffers than bytes in 32 bits: Flink's estimate wraps around, its sizes do not.
TEST(BufferDebloater, TheEstimateIsMultipliedInThirtyTwoBits) {
  BufferDebloater debloater({}, 32768);
  EXPECT_EQ(debloater.recalculate_buffer_size(std::int64_t{1} << 40, 65536), std::nullopt);
  EXPECT_EQ(debloater.last_estimated_time_to_consume(), Duration::millis(-1));
}

RC_GTEST_PROP(BufferDebloater, SizesStayInBoundsAndTheSendersKnowThemWithinTheThreshold, ()) {
  BufferDebloatConfiguration configuration;
  const auto max = *rc::gen::inRange(1, 1 << 20);
  configuration.min_buffer_bytes = *rc::gen::inRange(1, max + 1);
  configuration.samples = *rc::gen::inRange(1, 50);
  configuration.threshold_percentages = *rc::gen::inRange(0, 101);
  configuration.target = Duration::millis(*rc::gen::inRange(1, 10'000));
  BufferDebloater debloater(configuration, max);
  BufferSizeEMA average(max, configuration.min_buffer_bytes, configuration.samples);
  const auto runs = *rc::gen::container<std::vector<std::pair<std::int64_t, std::int32_t>>>(
      rc::gen::pair(rc::gen::inRange<std::int64_t>(0, 100'000'000), rc::gen::inRange(-1, 200)));
  std::int32_t announced = max;
  for (const auto& [throughput, in_use] : runs) {
    const std::optional<std::int32_t> size = debloater.recalculate_buffer_size(throughput, in_use);
    const std::int32_t wanted = average.calculate_buffer_size(
        throughput * configuration.target.millis_truncated() / 1000, std::max(1, in_use));
    RC_ASSERT(wanted >= configuration.min_buffer_bytes && wanted <= max);
    if (size) {
      RC_ASSERT(*size == wanted && *size != announced);
      announced = *size;
    } else {
      RC_ASSERT(std::abs(wanted - announced) * 100.0 <=
                announced * static_cast<double>(configuration.threshold_percentages));
      RC_ASSERT(wanted == announced || (wanted > configuration.min_buffer_bytes && wanted < max));
    }
    RC_ASSERT(debloater.last_buffer_size() == announced);
  }
}

}  // namespace
}  // namespace tailrace::engine
