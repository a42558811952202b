#include "engine/task/operators/shard_source.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/state/operator_state_backend.hpp"
#include "tests/engine/barrier/counting_allocator.hpp"
#include "tests/engine/task/operator_fixture.hpp"

namespace tailrace::engine {
namespace {

using Texts = std::vector<std::string>;

// Record n of shard s is "s:n", due n * 10 + s ms after the start; from record `free_from` on they
// come when they are read, from 100 ms on.
class FakeShards final : public ReplayableShards {
 public:
  explicit FakeShards(std::int32_t shards, std::int64_t free_from = 1'000'000)
      : shards_(shards), free_from_(free_from) {}

  [[nodiscard]] std::int32_t shard_count() const override { return shards_; }
  [[nodiscard]] Due due(std::int32_t shard, std::int64_t seq) const override {
    if (seq >= free_from_) return {Time{} + Duration::millis(100), true};
    return {Time{} + Duration::millis(seq * 10 + shard), false};
  }
  std::string_view text(std::int32_t shard, std::int64_t seq, std::string& scratch) const override {
    scratch = std::to_string(shard) + ':' + std::to_string(seq);
    return scratch;
  }
  void started(std::int32_t shard, std::int64_t seq, bool restored) override {
    starts.push_back(std::to_string(shard) + ':' + std::to_string(seq) + (restored ? "r" : ""));
  }
  void emitted(std::int32_t shard, std::int64_t seq) override { last = {shard, seq}; }

  Texts starts;
  std::pair<std::int32_t, std::int64_t> last{-1, -1};

 private:
  std::int32_t shards_;
  std::int64_t free_from_;
};

class ShardSourceTest : public testing::Test {
 protected:
  struct Subtask {
    OperatorStateBackend state;
    CollectedOutput output;
    std::unique_ptr<StreamOperator> made;
    [[nodiscard]] SourceOperator& source() { return dynamic_cast<SourceOperator&>(*made); }
    Texts read(int count) {
      output.rows.clear();
      while (count-- > 0 && source().emit_next()) continue;
      return output.texts();
    }
  };

  std::unique_ptr<Subtask> open(FakeShards& shards, std::int32_t subtask, std::int32_t parallelism,
                                const std::vector<Bytes>* restored = nullptr) {
    auto opened = std::make_unique<Subtask>();
    if (restored != nullptr) {
      opened->state.get_list_state<Bytes>(kShardSourceState).update(*restored);
    }
    OperatorContext context;
    context.subtask = subtask;
    context.parallelism = parallelism;
    context.restored = restored != nullptr;
    context.operator_state = &opened->state;
    context.clock = &clock_;
    context.output = &opened->output;
    opened->made = make_shard_source_factory(shards)->create();
    opened->made->initialize_state(context);
    return opened;
  }

  static std::vector<Bytes> snapshot(Subtask& subtask) {
    subtask.made->snapshot_state(1);
    return subtask.state.get_list_state<Bytes>(kShardSourceState).get();
  }

  void at_ms(std::int64_t ms) { clock_.set(Time{} + Duration::millis(ms)); }

