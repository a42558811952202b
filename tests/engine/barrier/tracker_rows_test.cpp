// Rows C of the barrier specification: the tracker of 1.10 behind a gate.
#include <string>

#include <gtest/gtest.h>

#include "engine/barrier/f110/checkpoint_barrier_tracker.hpp"
#include "tests/engine/barrier/script.hpp"

namespace tailrace::engine::test {
namespace {

struct TrackerRow {
  const char* id;
  std::int32_t channels;
  const char* script;   // items, each with the notifications that it causes right behind it
  const char* pending;  // ids still pending at the end
};

constexpr TrackerRow kTrackerRows[] = {
    {.id = "C1", .channels = 4, .script = "b2 b2 b0 b1 b0 b3 b1 b1 b2", .pending = ""},
    {.id = "C2",
     .channels = 1,
     .script = "b0 b0 b0 #1@0 T1 b0 b0 b0 b0 #2@0 T2 #3@0 T3 b0 b0 #4@0 T4 #5@0 T5 #6@0 T6 b0",
     .pending = ""},
    {.id = "C3",
     .channels = 1,
     .script = "b0 #1@0 T1 b0 b0 #3@0 T3 b0 #4@0 T4 #6@0 T6 b0 #7@0 T7 b0 #10@0 T10 b0",
     .pending = ""},
    {.id = "C4",
     .channels = 3,
     .script = "b0 b2 b0 #1@1 #1@2 b2 b1 #1@0 T1 b0 b0 b1 b1 b2 #2@0 #2@1 #2@2 T2 b2 b2 #3@2 b2 b2 "
               "#3@0 #3@1 T3 #4@1 #4@2 #4@0 T4 b0",
     .pending = ""},
    {.id = "C5",
     .channels = 3,
     .script = "b0 b2 b0 #1@1 #1@2 b2 b1 #1@0 T1 b0 b0 b1 b1 b2 #2@0 #2@1 #2@2 T2 b2 b2 #3@2 b2 b2 "
               "#4@0 b0 b1 b2 #4@1 b1 #4@2 T4 b0",
     .pending = ""},
    {.id = "C6",
     .channels = 3,
     .script =
         "b1 b1 b0 b2 #2@1 #2@0 #2@2 T2 b1 b0 #3@1 #3@2 b1 b0 #4@2 #4@1 b1 b2 #3@0 T3 b0 #4@0 T4 "
         "b1 b2 #5@1 b0 #5@0 b1 #5@2 T5 b1 #6@1 b0 #6@0 b1 #7@1 b0 #7@2 b2 #8@2 b0 #8@1 b1 #9@1 "
         "#7@0 T7 b0 #9@2 b2 #10@2 #8@0 T8 b1 b2 #9@0 T9 b1 b0 b2 #10@0 #10@1 T10",
     .pending = ""},
    {.id = "C7",
     .channels = 1,
     .script = "b0 #1@0 T1 b0 #2@0 T2 x4@0 X4:can #5@0 T5 b0 x6@0 X6:can b0",
     .pending = ""},
    {.id = "C8",
     .channels = 3,
     .script = "b0 b2 b0 #1@1 #1@2 b2 b1 #1@0 T1 b0 b2 #2@0 #2@2 b0 b2 x2@1 X2:can b2 b1 #3@1 #3@2 "
               "#3@0 T3 b0 b1 x4@1 X4:can #4@2 b0 #4@0 b0 b1 b2 #5@2 #5@1 #5@0 T5 b0 b1 x6@1 "
               "X6:can x6@2 #6@0 b0",
     .pending = ""},
    {.id = "C9",
     .channels = 3,
     .script = "#1@0 x2@0 X1:can X2:can x1@1 x2@1 x1@2 x2@2 b0",
     .pending = ""},
    {.id = "C10",
     .channels = 3,
     .script = "#1@0 #2@0 #2@1 E2 X1:eop X2:eop #1@1 #3@0 #3@1",
     .pending = "3"},
    {.id = "C11", .channels = 1, .script = "#5@0 T5 #3@0 T3 x2@0 X2:can", .pending = ""},
    {.id = "C12", .channels = 2, .script = "#1@0 #1@0 T1", .pending = ""},
};

class TrackerRows : public testing::TestWithParam<TrackerRow> {};

TEST_P(TrackerRows, DoesWhatFlinkDoes) {
  const TrackerRow& row = GetParam();
  EXPECT_EQ(play_through_tracker(row.channels, without_notifications(row.script)),
            std::string(row.script) + " | " + row.pending);
}

INSTANTIATE_TEST_SUITE_P(Specification, TrackerRows, testing::ValuesIn(kTrackerRows),
                         [](const auto& instance) { return std::string(instance.param.id); });

// Row C13.
TEST(CheckpointBarrierTracker, DropsTheOldestOfFiftyOneCheckpointsWithoutAWord) {
  NotingListener listener;
  f110::CheckpointBarrierTracker tracker(2, listener);
  for (CheckpointId id = 1; id <= 51; ++id) {
    EXPECT_FALSE(tracker.process_barrier({id, 0, {}}, 0, 0));
  }
  ASSERT_EQ(tracker.pending_checkpoint_ids().size(), 50U);
  EXPECT_EQ(tracker.pending_checkpoint_ids().front(), 2);

  EXPECT_FALSE(tracker.process_barrier({1, 0, {}}, 1, 0));
  EXPECT_TRUE(listener.notes.empty());
  EXPECT_FALSE(tracker.process_barrier({2, 0, {}}, 1, 0));
  ASSERT_EQ(listener.notes.size(), 1U);
  EXPECT_TRUE(listener.notes[0].is_trigger);
  EXPECT_EQ(listener.notes[0].id, 2);
}

TEST(CheckpointBarrierTracker, CompletesOnlyWithTheBarrierOfTheLastOf128Channels) {
  NotingListener listener;
  f110::CheckpointBarrierTracker tracker(128, listener);
  for (ChannelIndex channel = 0; channel < 127; ++channel) {
    EXPECT_FALSE(tracker.process_barrier({1, 77, {}}, channel, 0));
  }
  EXPECT_TRUE(listener.notes.empty());
  EXPECT_FALSE(tracker.process_barrier({1, 77, {}}, 127, 0));
  ASSERT_EQ(listener.notes.size(), 1U);
  EXPECT_EQ(listener.notes[0].timestamp_ms, 77);
  EXPECT_EQ(tracker.latest_checkpoint_id(), kNoCheckpoint);
}

}  // namespace
}  // namespace tailrace::engine::test
