#include "scenarios/world/file_log.hpp"

#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tailrace::scenarios {
namespace {

class SetClock final : public engine::Clock {
 public:
  [[nodiscard]] Time now() const override { return now_; }
  void set_ms(std::int64_t ms) { now_ = at_ms(ms); }
  static Time at_ms(std::int64_t ms) { return Time{} + Duration::millis(ms); }

 private:
  Time now_;
};

OfferedLoad max() {
  return {};
}
OfferedLoad over_ms(std::int64_t ms) {
  OfferedLoad load;
  load.kind = OfferedLoad::Kind::kOver;
  load.over = Duration::millis(ms);
  return load;
}
OfferedLoad steps(std::vector<OfferedLoad::Step> steps) {
  OfferedLoad load;
  load.kind = OfferedLoad::Kind::kSteps;
  load.steps = std::move(steps);
  return load;
}
Time at_ms(std::int64_t ms) {
  return SetClock::at_ms(ms);
}

class FileLogTest : public testing::Test {
 protected:
  FileLog log(const std::string& text, std::int32_t partitions, OfferedLoad load = max(),
              bool finite = false) {
    return FileLog(text, partitions, std::move(load), finite, clock_);
  }
  // Reads a partition to its end, as a source does.
  static std::vector<std::string> drain(const FileLog& log, std::int32_t partition) {
    std::vector<std::string> lines;
    std::int64_t at = log.begin(partition);
    while (const auto line = log.read(partition, at)) {
      lines.emplace_back(line->text);
      at = line->next;
    }
    return lines;
  }
  using Lines = std::vector<std::string>;
  SetClock clock_;
};

TEST_F(FileLogTest, IsCutAtLineEndsIntoPartsOfAboutEqualLength) {
  const FileLog parts = log("aaaa\nbbbb\ncccc\ndddd\n", 2);
  EXPECT_EQ(drain(parts, 0), (Lines{"aaaa", "bbbb"}));
  EXPECT_EQ(drain(parts, 1), (Lines{"cccc", "dddd"}));
  EXPECT_EQ(parts.begin(0), 0);
  EXPECT_EQ(parts.end(0), 10);
  EXPECT_EQ(parts.begin(1), 10);
  EXPECT_EQ(parts.end(1), 20);
}

TEST_F(FileLogTest, ALineAcrossACutBelongsToThePartInWhichItBegins) {
  const FileLog parts = log("a\na line across the even cut\nb\n", 2);
  EXPECT_EQ(drain(parts, 0), (Lines{"a", "a line across the even cut"}));
  EXPECT_EQ(drain(parts, 1), Lines{"b"});
}

TEST_F(FileLogTest, HasEveryLineOnceWhateverTheNumberOfParts) {
  std::string text;
  Lines wanted;
  for (int i = 0; i < 57; ++i) {
    wanted.push_back(std::string(static_cast<std::size_t>(i * 7 % 13), 'x') + std::to_string(i));
    text += wanted.back() + '\n';
  }
  for (std::int32_t partitions = 1; partitions <= 80; ++partitions) {
    const FileLog parts = log(text, partitions);
    Lines lines;
    for (std::int32_t p = 0; p < partitions; ++p) {
      EXPECT_EQ(parts.begin(p), p == 0 ? 0 : parts.end(p - 1));
      const Lines part = drain(parts, p);
      EXPECT_EQ(static_cast<std::int64_t>(part.size()), parts.lines_in(p));
      lines.insert(lines.end(), part.begin(), part.end());
    }
    EXPECT_EQ(lines, wanted) << partitions;
    EXPECT_EQ(parts.end(partitions - 1), static_cast<std::int64_t>(text.size()));
  }
}

TEST_F(FileLogTest, EmptyLinesAndALastLineWithoutEndCount) {
  EXPECT_EQ(drain(log("\n\nlast", 1), 0), (Lines{"", "", "last"}));
  EXPECT_EQ(drain(log("a\r\n", 1), 0), Lines{"a\r"});
  EXPECT_EQ(drain(log("", 1), 0), Lines{});
  EXPECT_EQ(drain(log("only", 3), 0), Lines{"only"});
}

TEST_F(FileLogTest, WithRateMaxALineHasNoTimeOfItsOwn) {
  const FileLog lines = log("a\nb\n", 1);
  EXPECT_FALSE(lines.read(0, 0)->offered.has_value());
  EXPECT_FALSE(lines.offered_until().has_value());
  EXPECT_EQ(lines.lines_offered(), 0);
  EXPECT_TRUE(lines.read(0, 2).has_value());  // stands before the second
  EXPECT_EQ(lines.lines_offered(), 1);
}

// Partitions take turns as long as they have lines left.
// The rate is that of the log, whatever the lengths of its lines do to its partitions.
TEST_F(FileLogTest, UnevenPartitionsLeaveNoGapsInTheRate) {
  const FileLog lines = log(std::string(30, 'x') + "\na\nb\nc\nd\n", 2, over_ms(500));
  ASSERT_EQ(lines.lines_in(0), 1);
  ASSERT_EQ(lines.lines_in(1), 4);
  for (std::int64_t line = 0; line < 5; ++line) {
    clock_.set_ms(100 * line);
    EXPECT_EQ(lines.lines_offered(), line + 1);
  }
  EXPECT_EQ(lines.offered_until(), at_ms(400));
}

TEST_F(FileLogTest, OverATimeAllPartitionsGrowEvenly) {
  const FileLog lines = log("a\nb\nc\nd\n", 2, over_ms(400));
  EXPECT_EQ(lines.read(0, 0)->offered, at_ms(0));
  EXPECT_EQ(lines.read(1, 4)->offered, at_ms(100));
  EXPECT_EQ(lines.read(0, 2)->offered, at_ms(200));
  EXPECT_EQ(lines.read(1, 6)->offered, at_ms(300));
  EXPECT_EQ(lines.offered_until(), at_ms(300));
  for (const auto& [now_ms, offered] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {0, 1}, {99, 1}, {100, 2}, {299, 3}, {300, 4}, {9999, 4}}) {
    clock_.set_ms(now_ms);
    EXPECT_EQ(lines.lines_offered(), offered) << now_ms;
  }
}

