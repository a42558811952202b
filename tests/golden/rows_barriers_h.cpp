// Replays golden/rows_barriers H: recovery of upstream tasks, and the future of all barriers.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/barrier/f120/upstream_recovery_tracker.hpp"
#include "tests/golden/barriers_f120_setup.hpp"

namespace tailrace::golden {
namespace {

using barriers_f120::BarrierTask120;
using Handler120 = engine::f120::SingleCheckpointBarrierHandler;
using Kind120 = BarrierTask120::Kind;

constexpr engine::CheckpointId kCurrent = 5;

std::string shown_by_recovery(const std::optional<engine::BufferOrEvent>& next) {
  if (!next) return "-";
  if (!next->is_buffer() && std::holds_alternative<engine::EndOfChannelState>(next->event())) {
    return "EndOfChannelStateEvent@" + std::to_string(next->channel);
  }
  throw Difference("poll", "an end of channel state", "another item");
}

// H1 and H2: a channel after the other hands on what it had in flight. H2 goes on where H1 ends.
void replay_recovery(const Json& line) {
  BarrierTask120 task(Kind120::kAligned, line.at("channels").get<std::int32_t>(), true);
  const auto finish_recovery_of = [&task](std::int32_t channel) {
    task.gate->receive(channel, engine::RuntimeEvent(engine::EndOfChannelState{}));
    return shown_by_recovery(task.input->poll_next());
  };
  const Json& steps = line.at("steps");
  const auto first = steps.front().at("ch").get<std::int32_t>();
  for (std::int32_t channel = 0; channel < first; ++channel) finish_recovery_of(channel);
  for (const Json& step : steps) {
    const std::string where = "channel " + step.at("ch").dump() + ": ";
    expect_equal(where + "firstPoll", step.at("firstPoll"), finish_recovery_of(step.at("ch")));
    const Json resumed = task.gate->take_resumed();
    expect_equal(where + "resumes", step.at("resumes"), resumed.size());
    expect_equal(where + "resumed", step.at("resumed"), resumed);
    expect_equal(where + "secondPoll", step.at("secondPoll"),
                 shown_by_recovery(task.input->poll_next()));
    expect_equal(where + "allRecovered", step.at("allRecovered"),
                 task.input->all_channels_recovered());
  }
  task.expect_all_buffers_come_back();
}

// A channel that says it twice.
void replay_twice(const Json& line) {
  BarrierTask120 task(Kind120::kAligned, 2, true);
  engine::f120::UpstreamRecoveryTracker tracker(*task.gate);
  tracker.handle_end_of_recovery(0);
  bool refused = false;
  try {
    tracker.handle_end_of_recovery(0);
  } catch (const base::InvariantViolation&) {
    refused = true;
  }
  // Class and message of what Flink threw are Java's.
  expect_equal("error", line.contains("error"), refused);
  tracker.handle_end_of_recovery(1);
  expect_equal("resumes", line.at("resumes"), task.gate->take_resumed().size());
  tracker.handle_end_of_recovery(1);
  expect_equal("afterAll", line.at("afterAll"),
               task.gate->take_resumed().empty() ? "ignored" : "resumed");
  task.expect_all_buffers_come_back();
}

// Aligned, two channels, the barrier of kCurrent on the first.
class HalfAligned {
 public:
  HalfAligned() { barrier_on(0); }

  void barrier_on(engine::ChannelIndex channel) {
    task_.handler->process_barrier({kCurrent, 0, {}}, channel, false);
  }
  void cancel_on(engine::ChannelIndex channel) {
    task_.handler->process_cancellation_barrier({kCurrent}, channel);
  }
  void end_of(engine::ChannelIndex channel) { task_.handler->process_end_of_partition(channel); }

  [[nodiscard]] std::string future(engine::CheckpointId id) const {
    try {
      switch (dynamic_cast<const Handler120&>(*task_.handler).all_barriers(id)) {
        case Handler120::AllBarriers::kOpen:
          return "open";
        case Handler120::AllBarriers::kReceived:
          return "done";
        case Handler120::AllBarriers::kFailed:
          return "failed";
      }
    } catch (const base::InvariantViolation&) {
    }
    return "error";
  }

 private:
  BarrierTask120 task_{Kind120::kAligned, 2, true};
};

void replay_future(const Json& line) {
  HalfAligned task;
  expect_equal("older", line.at("older"), task.future(kCurrent - 1));
  expect_equal("current", line.at("current"), task.future(kCurrent));
  expect_equal("newer", line.at("newer"), task.future(kCurrent + 1));
  task.barrier_on(1);
  expect_equal("currentWhenComplete", line.at("currentWhenComplete"), task.future(kCurrent));
  task.end_of(0);
  task.end_of(1);
  expect_equal("noOpenChannelOlder", line.at("noOpenChannelOlder"), task.future(kCurrent - 1));
  expect_equal("noOpenChannelCurrent", line.at("noOpenChannelCurrent"), task.future(kCurrent));
  expect_equal("noOpenChannelNewer", line.at("noOpenChannelNewer"), task.future(kCurrent + 1));
}

void replay_aborted(const Json& line) {
  HalfAligned task;
  task.cancel_on(1);
  expect_equal("current", line.at("current"), task.future(kCurrent));
}

// A priority barrier has arrived, and the mail that polls it is queued; the gate is closed before or
// after. A closed gate of the engine is gone with everything in it, so there is nothing to poll.
void replay_closing(const Json& line) {
  for (const bool close_first : {false, true}) {
    BarrierTask120 task(Kind120::kAlternating, 1, true);
    engine::CheckpointOptions unaligned;
    unaligned.alignment = engine::AlignmentType::UNALIGNED;
    task.gate->receive(0, engine::RuntimeEvent(engine::CheckpointBarrier{1, 0, unaligned}));
    expect_equal("the mail is asked for", true, task.gate->has_priority());
    if (close_first) {
      task.expect_all_buffers_come_back();
    } else {
      task.input->poll_next();
    }
    const Json& expected = line.at(close_first ? "closeFirst" : "mailFirst");
    expect_equal("triggers", expected.at("triggers"), task.triggers.size());
  }
}

void replay_row_h(const Json& line) {
  static const std::map<std::string, ReplayLine> kRows{
      {"H1", &replay_recovery}, {"H2", &replay_recovery},        {"H2.twice", &replay_twice},
      {"H3", &replay_future},   {"H3.aborted", &replay_aborted}, {"H4", &replay_closing},
  };
  const auto found = kRows.find(line.at("id").get<std::string>());
  if (found == kRows.end()) throw MalformedCase("unknown row: " + line.at("id").dump());
  found->second(line);
}

const Registration kH("rows_barriers/barriers_rows_H.jsonl", &replay_row_h);

}  // namespace
}  // namespace tailrace::golden