  FakeClock clock_;
};

TEST_F(ShardSourceTest, AFreshSubtaskReadsEveryPthShardFromItsFirstRecordOn) {
  FakeShards shards(5);
  const auto subtask = open(shards, 1, 2);
  EXPECT_EQ(shards.starts, (Texts{"1:0", "3:0"}));
  at_ms(1000);
  EXPECT_EQ(subtask->read(4), (Texts{"1:0", "3:0", "1:1", "3:1"}));
}

TEST_F(ShardSourceTest, NoRecordComesBeforeItsTimeAndALateOneKeepsIt) {
  FakeShards shards(2);
  const auto subtask = open(shards, 0, 1);
  EXPECT_EQ(subtask->read(9), (Texts{"0:0"}));
  EXPECT_EQ(subtask->source().next_due(), Time{} + Duration::millis(1));
  at_ms(1);
  EXPECT_EQ(subtask->read(9), (Texts{"1:0"}));
  EXPECT_EQ(shards.last, (std::pair<std::int32_t, std::int64_t>{1, 0}));
  at_ms(500);
  EXPECT_EQ(subtask->read(3), (Texts{"0:1", "1:1", "0:2"}));
  EXPECT_EQ(subtask->output.rows[0].created, Time{} + Duration::millis(10));
  EXPECT_EQ(subtask->output.rows[1].created, Time{} + Duration::millis(11));
  EXPECT_FALSE(subtask->source().finished());
}

TEST_F(ShardSourceTest, RecordsThatComeWhenTheyAreReadAreTakenInTurn) {
  FakeShards shards(3, 1);
  const auto subtask = open(shards, 0, 1);
  at_ms(99);
  EXPECT_EQ(subtask->read(9), (Texts{"0:0", "1:0", "2:0"}));
  EXPECT_EQ(subtask->source().next_due(), Time{} + Duration::millis(100));
  at_ms(250);
  EXPECT_EQ(subtask->read(7), (Texts{"0:1", "1:1", "2:1", "0:2", "1:2", "2:2", "0:3"}));
  EXPECT_EQ(subtask->output.rows[5].created, Time{} + Duration::millis(250));
}

TEST_F(ShardSourceTest, LateRecordsWithATimeComeBeforeThoseWithout) {
  FakeShards shards(2, 3);
  const auto subtask = open(shards, 0, 1);
  at_ms(400);
  EXPECT_EQ(subtask->read(9),
            (Texts{"0:0", "1:0", "0:1", "1:1", "0:2", "1:2", "0:3", "1:3", "0:4"}));
}

TEST_F(ShardSourceTest, ARestoredSubtaskGoesOnBehindWhatTheSnapshotHas) {
  FakeShards shards(4);
  const auto first = open(shards, 0, 1);
  at_ms(1000);
  EXPECT_EQ(first->read(6).back(), "1:1");
  std::vector<Bytes> elements = snapshot(*first);
  EXPECT_EQ(first->read(2), (Texts{"2:1", "3:1"}));
  // Elements are dealt out in any order; reading does not depend on it.
  std::reverse(elements.begin(), elements.end());
  shards.starts.clear();
  const auto second = open(shards, 1, 7, &elements);
  EXPECT_EQ(shards.starts, (Texts{"3:1r", "2:1r", "1:2r", "0:2r"}));
  EXPECT_EQ(second->read(4), (Texts{"2:1", "3:1", "0:2", "1:2"}));
}

TEST_F(ShardSourceTest, ASubtaskThatIsDealtNothingReadsNothing) {
  FakeShards shards(4);
  const std::vector<Bytes> none;
  const auto subtask = open(shards, 0, 1, &none);
  at_ms(1000);
  EXPECT_EQ(subtask->read(1), Texts{});
  EXPECT_EQ(subtask->source().next_due(), std::nullopt);
  EXPECT_FALSE(subtask->source().finished());
}

TEST_F(ShardSourceTest, AllocatesNothingForARecord) {
  FakeShards shards(3, 20);
  const auto subtask = open(shards, 0, 1);
  at_ms(1000);
  subtask->output.rows.reserve(200);
  for (int i = 0; i < 10; ++i) subtask->source().emit_next();
  const std::size_t before = test::allocation_count();
  for (int i = 0; i < 150; ++i) subtask->source().emit_next();  // texts are short
  EXPECT_EQ(test::allocation_count(), before);
}

// As measured: 234 bytes and 32 for each split, of Flink 1.20.
TEST_F(ShardSourceTest, ASnapshotHas32BytesForEachShard) {
  for (const std::int32_t count : {1, 4, 6}) {
    FakeShards shards(count);
    const auto subtask = open(shards, 0, 1);
    static_cast<void>(snapshot(*subtask));
    const auto future = subtask->state.snapshot(1, true);
    while (future->step()) continue;
    EXPECT_EQ(future->take_stream().size(), 234u + 32u * static_cast<unsigned>(count));
  }
}

TEST_F(ShardSourceTest, ElementsKeepWhatWasWritten) {
  const ShardPosition position = decode_shard_position(
      encode_shard_position({70'000, std::int64_t{1} << 40, Time{123'456'789'012}}));
  EXPECT_EQ(position.shard, 70'000);
  EXPECT_EQ(position.seq, std::int64_t{1} << 40);
  EXPECT_EQ(position.due, Time{123'456'789'012});
}

}  // namespace
}  // namespace tailrace::engine
