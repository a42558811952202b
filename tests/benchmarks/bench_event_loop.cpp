// The hold model through the event loop: each fired event schedules one more, exp(1) later.
//
// Ours runs with trace hashing and ids that can be cancelled; the reference is a plain loop over
// std::priority_queue with a virtual call, neither hashing nor, in the first pair, cancellation. In
// the second pair every fourth event is cancelled and replaced before it is due; the reference
// then tests a flag at pop.
#include <cstdint>
#include <memory>
#include <queue>
#include <vector>

#include <benchmark/benchmark.h>

#include "sim/random.hpp"
#include "sim/simulation.hpp"

namespace tailrace::sim {
namespace {

constexpr std::int64_t kEventsPerRound = 1 << 20;
constexpr std::size_t kDelays = 1 << 12;

const std::vector<std::int64_t>& delays() {
  static const std::vector<std::int64_t> kTable = [] {
    RandomStream stream(1, "bench/delays");
    std::vector<std::int64_t> table(kDelays);
    for (std::int64_t& delay : table) delay = stream.exponential(Duration::millis(1)).ns + 1;
    return table;
  }();
  return kTable;
}

// What every handler of a kind shares.
struct World {
  std::size_t draw = 0;
  std::int64_t next_delay() {
    draw = (draw + 1) % kDelays;
    return delays_[draw];
  }
  const std::int64_t* delays_ = delays().data();
};

struct OurWorld : World {
  Simulation simulation;
  std::int64_t left = 0;
};

class OurEntity final : public EventHandler {
 public:
  explicit OurEntity(OurWorld* world) : world_(world) {}
  void on_event(std::uint64_t argument) override {
    ++fired_;
    if (--world_->left == 0) world_->simulation.stop();
    world_->simulation.schedule(Duration{world_->next_delay()}, *this, argument + 1);
  }

 private:
  OurWorld* world_;
  std::uint64_t fired_ = 0;
};

void ours_hold(benchmark::State& state) {
  const auto pending = static_cast<std::size_t>(state.range(0));
  OurWorld world;
  std::vector<OurEntity> entities(pending, OurEntity(&world));
  for (OurEntity& entity : entities) {
    world.simulation.schedule(Duration{world.next_delay()}, entity);
  }
  world.left = static_cast<std::int64_t>(pending) * 3;
  world.simulation.run();
  for (auto _ : state) {
    world.left = kEventsPerRound;
    world.simulation.run();
  }
  benchmark::DoNotOptimize(world.simulation.trace().hash());
  state.SetItemsProcessed(state.iterations() * kEventsPerRound);
  state.counters["bytes_per_event"] =
      static_cast<double>(world.simulation.queue().memory_bytes()) / static_cast<double>(pending);
}

struct PlainHandler {
  virtual void on_event(std::uint64_t argument) = 0;

 protected:
  ~PlainHandler() = default;
};

struct PlainEvent {
  std::int64_t time;
  std::uint64_t sequence;
  PlainHandler* handler;
  std::uint64_t argument;
  bool operator<(const PlainEvent& other) const {
    return time != other.time ? time > other.time : sequence > other.sequence;
  }
};

struct PlainWorld : World {
  std::priority_queue<PlainEvent> queue;
  std::int64_t now = 0;
  std::uint64_t sequence = 0;
  void schedule(std::int64_t delay, PlainHandler* handler, std::uint64_t argument) {
    queue.push({now + delay, sequence++, handler, argument});
  }
};

class PlainEntity final : public PlainHandler {
 public:
  explicit PlainEntity(PlainWorld* world) : world_(world) {}
  void on_event(std::uint64_t argument) override {
    ++fired_;
    world_->schedule(world_->next_delay(), this, argument + 1);
  }

 private:
  PlainWorld* world_;
  std::uint64_t fired_ = 0;
};

void plain_run(PlainWorld& world, std::int64_t events) {
  for (std::int64_t i = 0; i < events; ++i) {
    const PlainEvent event = world.queue.top();
    world.queue.pop();
    world.now = event.time;
    event.handler->on_event(event.argument);
  }
}

void plain_hold(benchmark::State& state) {
  const auto pending = static_cast<std::size_t>(state.range(0));
  PlainWorld world;
  std::vector<PlainEntity> entities(pending, PlainEntity(&world));
  for (PlainEntity& entity : entities) world.schedule(world.next_delay(), &entity, 0);
  plain_run(world, static_cast<std::int64_t>(pending) * 3);
  for (auto _ : state) plain_run(world, kEventsPerRound);
  state.SetItemsProcessed(state.iterations() * kEventsPerRound);
}

// Each entity owns one pending event. Every third event that fires also cancels the pending event
// of the entity `victim` and schedules it anew: one in four scheduled events never fires.
struct OurCancelWorld : OurWorld {
  std::vector<EventId> ids;
  std::size_t victim = 0;
  std::uint32_t until_cancel = 3;
};

class OurCancelEntity final : public EventHandler {
 public:
  OurCancelEntity(OurCancelWorld* world, OurCancelEntity* all) : world_(world), all_(all) {}
  void on_event(std::uint64_t argument) override {
    OurCancelWorld& world = *world_;
    ++fired_;
    if (--world.left == 0) world.simulation.stop();
    world.ids[argument] = world.simulation.schedule(Duration{world.next_delay()}, *this, argument);
    if (--world.until_cancel == 0) {
      world.until_cancel = 3;
      world.victim = (world.victim + 1) % world.ids.size();
      world.simulation.cancel(world.ids[world.victim]);
      world.ids[world.victim] =
          world.simulation.schedule(Duration{world.next_delay()}, all_[world.victim], world.victim);
    }
  }

