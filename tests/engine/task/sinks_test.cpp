// The two-phase sink against spec rescale.md S-8.7 to S-8.13 and the rows TP-1, TP-2, TP-3, TP-6.
#include "engine/task/operators/sinks.hpp"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/state/operator_state_backend.hpp"
#include "tests/engine/task/operator_fixture.hpp"

namespace tailrace::engine {
namespace {

using Calls = std::vector<std::string>;

// Remembers every call; transactions are named t1, t2, … in the order of their beginning.
class FakeSystem final : public ExternalSystem {
 public:
  TransactionId begin() override {
    const TransactionId transaction = ++last_;
    note("begin", transaction);
    return transaction;
  }
  void write(TransactionId transaction, const Record& record) override {
    note("write " + std::string(record.text) + " to", transaction);
    open_[transaction].emplace_back(record.text);
  }
  bool commit(TransactionId transaction) override {
    note("commit", transaction);
    for (std::string& text : open_[transaction]) visible.push_back(std::move(text));
    open_[transaction].clear();
    return !aborted_.contains(transaction);
  }
  void abort(TransactionId transaction) override {
    note("abort", transaction);
    aborted_.insert(transaction);
    open_.erase(transaction);
  }
  void append(const Record& record) override {
    calls.push_back("append " + std::string(record.text));
    visible.emplace_back(record.text);
  }

  // The calls since the last time.
  Calls take_calls() { return std::exchange(calls, {}); }

  Calls calls;
  std::vector<std::string> visible;

 private:
  void note(const std::string& what, TransactionId transaction) {
    calls.push_back(what + " t" + std::to_string(transaction));
  }
  TransactionId last_ = 0;
  std::map<TransactionId, std::vector<std::string>> open_;
  std::set<TransactionId> aborted_;
};

class TwoPhaseSink : public testing::Test {
 protected:
  struct Subtask {
    OperatorStateBackend state;
    std::unique_ptr<StreamOperator> sink;
  };

  // Opens a subtask; with `restored`, from those elements of the list state.
  std::unique_ptr<Subtask> open(const std::vector<Bytes>* restored = nullptr) {
    auto subtask = std::make_unique<Subtask>();
    if (restored != nullptr) {
      subtask->state.get_list_state<Bytes>(kTwoPhaseCommitState).add_all(*restored);
    }
    OperatorContext context;
    context.restored = restored != nullptr;
    context.operator_state = &subtask->state;
    subtask->sink = make_two_phase_commit_sink_factory(system_)->create();
    subtask->sink->initialize_state(context);
    subtask->sink->open();
    return subtask;
  }
  static void write(Subtask& subtask, const std::string& text) {
    subtask.sink->process({text, 0, {}});
  }
  // What the list state holds after the snapshot.
  static std::vector<Bytes> snapshot(Subtask& subtask, CheckpointId checkpoint) {
    subtask.sink->snapshot_state(checkpoint);
    return subtask.state.get_list_state<Bytes>(kTwoPhaseCommitState).get();
  }