TEST_F(FileLogTest, StepsChangeThePaceWhereTheySay) {
  // 10 a second from 0 s, none from 0.25 s, 100 a second from 1 s.
  const Duration second = Duration::seconds(1);
  const FileLog lines =
      log("a\nb\nc\nd\ne\n", 1,
          steps({{at_ms(0), 10, second}, {at_ms(250), 0, second}, {at_ms(1000), 100, second}}));
  EXPECT_EQ(lines.read(0, 0)->offered, at_ms(0));
  EXPECT_EQ(lines.read(0, 2)->offered, at_ms(100));
  EXPECT_EQ(lines.read(0, 4)->offered, at_ms(200));
  EXPECT_EQ(lines.read(0, 6)->offered, at_ms(1000));
  EXPECT_EQ(lines.read(0, 8)->offered, at_ms(1010));
  clock_.set_ms(999);
  EXPECT_EQ(lines.lines_offered(), 3);
  clock_.set_ms(1010);
  EXPECT_EQ(lines.lines_offered(), 5);
}

TEST_F(FileLogTest, WhatALastStepOfNothingLeavesNeverComes) {
  const FileLog lines =
      log("a\nb\nc\n", 1,
          steps({{at_ms(0), 1, Duration::seconds(1)}, {at_ms(1500), 0, Duration::seconds(1)}}));
  EXPECT_EQ(lines.read(0, 2)->offered, at_ms(1000));
  EXPECT_EQ(lines.read(0, 4)->offered, Time::max());
  clock_.set_ms(1'000'000);
  EXPECT_EQ(lines.lines_offered(), 2);
}

TEST_F(FileLogTest, CountsWhatIsReadAgain) {
  const FileLog lines = log("a\nb\nc\n", 1);
  drain(lines, 0);
  EXPECT_EQ(lines.lines_replayed(), 0);
  EXPECT_EQ(lines.lines_read(0), 3);
  static_cast<void>(lines.read(0, 2));  // b
  static_cast<void>(lines.read(0, 4));  // c
  EXPECT_EQ(lines.lines_replayed(), 2);
  static_cast<void>(lines.read(0, 6));  // the end: nothing behind it
  EXPECT_EQ(lines.lines_replayed(), 2);
  EXPECT_EQ(lines.lines_read(0), 3);
}

// Looking at a line does not consume it: a source peeks at the line behind the one that it emits.
TEST_F(FileLogTest, ALineIsReadOnceSomebodyStandsBehindIt) {
  const FileLog lines = log("a\nb\n", 1);
  static_cast<void>(lines.read(0, 0));
  EXPECT_EQ(lines.lines_read(0), 0);
  static_cast<void>(lines.read(0, 0));
  EXPECT_EQ(lines.lines_replayed(), 0);
  static_cast<void>(lines.read(0, 2));
  EXPECT_EQ(lines.lines_read(0), 1);
}

