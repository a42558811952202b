#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/state/operator_state_backend.hpp"
#include "engine/task/operators/line_source.hpp"
#include "engine/task/operators/sinks.hpp"
#include "engine/task/operators/stateless.hpp"
#include "tests/engine/task/operator_fixture.hpp"

namespace tailrace::engine {
namespace {

using Texts = std::vector<std::string>;

Time ms_after_start(std::int64_t ms) {
  return Time{} + Duration::millis(ms);
}

// --- tokenize ------------------------------------------------------------------------------------

Texts tokens_of(const std::string& text) {
  CollectedOutput output;
  OperatorContext context;
  context.output = &output;
  const auto tokenize = make_tokenize_factory()->create();
  tokenize->initialize_state(context);
  tokenize->process({text, 0, ms_after_start(3)});
  for (const CollectedOutput::Row& row : output.rows) {
    EXPECT_EQ(row.number, 0);
    EXPECT_EQ(row.created, ms_after_start(3));
  }
  return output.texts();
}

TEST(Tokenize, FindsMaximalRunsOfAsciiLettersAndKeepsTheirCase) {
  EXPECT_EQ(tokens_of("The mill, the MILL."), (Texts{"The", "mill", "the", "MILL"}));
  EXPECT_EQ(tokens_of("it's 4th_of-July"), (Texts{"it", "s", "th", "of", "July"}));
  EXPECT_EQ(tokens_of("a"), (Texts{"a"}));
  EXPECT_EQ(tokens_of("@az[`AZ{"), (Texts{"az", "AZ"}));  // the neighbours of the letters
  EXPECT_EQ(tokens_of(""), Texts{});
  EXPECT_EQ(tokens_of(" 12 \t"), Texts{});
  EXPECT_EQ(tokens_of("na\xc3\xafve"), (Texts{"na", "ve"}));
  EXPECT_EQ(tokens_of(std::string("a\0b", 3)), (Texts{"a", "b"}));
}

TEST(Identity, EmitsWhatItGets) {
  CollectedOutput output;
  OperatorContext context;
  context.output = &output;
  const auto identity = make_identity_factory()->create();
  identity->initialize_state(context);
  identity->process({"a line", 7, ms_after_start(1)});
  EXPECT_EQ(output.rows, (std::vector<CollectedOutput::Row>{{"a line", 7, ms_after_start(1)}}));
}

// --- the line source -----------------------------------------------------------------------------

class LineSourceTest : public testing::Test {
 protected:
  // A subtask of the source with its own state backend.
  struct Subtask {
    OperatorStateBackend state;
    CollectedOutput output;
    std::unique_ptr<StreamOperator> made;
    [[nodiscard]] SourceOperator& source() { return dynamic_cast<SourceOperator&>(*made); }
    Texts drain() {
      output.rows.clear();
      while (source().emit_next()) continue;
      return output.texts();
    }
  };

  std::unique_ptr<Subtask> open(const FakeLog& log, std::int32_t subtask, std::int32_t parallelism,
                                const std::vector<PartitionPosition>* restored = nullptr) {
    auto opened = std::make_unique<Subtask>();
    if (restored != nullptr) {
      auto& list = opened->state.get_list_state<Bytes>(kLineSourceState);
      for (const PartitionPosition& position : *restored) list.add(encode_position(position));
    }
    OperatorContext context;
    context.subtask = subtask;
    context.parallelism = parallelism;
    context.restored = restored != nullptr;
    context.operator_state = &opened->state;
    context.clock = &clock_;
    context.output = &opened->output;
    opened->made = make_line_source_factory(log)->create();
    opened->made->initialize_state(context);
    return opened;
  }

  static std::vector<std::pair<std::int32_t, std::int64_t>> snapshot(Subtask& subtask) {
    subtask.made->snapshot_state(1);
    std::vector<std::pair<std::int32_t, std::int64_t>> positions;
    for (const Bytes& element : subtask.state.get_list_state<Bytes>(kLineSourceState).get()) {
      const PartitionPosition position = decode_position(element);
      positions.emplace_back(position.partition, position.position);
    }
    return positions;
  }
  using Positions = std::vector<std::pair<std::int32_t, std::int64_t>>;

