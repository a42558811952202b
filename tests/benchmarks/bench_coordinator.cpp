// The coordinator's own cost: one checkpoint of 10,000 subtasks, and a trigger in front of a long
// queue of requests.
//
// What a checkpoint costs is the time of its four parts together; what the tasks report is made
// beforehand and given back afterwards, and not counted.
#include <cstdint>
#include <ctime>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "tests/benchmarks/coordinator_setup.hpp"
#include "tests/benchmarks/counting_new.hpp"

namespace tailrace::engine::bench {
namespace {

double thread_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Sums up what one part of the checkpoints takes.
struct Part {
  double seconds = 0;
  std::uint64_t bytes = 0;
  std::uint64_t allocations = 0;

  template <typename Body>
  void measure(Body body) {
    const std::uint64_t bytes_before = testing::allocated_bytes();
    const std::uint64_t allocations_before = testing::allocation_count();
    const double before = thread_seconds();
    body();
    seconds += thread_seconds() - before;
    bytes += testing::allocated_bytes() - bytes_before;
    allocations += testing::allocation_count() - allocations_before;
  }
};

template <typename Coordinated, Snapshots kSnapshots>
void checkpoint(benchmark::State& state) {
  const JobSize size;
  Coordinated coordinated(size);
  Surroundings& around = coordinated.around;
  Part trigger;
  Part acks;
  Part end;
  std::deque<std::vector<std::shared_ptr<const TaskStateSnapshot>>> kept;
  for (auto _ : state) {
    state.PauseTiming();
    std::vector<AcknowledgeCheckpoint> messages =
        around.acknowledgements(around.id_counter.get(), kSnapshots);
    // What the tasks have made is theirs to give back, too: not before the coordinator has let go of
    // it, one checkpoint later.
    std::vector<std::shared_ptr<const TaskStateSnapshot>> made;
    made.reserve(messages.size());
    for (const AcknowledgeCheckpoint& message : messages) made.push_back(message.state);
    kept.push_back(std::move(made));
    if (kept.size() > 2) kept.pop_front();
    AcknowledgeCheckpoint last = std::move(messages.back());
    messages.pop_back();
    state.ResumeTiming();

    trigger.measure([&] {
      coordinated.coordinator.trigger_checkpoint(false, {});
      around.world.run_due();
    });
    acks.measure([&] {
      for (AcknowledgeCheckpoint& message : messages) {
        coordinated.coordinator.receive_acknowledge_message(std::move(message));
      }
    });
    end.measure([&] {
      coordinated.coordinator.receive_acknowledge_message(std::move(last));
      around.world.run_due();
    });
  }
  const auto checkpoints = static_cast<double>(state.iterations());
  if (coordinated.stats_tracker.counts().completed != static_cast<std::int64_t>(checkpoints)) {
    state.SkipWithError("a checkpoint did not complete");
  }
  const double number_of_acks = checkpoints * (size.tasks() - 1);
  state.SetItemsProcessed(state.iterations());
  state.counters["trigger_us"] = 1e6 * trigger.seconds / checkpoints;
  state.counters["acks_us"] = 1e6 * acks.seconds / checkpoints;
  state.counters["end_us"] = 1e6 * end.seconds / checkpoints;
  state.counters["ack_bytes"] = static_cast<double>(acks.bytes) / number_of_acks;
  state.counters["ack_allocations"] = static_cast<double>(acks.allocations) / number_of_acks;
  state.counters["trigger_bytes"] = static_cast<double>(trigger.bytes) / checkpoints;
  state.counters["end_bytes"] = static_cast<double>(end.bytes) / checkpoints;
}

// Triggers of savepoints of a small job, so that the queue is not lost in what the subtasks cost.
// One checkpoint is pending the whole time and everything that waits is waiting for its end; a
// savepoint is forced and does not wait.
class QueuedTriggers {
 public:
  explicit QueuedTriggers(std::size_t queued) : coordinated_({.vertices = 2, .subtasks = 2}) {
    request(false);
    // A full queue of users' requests takes no further one: the last is of the timer.
    for (std::size_t i = 1; i < queued; ++i) request(false);
    timed_ = queued > 0;
    fill_up();
    TAILRACE_ASSERT(coordinated_.coordinator.queued_requests() == queued);
  }

  // CPU seconds of `count` triggers.
  double run(int count) {
    double seconds = 0;
    for (int i = 0; i < count; ++i) {
      const CheckpointId id = coordinated_.around.id_counter.get();
      const double before = thread_seconds();
      coordinated_.coordinator.trigger_savepoint({}, SavepointFormatType::CANONICAL, {});
      coordinated_.around.world.run_due();
      seconds += thread_seconds() - before;
      for (AcknowledgeCheckpoint& message :
           coordinated_.around.acknowledgements(id, Snapshots::NONE)) {
        coordinated_.coordinator.receive_acknowledge_message(std::move(message));
      }
      coordinated_.around.world.run_due();
      TAILRACE_ASSERT(coordinated_.coordinator.pending_checkpoints().size() == 1);
      fill_up();
    }
    return seconds;
  }

 private:
  void request(bool periodic) {
    coordinated_.coordinator.trigger_checkpoint(periodic, {});
    coordinated_.around.world.run_due();
  }
  void fill_up() {
    if (timed_) request(true);
  }

  Coordinated120 coordinated_;
  bool timed_ = false;
};

void trigger_with_queue(benchmark::State& state) {
  constexpr int kTriggers = 100;
  QueuedTriggers none(0);
  QueuedTriggers many(CheckpointRequestDecider::kMaxQueuedRequests);
  double seconds_none = 0;
  double seconds_many = 0;
  for (auto _ : state) {
    seconds_none += none.run(kTriggers);
    seconds_many += many.run(kTriggers);
  }
  const double triggers = static_cast<double>(state.iterations()) * kTriggers;
  state.counters["ours"] = triggers / seconds_many;
  state.counters["reference"] = triggers / seconds_none;
  state.counters["ratio"] = seconds_none / seconds_many;
}

BENCHMARK((checkpoint<Coordinated110, Snapshots::NONE>))
    ->Name("coordinator/checkpoint_110/no_state")
    ->Unit(benchmark::kMillisecond)
    ->MinTime(0.2);
BENCHMARK((checkpoint<Coordinated110, Snapshots::KEYED>))
    ->Name("coordinator/checkpoint_110/keyed_state")
    ->Unit(benchmark::kMillisecond)
    ->MinTime(0.2);
BENCHMARK((checkpoint<Coordinated120, Snapshots::NONE>))
    ->Name("coordinator/checkpoint_120/no_state")
    ->Unit(benchmark::kMillisecond)
    ->MinTime(0.2);
BENCHMARK((checkpoint<Coordinated120, Snapshots::KEYED>))
    ->Name("coordinator/checkpoint_120/keyed_state")
    ->Unit(benchmark::kMillisecond)
    ->MinTime(0.2);
BENCHMARK(trigger_with_queue)
    ->Name("coordinator/trigger_with_queue/in_turns")
    ->Unit(benchmark::kMillisecond)
    ->MinTime(0.2);

}  // namespace
}  // namespace tailrace::engine::bench