 private:
  OurCancelWorld* world_;
  OurCancelEntity* all_;
  std::uint64_t fired_ = 0;
};

void ours_cancel(benchmark::State& state) {
  const auto pending = static_cast<std::size_t>(state.range(0));
  OurCancelWorld world;
  std::vector<OurCancelEntity> entities;
  entities.reserve(pending);
  for (std::size_t i = 0; i < pending; ++i) entities.emplace_back(&world, entities.data());
  world.ids.resize(pending);
  for (std::size_t i = 0; i < pending; ++i) {
    world.ids[i] = world.simulation.schedule(Duration{world.next_delay()}, entities[i], i);
  }
  world.left = static_cast<std::int64_t>(pending) * 3;
  world.simulation.run();
  for (auto _ : state) {
    world.left = kEventsPerRound;
    world.simulation.run();
  }
  benchmark::DoNotOptimize(world.simulation.trace().hash());
  state.SetItemsProcessed(state.iterations() * kEventsPerRound);
  state.counters["bytes_per_event"] =
      static_cast<double>(world.simulation.queue().memory_bytes()) / static_cast<double>(pending);
}

// The reference of cancellation: an event's flag, in an array by number of the event's slot, is
// tested when the event is popped.
struct PlainCancelWorld : PlainWorld {
  std::vector<std::uint8_t> cancelled;
  std::vector<std::uint32_t> free;
  std::vector<std::uint32_t> ids;  // by entity: the slot of its pending event
  std::size_t victim = 0;
  std::uint32_t until_cancel = 3;

  std::uint32_t schedule_cancellable(std::int64_t delay, PlainHandler* handler,
                                     std::uint64_t argument) {
    std::uint32_t slot;
    if (free.empty()) {
      slot = static_cast<std::uint32_t>(cancelled.size());
      cancelled.push_back(0);
    } else {
      slot = free.back();
      free.pop_back();
      cancelled[slot] = 0;
    }
    queue.push({now + delay, sequence++, handler, (argument << 32) | slot});
    return slot;
  }
};

class PlainCancelEntity final : public PlainHandler {
 public:
  PlainCancelEntity(PlainCancelWorld* world, PlainCancelEntity* all) : world_(world), all_(all) {}
  void on_event(std::uint64_t argument) override {
    PlainCancelWorld& world = *world_;
    ++fired_;
    world.ids[argument] = world.schedule_cancellable(world.next_delay(), this, argument);
    if (--world.until_cancel == 0) {
      world.until_cancel = 3;
      world.victim = (world.victim + 1) % world.ids.size();
      world.cancelled[world.ids[world.victim]] = 1;
      world.ids[world.victim] =
          world.schedule_cancellable(world.next_delay(), &all_[world.victim], world.victim);
    }
  }

 private:
  PlainCancelWorld* world_;
  PlainCancelEntity* all_;
  std::uint64_t fired_ = 0;
};

void plain_cancel_run(PlainCancelWorld& world, std::int64_t events) {
  while (events > 0) {
    const PlainEvent event = world.queue.top();
    world.queue.pop();
    const auto slot = static_cast<std::uint32_t>(event.argument);
    const bool cancelled = world.cancelled[slot] != 0;
    world.free.push_back(slot);
    if (cancelled) continue;
    world.now = event.time;
    --events;
    event.handler->on_event(event.argument >> 32);
  }
}

void plain_cancel(benchmark::State& state) {
  const auto pending = static_cast<std::size_t>(state.range(0));
  PlainCancelWorld world;
  std::vector<PlainCancelEntity> entities;
  entities.reserve(pending);
  for (std::size_t i = 0; i < pending; ++i) entities.emplace_back(&world, entities.data());
  world.ids.resize(pending);
  for (std::size_t i = 0; i < pending; ++i) {
    world.ids[i] = world.schedule_cancellable(world.next_delay(), &entities[i], i);
  }
  plain_cancel_run(world, static_cast<std::int64_t>(pending) * 3);
  for (auto _ : state) plain_cancel_run(world, kEventsPerRound);
  state.SetItemsProcessed(state.iterations() * kEventsPerRound);
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Arg(100)->Arg(10'000)->Arg(1'000'000)->MinTime(0.3);
}

BENCHMARK(ours_hold)->Name("event_loop/hold/ours")->Apply(sizes);
BENCHMARK(plain_hold)->Name("event_loop/hold/priority_queue")->Apply(sizes);
BENCHMARK(ours_cancel)->Name("event_loop/hold_cancel/ours")->Apply(sizes);
BENCHMARK(plain_cancel)->Name("event_loop/hold_cancel/priority_queue")->Apply(sizes);

}  // namespace
}  // namespace tailrace::sim