  FakeClock clock_;
};

TEST_F(LineSourceTest, AFreshSubtaskOwnsEveryPthPartition) {
  const FakeLog log({{{"a", ms_after_start(0)}},
                     {{"b", ms_after_start(0)}},
                     {{"c", ms_after_start(0)}},
                     {{"d", ms_after_start(0)}},
                     {{"e", ms_after_start(0)}}});
  EXPECT_EQ(open(log, 0, 2)->drain(), (Texts{"a", "c", "e"}));
  EXPECT_EQ(open(log, 1, 2)->drain(), (Texts{"b", "d"}));
  EXPECT_EQ(open(log, 5, 6)->drain(), Texts{});  // more subtasks than partitions
}

TEST_F(LineSourceTest, EmitsInTheOrderInWhichLinesWereOfferedAndNoneBeforeItsTime) {
  const FakeLog log({{{"p0 at 0", ms_after_start(0)}, {"p0 at 30", ms_after_start(30)}},
                     {{"p1 at 10", ms_after_start(10)}, {"p1 at 30", ms_after_start(30)}}});
  const auto subtask = open(log, 0, 1);
  EXPECT_EQ(subtask->drain(), Texts{"p0 at 0"});
  EXPECT_EQ(subtask->source().next_due(), ms_after_start(10));
  clock_.set(ms_after_start(9));
  EXPECT_EQ(subtask->drain(), Texts{});
  clock_.set(ms_after_start(10));
  EXPECT_EQ(subtask->drain(), Texts{"p1 at 10"});
  clock_.set(ms_after_start(50));
  EXPECT_EQ(subtask->drain(), (Texts{"p0 at 30", "p1 at 30"}));  // the lower partition on a tie
  // A record is as old as the line, not as its emission.
  EXPECT_EQ(subtask->output.rows.front().created, ms_after_start(30));
}

TEST_F(LineSourceTest, ALineWithoutATimeComesIntoBeingWhenItIsRead) {
  const FakeLog log({{{"now", std::nullopt}}});
  clock_.set(ms_after_start(42));
  const auto subtask = open(log, 0, 1);
  EXPECT_EQ(subtask->drain(), Texts{"now"});
  EXPECT_EQ(subtask->output.rows.front().created, ms_after_start(42));
}

TEST_F(LineSourceTest, SnapshotsThePositionsOfAllItsPartitionsAndGoesOnFromThem) {
  const FakeLog log(
      {{{"a0", ms_after_start(0)}, {"a1", ms_after_start(2)}, {"a2", ms_after_start(4)}},
       {{"not mine", ms_after_start(0)}},
       {{"c0", ms_after_start(1)}, {"c1", ms_after_start(9)}}});
  const auto before = open(log, 0, 2);
  clock_.set(ms_after_start(2));
  EXPECT_EQ(before->drain(), (Texts{"a0", "c0", "a1"}));
  const Positions positions = snapshot(*before);
  EXPECT_EQ(positions, (Positions{{0, 20}, {2, 10}}));

  clock_.set(ms_after_start(100));
  std::vector<PartitionPosition> restored;
  for (const auto& [partition, position] : positions) restored.push_back({partition, position});
  EXPECT_EQ(open(log, 0, 2, &restored)->drain(), (Texts{"a2", "c1"}));
}

TEST_F(LineSourceTest, ARestoredSubtaskReadsWhatItIsDealtInAnyOrderOfTheElements) {
  const FakeLog log(
      {{{"a", ms_after_start(0)}}, {{"b", ms_after_start(0)}}, {{"c", ms_after_start(0)}}});
  const std::vector<PartitionPosition> dealt = {{2, 0}, {0, 0}};
  const auto subtask = open(log, 1, 2, &dealt);  // afresh it would own partition 1
  EXPECT_EQ(subtask->drain(), (Texts{"a", "c"}));
  EXPECT_EQ(snapshot(*subtask), (Positions{{0, 10}, {2, 10}}));
}

TEST_F(LineSourceTest, AtTheEndItStaysIdleOrFinishes) {
  const FakeLog endless({{{"a", ms_after_start(0)}}});
  const auto idle = open(endless, 0, 1);
  EXPECT_EQ(idle->drain(), Texts{"a"});
  EXPECT_FALSE(idle->source().finished());
  EXPECT_EQ(idle->source().next_due(), std::nullopt);

  const FakeLog finite({{{"a", ms_after_start(0)}, {"b", ms_after_start(5)}}}, true);
  const auto ending = open(finite, 0, 1);
  EXPECT_EQ(ending->drain(), Texts{"a"});
  EXPECT_FALSE(ending->source().finished());  // one line is still to come
  clock_.set(ms_after_start(5));
  EXPECT_EQ(ending->drain(), Texts{"b"});
  EXPECT_TRUE(ending->source().finished());
  EXPECT_EQ(snapshot(*ending), (Positions{{0, 20}}));
}

TEST(PartitionPosition, IsTwelveBytesBigEndian) {
  const Bytes bytes = encode_position({0x01020304, 0x05060708090a0b0cLL});
  ASSERT_EQ(bytes.size(), 12u);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_EQ(std::to_integer<std::size_t>(bytes[i]), i + 1);
  }
  const PartitionPosition back = decode_position(bytes);
  EXPECT_EQ(back.partition, 0x01020304);
  EXPECT_EQ(back.position, 0x05060708090a0b0cLL);
}

}  // namespace
}  // namespace tailrace::engine