  FakeSystem system_;
};

TEST_F(TwoPhaseSink, WritesIntoTheTransactionThatIsCurrent) {  // S-8.7
  const auto subtask = open();
  write(*subtask, "a");
  EXPECT_EQ(system_.take_calls(), (Calls{"begin t1", "write a to t1"}));
  EXPECT_EQ(snapshot(*subtask, 1).size(), 1u);  // one element, S-8.8
  write(*subtask, "b");
  EXPECT_EQ(system_.take_calls(), (Calls{"begin t2", "write b to t2"}));
  EXPECT_TRUE(system_.visible.empty());
}

TEST_F(TwoPhaseSink, ANoticeCommitsWhatOlderCheckpointsLeftInOrder) {  // S-8.9, TP-1
  const auto subtask = open();
  for (CheckpointId id = 0; id < 3; ++id) snapshot(*subtask, id);
  system_.take_calls();
  subtask->sink->notify_checkpoint_complete(2);
  EXPECT_EQ(system_.take_calls(), (Calls{"commit t1", "commit t2", "commit t3"}));
}

TEST_F(TwoPhaseSink, ANoticeLeavesNewerCheckpointsPendingAndIsNoticedOnce) {  // S-8.9, TP-2
  const auto subtask = open();
  snapshot(*subtask, 0);
  snapshot(*subtask, 1);
  system_.take_calls();
  subtask->sink->notify_checkpoint_complete(0);
  EXPECT_EQ(system_.take_calls(), Calls{"commit t1"});
  subtask->sink->notify_checkpoint_complete(0);
  EXPECT_EQ(system_.take_calls(), Calls{});
  subtask->sink->notify_checkpoint_complete(1);
  EXPECT_EQ(system_.take_calls(), Calls{"commit t2"});
}

TEST_F(TwoPhaseSink, SkippedIdsAreFine) {  // S-8.9
  const auto subtask = open();
  snapshot(*subtask, 5);
  snapshot(*subtask, 9);
  system_.take_calls();
  subtask->sink->notify_checkpoint_complete(7);
  EXPECT_EQ(system_.take_calls(), Calls{"commit t1"});
}

TEST_F(TwoPhaseSink, ARestoreCommitsWhatIsPendingAndAbortsWhatWasCurrent) {  // S-8.10, TP-3
  const auto before = open();
  write(*before, "a");
  const std::vector<Bytes> state = snapshot(*before, 0);
  write(*before, "behind the checkpoint");
  system_.take_calls();

  const auto after = open(&state);
  EXPECT_EQ(system_.take_calls(), (Calls{"commit t1", "abort t2", "begin t3"}));
  EXPECT_EQ(system_.visible, std::vector<std::string>{"a"});

  // Nothing of the restored element is pending any more.
  system_.take_calls();
  snapshot(*after, 1);
  after->sink->notify_checkpoint_complete(1);
  EXPECT_EQ(system_.take_calls(), (Calls{"begin t4", "commit t3"}));
}

TEST_F(TwoPhaseSink, EarlierCheckpointsWithoutANoticeAreInTheElementToo) {  // S-8.8
  const auto before = open();
  snapshot(*before, 0);
  snapshot(*before, 1);
  const std::vector<Bytes> state = snapshot(*before, 2);
  system_.take_calls();
  const auto after = open(&state);
  EXPECT_EQ(system_.take_calls(),
            (Calls{"commit t1", "commit t2", "commit t3", "abort t4", "begin t5"}));
}

TEST_F(TwoPhaseSink, AfterAScaleInOneSubtaskRecoversSeveralElements) {  // S-8.10, TP-6
  const auto first = open();
  const auto second = open();
  std::vector<Bytes> state = snapshot(*first, 0);
  for (const Bytes& element : snapshot(*second, 0)) state.push_back(element);
  system_.take_calls();
  const auto merged = open(&state);
  EXPECT_EQ(system_.take_calls(),
            (Calls{"commit t1", "abort t3", "commit t2", "abort t4", "begin t5"}));
}

TEST_F(TwoPhaseSink, AfterAScaleOutASubtaskMayRecoverNone) {  // S-8.10
  const std::vector<Bytes> nothing;
  const auto subtask = open(&nothing);
  EXPECT_EQ(system_.take_calls(), Calls{"begin t1"});
}

TEST_F(TwoPhaseSink, RecoveringWhatWasCommittedBeforeTheCrashDoesNoHarm) {  // S-8.11
  const auto before = open();
  write(*before, "a");
  const std::vector<Bytes> state = snapshot(*before, 0);
  before->sink->notify_checkpoint_complete(0);
  const auto after = open(&state);
  const auto again = open(&state);
  EXPECT_EQ(system_.visible, std::vector<std::string>{"a"});
}

TEST_F(TwoPhaseSink, ClosingAbortsTheCurrentTransactionOnly) {  // S-8.13
  const auto subtask = open();
  snapshot(*subtask, 0);
  system_.take_calls();
  subtask->sink->close();
  EXPECT_EQ(system_.take_calls(), Calls{"abort t2"});
  subtask->sink->close();
  EXPECT_EQ(system_.take_calls(), Calls{});
}

TEST(AtLeastOnceSink, WritesAtOnceAndKnowsNothingOfCheckpoints) {
  FakeSystem system;
  const auto sink = make_at_least_once_sink_factory(system)->create();
  sink->initialize_state({});
  sink->process({"a", 0, {}});
  EXPECT_EQ(system.visible, std::vector<std::string>{"a"});
  sink->snapshot_state(1);
  sink->notify_checkpoint_complete(1);
  sink->close();
  EXPECT_EQ(system.calls, Calls{"append a"});
}

}  // namespace
}  // namespace tailrace::engine
