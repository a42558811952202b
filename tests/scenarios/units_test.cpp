#include "scenarios/units.hpp"

#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "scenarios/edit_distance.hpp"

namespace tailrace::scenarios {
namespace {

struct Row {
  const char* text;
  std::optional<std::int64_t> value;  // none: an error
};

template <typename Parse>
void expect_rows(std::initializer_list<Row> rows, Parse parse) {
  for (const Row& row : rows) {
    const std::optional<std::int64_t> found = parse(row.text);
    EXPECT_EQ(found, row.value) << '"' << row.text << '"';
  }
}

std::optional<std::int64_t> ns(const Parsed<base::Duration>& parsed) {
  return parsed.ok() ? std::optional(parsed.value().ns) : std::nullopt;
}
std::optional<std::int64_t> plain(const Parsed<std::int64_t>& parsed) {
  return parsed.ok() ? std::optional(parsed.value()) : std::nullopt;
}

TEST(Units, DurationsHaveAUnitAndExactDecimals) {
  expect_rows({{"5ns", 5},
               {"5us", 5'000},
               {"250ms", 250'000'000},
               {"1.5s", 1'500'000'000},
               {"10 min", 600'000'000'000},
               {"10 minutes", 600'000'000'000},
               {"2h", 7'200'000'000'000},
               {"1d", 86'400'000'000'000},
               {"0s", 0},
               {"0.000000001s", 1},
               {"0.5ns", std::nullopt},
               {"5", std::nullopt},
               {"", std::nullopt},
               {"s", std::nullopt},
               {"-1s", std::nullopt},
               {"1e3s", std::nullopt},
               {"5 parsec", std::nullopt},
               {"1.s", std::nullopt},
               {"1..5s", std::nullopt},
               {"200d", std::nullopt},
               {"99999999999999999999s", std::nullopt},
               {"9223372036854775807d", std::nullopt}},
              [](const char* text) { return ns(parse_duration(text)); });
}

TEST(Units, ErrorsShowTheValidSpellings) {
  EXPECT_EQ(parse_duration("5").error(),
            "has no unit; write it as 5ns, 5us, 5ms, 5s, 5min, 5h or 5d");
  EXPECT_EQ(parse_duration("-3s").error(), "is negative, and a duration cannot be");
  EXPECT_EQ(parse_size("5Mb").error(),
            "is not a size: there is no unit \"Mb\"; write it as 5B, 5KB, 5MB, 5GB, 5TB (decimal) "
            "or 5KiB, 5MiB, 5GiB (binary)");
  EXPECT_EQ(parse_rate("5").error(), "has no unit; write it as 5/s, 5k/s, 5M/s, 5/min or 5/h");
}

TEST(Units, SizesAreDecimalOrBinaryByTheirUnit) {
  expect_rows({{"64MB", 64'000'000},
               {"64MiB", 67'108'864},
               {"1.5KiB", 1536},
               {"1B", 1},
               {"64mb", std::nullopt},
               {"64", std::nullopt},
               {"9999999999TB", std::nullopt}},
              [](const char* text) { return plain(parse_size(text)); });
}

TEST(Units, BandwidthsAreBitsOrBytes) {
  const auto parse = [](const char* text) -> std::optional<std::int64_t> {
    const Parsed<base::BytesPerSecond> parsed = parse_bandwidth(text);
    return parsed.ok() ? std::optional(parsed.value().value) : std::nullopt;
  };
  expect_rows({{"10Gbps", 1'250'000'000},
               {"8bps", 1},
               {"90MB/s", 90'000'000},
               {"1KiB/s", 1024},
               {"0MB/s", std::nullopt},
               {"4bps", std::nullopt},
               {"90MB", std::nullopt},
               {"10G", std::nullopt}},
              parse);
}

TEST(Units, RatesAreWholeEventsInATime) {
  const Parsed<EventRate> fifty = parse_rate("50k/s");
  EXPECT_EQ(fifty.value().count, 50'000);
  EXPECT_EQ(fifty.value().per, base::Duration::seconds(1));
  const Parsed<EventRate> half = parse_rate("0.5/s");
  EXPECT_EQ(half.value().count, 5);
  EXPECT_EQ(half.value().per, base::Duration::seconds(10));
  EXPECT_EQ(parse_rate("1.5k/s").value().count, 1500);
  EXPECT_EQ(parse_rate("6/min").value().per, base::Duration::seconds(60));
  EXPECT_EQ(parse_rate("0/s").value().count, 0);
  for (const char* text : {"", "/s", "k/s", "5/d", "-1/s", "2G/s", "9999999999999G/s", "5 x/s"}) {
    EXPECT_FALSE(parse_rate(text).ok()) << text;
  }
}

TEST(Units, SharesAndFactorsAndWholeNumbers) {
  expect_rows({{"20%", 200'000},
               {"0.5%", 5'000},
               {"100%", 1'000'000},
               {"101%", std::nullopt},
               {"20", std::nullopt},
               {"-1%", std::nullopt}},
              [](const char* text) { return plain(parse_percent(text)); });
  expect_rows(
      {{"8", 8000}, {"1.5", 1500}, {"0.125", 125}, {"0.0005", std::nullopt}, {"x", std::nullopt}},
      [](const char* text) { return plain(parse_milli(text)); });
  expect_rows({{"-7", -7},
               {"0", 0},
               {"9223372036854775807", INT64_MAX},
               {"9223372036854775808", std::nullopt},
               {"1.0", std::nullopt},
               {"1k", std::nullopt},
               {"+1", std::nullopt}},
              [](const char* text) { return plain(parse_integer(text)); });
}

// The rows of Flink's own TimeUtils and MemorySize in 1.10.
TEST(Units, FlinkDurationsAreWholeAndMillisecondsByDefault) {
  expect_rows({{"10", 10'000'000},
               {" 10  ms ", 10'000'000},
               {"1\tms", 1'000'000},
               {"00012 s", 12'000'000'000},
               {"1 MIN", 60'000'000'000},
               {"1 D", 86'400'000'000'000},
               {"5 m", std::nullopt},
               {"5 mins", std::nullopt},
               {"7 us", std::nullopt},
               {"7 micros", 7'000},
               {"1w", std::nullopt},
               {"1.5 s", std::nullopt},
               {"-1", std::nullopt},
               {"+5 s", std::nullopt},
               {"1_000 ms", std::nullopt},
               {"", std::nullopt},
               {"9223372036854775808", std::nullopt}},
              [](const char* text) { return ns(parse_flink_duration(text)); });
}

TEST(Units, FlinkMemoryIsBinary) {
  expect_rows({{"32kb", 32'768},
               {"32 KB", 32'768},
               {"1g", 1'073'741'824},
               {"17", 17},
               {"1 byte", std::nullopt},
               {"1kib", std::nullopt},
               {"1.5g", std::nullopt},
               {"8388608t", std::nullopt},
               {"9223372036854775807", INT64_MAX}},
              [](const char* text) { return plain(parse_flink_memory(text)); });
}

RC_GTEST_PROP(Units, NoTextCrashesAParser, (const std::string& text)) {
  static_cast<void>(parse_duration(text).ok());
  static_cast<void>(parse_bandwidth(text).ok());
  static_cast<void>(parse_rate(text).ok());
  static_cast<void>(parse_percent(text).ok());
  static_cast<void>(parse_milli(text).ok());
  static_cast<void>(parse_integer(text).ok());
  static_cast<void>(parse_flink_duration(text).ok());
  static_cast<void>(parse_flink_memory(text).ok());
}

TEST(NearestName, FindsWhatWasMeantAndNothingFarAway) {
  const std::string_view names[] = {"bandwidth", "latency", "parallelism", "max_parallelism"};
  EXPECT_EQ(nearest_name("paralelism", names), "parallelism");
  EXPECT_EQ(nearest_name("latnecy", names), "latency");
  EXPECT_EQ(nearest_name("Latency", names), "latency");
  EXPECT_EQ(nearest_name("colour", names), "");
  EXPECT_EQ(nearest_name("", names), "");
  EXPECT_EQ(nearest_name(std::string(5000, 'x'), names), "");
}

}  // namespace
}  // namespace tailrace::scenarios