TEST_F(FileLogTest, IsExhaustedWhenEveryPartitionWasReadToItsEnd) {
  FileLog lines = log("aa\nbb\n", 2);
  std::int32_t told = 0;
  lines.on_exhausted([&told] { ++told; });
  drain(lines, 0);
  EXPECT_FALSE(lines.exhausted());
  drain(lines, 1);
  EXPECT_TRUE(lines.exhausted());
  drain(lines, 1);
  EXPECT_EQ(told, 1);
}

TEST_F(FileLogTest, PositionsAndLinesAgree) {
  const FileLog lines = log("a\nbb\nccc\n", 1);
  EXPECT_EQ(lines.lines_before(0, 0), 0);
  EXPECT_EQ(lines.lines_before(0, 2), 1);
  EXPECT_EQ(lines.lines_before(0, 5), 2);
  EXPECT_EQ(lines.lines_before(0, 9), 3);
  Lines visited;
  lines.for_each_line(0, 2, [&visited](std::string_view line) { visited.emplace_back(line); });
  EXPECT_EQ(visited, (Lines{"a", "bb"}));
  EXPECT_EQ(lines.lines_read(0), 0);  // the audit's reading is none
}

TEST_F(FileLogTest, SaysWhetherItsSourceEnds) {
  EXPECT_FALSE(log("a\n", 1).finite());
  EXPECT_TRUE(log("a\n", 1, max(), true).finite());
}

// What a text takes on the wire, counted by the rules of the format and not by the log's code.
std::int64_t bytes_on_the_wire(const std::string& text) {
  std::int64_t characters = 0;
  std::int64_t bytes = 4 + 1 + 8;
  for (std::size_t at = 0; at < text.size(); ++characters) {
    // A character from U+0080 to U+07FF is two bytes here, and two of 7 bits there.
    const std::int64_t both = (static_cast<unsigned char>(text[at]) & 0x80) != 0 ? 2 : 1;
    at += static_cast<std::size_t>(both);
    bytes += both;
  }
  for (std::int64_t rest = characters + 1; rest > 0; rest /= 128) ++bytes;
  return bytes;
}

TEST(MadeUpText, HasExactlyTheSizeThatWasAskedFor) {
  for (std::int64_t bytes = 15; bytes <= 40'000; bytes += bytes < 300 ? 1 : 97) {
    ASSERT_EQ(bytes_on_the_wire(made_up_text(bytes, 999)), bytes);
  }
  for (std::int64_t bytes = 16'380; bytes <= 16'420; ++bytes) {
    ASSERT_EQ(bytes_on_the_wire(made_up_text(bytes, 0)), bytes);
  }
}

TEST(MadeUpText, IsOneOfAThousandWordsWhereThereIsRoom) {
  std::set<std::string> texts;
  for (std::int32_t i = 0; i < kMadeUpTexts; ++i) texts.insert(made_up_text(29, i));
  EXPECT_EQ(texts.size(), 1000u);
  EXPECT_EQ(*texts.begin(), std::string(15, 'a'));
}

TEST_F(FileLogTest, MadeUpRecordsAreDealtOutAndReadLikeLines) {
  const FileLog made_up(MadeUpRecords{1003, 29}, 4, max(), true, clock_);
  std::int64_t lines = 0;
  for (std::int32_t partition = 0; partition < 4; ++partition) {
    const Lines texts = drain(made_up, partition);
    EXPECT_EQ(static_cast<std::int64_t>(texts.size()), made_up.lines_in(partition));
    EXPECT_EQ(made_up.lines_before(partition, made_up.end(partition)), made_up.lines_in(partition));
    std::size_t at = 0;
    made_up.for_each_line(partition, made_up.lines_in(partition), [&](std::string_view line) {
      EXPECT_EQ(line, texts[at++]);
      EXPECT_EQ(line.size(), 15u);
    });
    lines += static_cast<std::int64_t>(at);
  }
  EXPECT_EQ(lines, 1003);
  EXPECT_TRUE(made_up.exhausted());
}

// The log as a whole grows at the rate that was asked for, one record of each partition in turn.
TEST_F(FileLogTest, MadeUpRecordsComeIntoBeingInTurn) {
  const FileLog made_up(MadeUpRecords{11, 29}, 3, steps({{Time{}, 10, Duration::seconds(1)}}),
                        false, clock_);
  std::vector<std::int64_t> offered;
  for (std::int32_t partition = 0; partition < 3; ++partition) {
    for (std::int64_t at = made_up.begin(partition); at < made_up.end(partition); ++at) {
      offered.push_back(made_up.read(partition, at)->offered->ns / 100'000'000);
    }
  }
  EXPECT_EQ(offered, (std::vector<std::int64_t>{0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8}));
  EXPECT_EQ(made_up.offered_until(), at_ms(1000));
}

}  // namespace
}  // namespace tailrace::scenarios
