// How long alignment takes, against a closed form that knows nothing of the engine but three of its
// byte counters: bytes ahead of the later barrier, divided by the rate at which the task drains them.
#include <array>
#include <map>
#include <optional>

#include "engine/network/result_partition.hpp"
#include "engine/network/single_input_gate.hpp"
#include "engine/task/stream_task.hpp"
#include "engine/task/task.hpp"
#include "scenarios/world/scenario_run.hpp"
#include "scenarios/world/trace_kinds.hpp"
#include "tests/scenarios/world/library_runs.hpp"

namespace tailrace::scenarios {
namespace {

constexpr engine::ChannelIndex kBusyChannel = 0;  // the first input's only channel
constexpr engine::ChannelIndex kIdleChannel = 1;
constexpr std::int32_t kSubtasks = 2;

// What one subtask lived through in one checkpoint.
struct Alignment {
  Time first_barrier;
  Time last_barrier;
  std::int32_t barriers = 0;
  engine::ChannelIndex first_channel = -1;
  std::int64_t consumed_at_first = 0;  // of the busy channel
  std::int64_t consumed_at_last = 0;
  std::int64_t receiver_bytes = 0;  // in the busy channel's own queue, at the first barrier
  std::int64_t sender_bytes = 0;    // in the sender's queue for it
  Duration reported;                // by the task
};

struct Checkpoint {
  std::int64_t records_before_barrier = 0;  // that the busy source had written, to all subtasks
  std::array<Alignment, kSubtasks> subtasks;
};

// Watches a run of backpressure-alignment through its trace.
class AlignmentWatch {
 public:
  explicit AlignmentWatch(const Scenario& scenario)
      : scenario_(scenario), run_(scenario, RunOptions{}) {
    run_.simulation().trace().set_sink([this](const sim::TraceRecord& record) { see(record); });
    run_.play();
    run_.simulation().trace().set_sink({});
    outcome_ = run_.collect();
  }

  [[nodiscard]] const std::map<std::int64_t, Checkpoint>& checkpoints() const {
    return checkpoints_;
  }
  [[nodiscard]] RunOutcome& outcome() { return outcome_; }

 private:
  const engine::StreamTask& task(const char* op, std::int32_t subtask) {
    return *run_.cluster().locate(scenario_.find_operator(op), subtask)->task->invokable();
  }

  void see(const sim::TraceRecord& record) {
    if (record.kind == trace_kind::kBarrierProcessed) {
      const auto subtask = static_cast<std::int32_t>(record.fields[2]);
      const engine::StreamTask& slow = task("slow", subtask);
      if (record.fields[1] != slow.descriptor().vertex) return;
      barrier(slow, checkpoints_[record.fields[0]].subtasks[static_cast<std::size_t>(subtask)],
              static_cast<engine::ChannelIndex>(record.fields[3]), record.at);
    } else if (record.kind == trace_kind::kSnapshotStarted) {
      Checkpoint& checkpoint = checkpoints_[record.fields[0]];
      const engine::StreamTask& busy = task("busy", 0);
      if (record.fields[1] == busy.descriptor().vertex) {
        checkpoint.records_before_barrier = busy.records_out();
      } else if (record.fields[1] == task("slow", 0).descriptor().vertex) {
        checkpoint.subtasks[static_cast<std::size_t>(record.fields[2])].reported =
            Duration{record.fields[3]};
      }
    }
  }

  void barrier(const engine::StreamTask& slow, Alignment& alignment, engine::ChannelIndex channel,
               Time now) {
    if (alignment.barriers++ == 0) {
      alignment.first_barrier = now;
      alignment.first_channel = channel;
      alignment.consumed_at_first = slow.bytes_consumed(kBusyChannel);
      alignment.receiver_bytes = slow.gates()[0]->channel(0).queued_bytes();
      alignment.sender_bytes =
          task("busy", 0).partitions()[0]->queued_bytes(slow.descriptor().subtask);
    }
    alignment.last_barrier = now;
    alignment.consumed_at_last = slow.bytes_consumed(kBusyChannel);
  }

  const Scenario& scenario_;
  ScenarioRun run_;
  std::map<std::int64_t, Checkpoint> checkpoints_;
  RunOutcome outcome_;
};

// A line on the wire: length, tag, timestamp, number of characters + 1 as a variable-length integer,
// and the characters (spec barriers.md 6.2).
std::int64_t wire_bytes(const std::string& line) {
  std::int64_t bytes = 4 + 1 + 8;
  for (std::size_t length = line.size() + 1; length > 0; length /= 128) ++bytes;
  return bytes + static_cast<std::int64_t>(line.size());
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    if (end == std::string::npos) break;
    at = end + 1;
  }
  return lines;
}

// The text as the busy source's records: line after line, dealt out to the subtasks in turn.
class Deal {
 public:
  explicit Deal(const std::string& text) {
    for (const std::string& line : lines_of(text)) sizes_.push_back(wire_bytes(line));
    for (const std::int64_t size : sizes_) total_ += size;
  }
  // Of the first `records` records, the bytes of those with this parity.
  [[nodiscard]] std::int64_t bytes(std::int64_t records, std::int64_t parity) const {
    std::int64_t bytes = 0;
    for (std::int64_t i = parity; i < records; i += 2) bytes += size(i);
    return bytes;
  }
  // A record's mean size over the whole text.
  [[nodiscard]] double mean_bytes() const {
    return static_cast<double>(total_) / static_cast<double>(sizes_.size());
  }

