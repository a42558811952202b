#include "scenarios/world/shard_log.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "engine/network/record_codec.hpp"

namespace tailrace::scenarios {
namespace {

constexpr std::int32_t kGroups = 128;

Time at_ns(std::int64_t value) {
  return Time{value};
}
Time ms_on(std::int64_t value) {
  return Time{} + Duration::millis(value);
}

OfferedLoad::Step rate_from(Time from, std::int64_t records, Duration per = Duration::seconds(1)) {
  return {.from = from, .records = records, .per = per};
}
OfferedLoad::Step as_fast_as_possible(Time from) {
  return {.from = from, .max = true};
}
OfferedLoad in_steps(std::vector<OfferedLoad::Step> list) {
  OfferedLoad load;
  load.kind = OfferedLoad::Kind::kSteps;
  load.steps = std::move(list);
  return load;
}

class MovedClock final : public engine::Clock {
 public:
  [[nodiscard]] Time now() const override { return now_; }
  void set(Time now) { now_ = now; }

 private:
  Time now_;
};

class ShardLogTest : public testing::Test {
 protected:
  ShardLog log(std::int32_t shards, OfferedLoad load, std::int64_t bytes = 512) {
    OperatorSpec source;
    source.shards = shards;
    source.record_bytes = bytes;
    source.keys = {KeyDistribution::kBalanced, 1024, 1024};
    source.load = std::move(load);
    return ShardLog(source, kGroups, clock_);
  }
  MovedClock clock_;
};

// Shard i's first record is due i / shards of its interval after the rate begins.
TEST_F(ShardLogTest, ShardsShareTheRateEvenly) {
  const ShardLog shards = log(12, in_steps({rate_from(ms_on(0), 0), rate_from(ms_on(1000), 1000)}));
  EXPECT_EQ(shards.due(0, 0).at, ms_on(1000));
  EXPECT_EQ(shards.due(1, 0).at, ms_on(1001));
  EXPECT_EQ(shards.due(11, 0).at, ms_on(1011));
  EXPECT_EQ(shards.due(0, 1).at, ms_on(1012));
  EXPECT_EQ(shards.due(5, 1000).at, ms_on(13'005));
  EXPECT_FALSE(shards.due(5, 1000).when_read);
}

// 700 / s over 12 shards: an interval of 17 142 857 1/7 ns, rounded down once and not each time.
TEST_F(ShardLogTest, DueTimesDoNotDrift) {
  const ShardLog shards = log(12, in_steps({rate_from(ms_on(0), 700)}));
  EXPECT_EQ(shards.due(0, 1).at, at_ns(17'142'857));
  EXPECT_EQ(shards.due(0, 7).at, at_ns(120'000'000));
  EXPECT_EQ(shards.due(7, 7'000'000).at, at_ns(120'000'010'000'000));
  EXPECT_EQ(shards.due(1, 0).at, at_ns(1'428'571));
}

// At 10 / s a record is due every 100 ms. At 250 ms half of the way to the fourth one is behind;
// the other half takes 5 ms at 100 / s.
TEST_F(ShardLogTest, AChangeOfTheRateKeepsThePartOfTheWayThatIsBehind) {
  const ShardLog one = log(
      1, in_steps({rate_from(ms_on(0), 10), rate_from(ms_on(250), 100), rate_from(ms_on(268), 1)}));
  EXPECT_EQ(one.due(0, 2).at, ms_on(200));
  EXPECT_EQ(one.due(0, 3).at, ms_on(255));
  EXPECT_EQ(one.due(0, 4).at, ms_on(265));
  EXPECT_EQ(one.due(0, 5).at, ms_on(268 + 700));  // 0.3 of 10 ms are behind, 0.7 of 1 s to come
  // The same for each of several shards, which are so much further apart.
  const ShardLog two = log(2, in_steps({rate_from(ms_on(0), 20), rate_from(ms_on(125), 200)}));
  EXPECT_EQ(two.due(0, 1).at, ms_on(100));
  EXPECT_EQ(two.due(1, 1).at, at_ns(127'500'000));
  EXPECT_EQ(two.due(0, 2).at, at_ns(132'500'000));
}

TEST_F(ShardLogTest, FractionsAreKeptWhateverTheSpansOfTheRates) {
  // 7 a minute for 1 s: 7/60 of a record. 5 an hour for 1 s: 5/3600 more. Then 1/s.
  const ShardLog one = log(
      1, in_steps({rate_from(ms_on(0), 7, Duration::seconds(60)),
                   rate_from(ms_on(1000), 5, Duration::seconds(3600)), rate_from(ms_on(2000), 1)}));
  // 1 - 425/3600 = 3175/3600 s.
  EXPECT_EQ(one.due(0, 1).at, at_ns(2'881'944'444));
}

TEST_F(ShardLogTest, NothingComesWhileTheRateIsZero) {
  const ShardLog one = log(1, in_steps({rate_from(ms_on(0), 10), rate_from(ms_on(1000), 0),
                                        rate_from(ms_on(5000), 10)}));
  EXPECT_EQ(one.due(0, 9).at, ms_on(900));
  EXPECT_EQ(one.due(0, 10).at, ms_on(5000));  // it would have been due at the very change
  EXPECT_EQ(one.due(0, 11).at, ms_on(5100));
  const ShardLog never = log(1, in_steps({rate_from(ms_on(0), 10), rate_from(ms_on(1000), 0)}));
  EXPECT_EQ(never.due(0, 10).at, Time::max());
  const ShardLog rare =
      log(1, in_steps({rate_from(ms_on(0), 1, Duration::seconds(3'600'000'000))}));
  EXPECT_EQ(rare.due(0, 1'000'000).at, Time::max());
}

TEST_F(ShardLogTest, OfMaxRecordsComeWhenTheyAreRead) {
  ShardLog shards = log(2, in_steps({rate_from(ms_on(0), 10), rate_from(ms_on(1000), 0),
                                     as_fast_as_possible(ms_on(3000))}));
  EXPECT_EQ(shards.due(1, 4).at, ms_on(900));
  EXPECT_FALSE(shards.due(1, 4).when_read);
  EXPECT_EQ(shards.due(0, 5).at, ms_on(3000));
  EXPECT_TRUE(shards.due(0, 5).when_read);
  clock_.set(ms_on(4000));
  EXPECT_EQ(shards.lines_offered(), 10);
  for (std::int64_t seq = 0; seq < 8; ++seq) shards.emitted(1, seq);
  EXPECT_EQ(shards.lines_offered(), 13);
  ShardLog all = log(3, {});
  EXPECT_TRUE(all.due(2, 0).when_read);
  EXPECT_EQ(all.due(2, 0).at, ms_on(0));
  all.emitted(2, 0);
  EXPECT_EQ(all.lines_offered(), 1);
}

// What is offered is what is due, whatever the rates.
RC_GTEST_FIXTURE_PROP(ShardLogTest, CountsWhatIsDue, ()) {
  std::vector<OfferedLoad::Step> list = {
      rate_from(ms_on(0), *rc::gen::inRange<std::int64_t>(0, 50))};
  const int changes = *rc::gen::inRange(0, 4);
  for (int i = 0; i < changes; ++i) {
    list.push_back(rate_from(
        list.back().from + Duration::nanos(*rc::gen::inRange<std::int64_t>(1, 2'000'000'000)),
        *rc::gen::inRange<std::int64_t>(0, 50),
        *rc::gen::element(Duration::seconds(1), Duration::seconds(60))));
  }
  const std::int32_t count = *rc::gen::inRange(1, 5);
  const ShardLog shards = log(count, in_steps(list));
  clock_.set(at_ns(*rc::gen::inRange<std::int64_t>(0, 8'000'000'000)));
  std::int64_t due = 0;
  Time before{};
  for (std::int64_t seq = 0; seq < 500; ++seq) {
    for (std::int32_t shard = 0; shard < count; ++shard) {
      const Time at = shards.due(shard, seq).at;
      RC_ASSERT(at >= before);
      before = at;
      if (at <= clock_.now()) ++due;
    }
  }
  RC_ASSERT(shards.lines_offered() == due);
}

TEST_F(ShardLogTest, RecordsHaveTheirSizeOnTheWireAndTheirKeyInFront) {
  for (const std::int64_t bytes :
       {18, 64, 140, 141, 142, 512, 3000, 16'396, 16'397, 16'398, 70'000}) {
    const ShardLog shards = log(12, {}, bytes);
    std::string scratch;
    for (const std::int64_t seq : {0, 1, 84, 1'000'000}) {
      const std::string_view text = shards.text(3, seq, scratch);
      std::vector<std::byte> wire;
      engine::append_record(wire, {text, 0, ms_on(seq)}, engine::RecordType::kNumberedString);
      EXPECT_EQ(wire.size(), static_cast<std::size_t>(bytes));
    }
    EXPECT_EQ(engine::leading_number(shards.text(3, 0, scratch)), 635);
    EXPECT_EQ(engine::leading_number(shards.text(3, 1, scratch)), 131);
  }
}

TEST_F(ShardLogTest, TellsWhatWasReadAgain) {
  ShardLog shards = log(3, {});
  shards.started(0, 0, false);
  for (std::int64_t seq = 0; seq < 10; ++seq) shards.emitted(0, seq);
  clock_.set(ms_on(77));
  shards.started(0, 4, true);
  for (std::int64_t seq = 4; seq < 12; ++seq) shards.emitted(0, seq);
  EXPECT_EQ(shards.lines_replayed(), 6);
  EXPECT_EQ(shards.lines_read(0), 12);
  EXPECT_EQ(shards.lines_in(0), 12);
  EXPECT_EQ(shards.lines_read(1), 0);
  ASSERT_EQ(shards.restores().size(), 1u);
  EXPECT_EQ(shards.restores()[0].shard, 0);
  EXPECT_EQ(shards.restores()[0].at, ms_on(77));
  EXPECT_EQ(shards.restores()[0].from, 4);
  EXPECT_EQ(shards.restores()[0].read_before, 10);
  EXPECT_FALSE(shards.exhausted());
  EXPECT_FALSE(shards.finite());
}

TEST_F(ShardLogTest, LinesCanBeHadAgain) {
  const ShardLog shards = log(12, {}, 30);
  std::vector<std::string> lines;
  shards.for_each_line(3, 3, [&](std::string_view line) { lines.emplace_back(line); });
  EXPECT_EQ(lines,
            (std::vector<std::string>{"635 ............", "131 ............", "23 ............."}));
}

}  // namespace
}  // namespace tailrace::scenarios