 private:
  [[nodiscard]] std::int64_t size(std::int64_t record) const {
    return sizes_[static_cast<std::size_t>(record) % sizes_.size()];
  }
  std::vector<std::int64_t> sizes_;
  std::int64_t total_ = 0;
};

// Bytes per second at which a subtask works off its input.
double drain_rate(const Scenario& scenario, double record_bytes) {
  const auto cost = [&scenario](const char* op) {
    return scenario.job.operators[static_cast<std::size_t>(scenario.find_operator(op))].cost;
  };
  const Price& wire = scenario.costs.deserialise;
  const double per_record_ns =
      static_cast<double>((cost("slow") + cost("out") + wire.per_item).ns) +
      record_bytes * 1e9 / static_cast<double>(wire.bandwidth.value);
  return record_bytes * 1e9 / per_record_ns;
}

double seconds(Duration duration) {
  return static_cast<double>(duration.ns) / 1e9;
}

void expect_closed_form(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  const Scenario scenario =
      library_scenario("backpressure-alignment", {"seed=" + std::to_string(seed)});
  AlignmentWatch watch(scenario);
  EXPECT_EQ(not_held(scenario, watch.outcome()), "");

  const Deal deal(read_text(std::string(TAILRACE_LIBRARY) + "/text.txt"));
  const double rate = drain_rate(scenario, deal.mean_bytes());
  // Which subtask gets the first record is drawn at random, once.
  std::optional<std::int64_t> parity_of_subtask_0;
  std::int32_t completed = 0;
  for (const analysis::CheckpointRow& row : watch.outcome().result.checkpoints) {
    if (row.status != analysis::CheckpointStatus::kCompleted) continue;  // cut
    ++completed;
    SCOPED_TRACE("checkpoint " + std::to_string(row.id));
    const Checkpoint& checkpoint = watch.checkpoints().at(row.id);
    ASSERT_GT(checkpoint.records_before_barrier, 0);
    for (std::int32_t subtask = 0; subtask < kSubtasks; ++subtask) {
      SCOPED_TRACE("subtask " + std::to_string(subtask));
      const Alignment& seen = checkpoint.subtasks[static_cast<std::size_t>(subtask)];
      ASSERT_EQ(seen.barriers, 2);
      ASSERT_EQ(seen.first_channel, kIdleChannel);

      // The channel delivers exactly what was written before the barrier, and then the barrier.
      if (!parity_of_subtask_0) {
        parity_of_subtask_0 =
            seen.consumed_at_last == deal.bytes(checkpoint.records_before_barrier, 0) ? 0 : 1;
      }
      const std::int64_t written =
          deal.bytes(checkpoint.records_before_barrier, (*parity_of_subtask_0 + subtask) % 2);
      ASSERT_EQ(seen.consumed_at_last, written);

      const std::int64_t ahead = written - seen.consumed_at_first;
      const double closed_form = static_cast<double>(ahead) / rate;
      const Duration measured = seen.last_barrier - seen.first_barrier;
      EXPECT_NEAR(seconds(measured), closed_form, 0.02 * closed_form);
      EXPECT_EQ(seen.reported, measured);

      // What is ahead is where the mechanism says.
      EXPECT_GT(ahead, 4 * scenario.flink.segment_bytes);
      if (subtask == 0) {
        EXPECT_EQ(seen.receiver_bytes, 0);  // reads the sender's queue itself
        EXPECT_GT(seen.sender_bytes, ahead / 2);
      } else {
        EXPECT_GT(seen.receiver_bytes, ahead / 2);
      }
    }
  }
  EXPECT_GE(completed, 4);
}

TEST(Alignment, TakesAsLongAsTheBytesAheadOfTheLaterBarrierNeedToDrain) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) expect_closed_form(seed);
}

// Both channels are full to the same degree: their barriers come through together, and what the
// queues cost shows before them, as start delay.
TEST(Alignment, OfEvenlyFullChannelsIsShortAndTheStartDelayLong) {
  const Scenario scenario = library_scenario(
      "backpressure-alignment",
      {"job.operators.idle.rate=max", "job.operators.idle.from.repeat=400", "expect=[progress]"});
  AlignmentWatch watch(scenario);
  EXPECT_EQ(not_held(scenario, watch.outcome()), "");
  std::int32_t completed = 0;
  for (const analysis::CheckpointRow& row : watch.outcome().result.checkpoints) {
    if (row.status != analysis::CheckpointStatus::kCompleted) continue;
    ++completed;
    SCOPED_TRACE("checkpoint " + std::to_string(row.id));
    const Checkpoint& checkpoint = watch.checkpoints().at(row.id);
    for (const Alignment& seen : checkpoint.subtasks) {
      const Duration start_delay = seen.first_barrier - row.triggered;
      const Duration alignment = seen.last_barrier - seen.first_barrier;
      EXPECT_GT(start_delay, Duration::millis(500));
      EXPECT_LT(alignment * 5, start_delay);
    }
  }
  EXPECT_GE(completed, 4);
}

}  // namespace
}  // namespace tailrace::scenarios
