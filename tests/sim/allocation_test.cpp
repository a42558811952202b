// The hot paths of the world allocate nothing once they have been as busy before.
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#include <gtest/gtest.h>

#include "sim/host.hpp"
#include "sim/network.hpp"
#include "sim/process.hpp"
#include "sim/random.hpp"
#include "sim/storage.hpp"

namespace {
std::uint64_t allocations = 0;

void* counted(std::size_t size) {
  ++allocations;
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
}  // namespace

void* operator new(std::size_t size) {
  return counted(size);
}
void* operator new[](std::size_t size) {
  return counted(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace tailrace::sim {
namespace {

using namespace base::literals;  // NOLINT(google-build-using-namespace): 5_ms

// Runs for `warm_up`, then counts the allocations of as long again.
std::uint64_t steady_state_allocations(Simulation& simulation, Duration warm_up) {
  simulation.run(simulation.now() + warm_up);
  const std::uint64_t before = allocations;
  const std::uint64_t events_before = simulation.events_processed();
  simulation.run(simulation.now() + warm_up);
  EXPECT_GT(simulation.events_processed(), events_before + 10'000) << "nothing was tested";
  return allocations - before;
}

TEST(SteadyState, CountsAllocations) {
  const std::uint64_t before = allocations;
  const std::vector<int> some(10);
  EXPECT_EQ(allocations, before + 1);
}

TEST(SteadyState, SchedulingFiringAndCancellingAllocatesNothing) {
  struct Ticker {
    void go() {
      simulation->schedule(random->exponential(1_ms), [this] { go(); });
      simulation->cancel(timeout);
      timeout = simulation->schedule(50_ms, [] {});
    }
    Simulation* simulation;
    RandomStream* random;
    EventId timeout;
  };
  Simulation simulation;
  RandomStream random(1, "test");
  std::vector<Ticker> tickers(500, Ticker{&simulation, &random, {}});
  for (Ticker& ticker : tickers) ticker.go();
  // How events fall together is random: a long warm-up meets the fullest moment.
  simulation.run(Time{500'000'000});
  EXPECT_EQ(steady_state_allocations(simulation, 200_ms), 0U);
}

TEST(SteadyState, ProcessesMailboxesAndSignalsAllocateNothing) {
  struct Local {
    static Process produce(Simulation* simulation, Mailbox<std::uint64_t>* mailbox,
                           Signal* signal) {
      for (std::uint64_t i = 0;; ++i) {
        co_await delay(*simulation, 1_us);
        mailbox->push(i);
        if (i % 3 == 0) signal->notify_all();
      }
    }
    static Process consume(Mailbox<std::uint64_t>* mailbox, Signal* signal) {
      for (;;) {
        const std::uint64_t item = co_await mailbox->receive();
        if (item % 5 == 0) co_await signal->wait();
      }
    }
  };
  Simulation simulation;
  Mailbox<std::uint64_t> mailbox(simulation);
  Signal signal(simulation);
  ProcessGroup group(simulation);
  group.spawn(Local::consume(&mailbox, &signal));
  group.spawn(Local::consume(&mailbox, &signal));
  group.spawn(Local::produce(&simulation, &mailbox, &signal));
  EXPECT_EQ(steady_state_allocations(simulation, 20_ms), 0U);
}

TEST(SteadyState, HostsNetworkAndStoreAllocateNothing) {
  struct Load {
    void send(FlowId flow) {
      network->send(
          flow, 32'768, [this, flow] { send(flow); }, [this] { compute(); });
    }
    void compute() {
      host->run({1}, 3_us, {3, 2}, [] {});
    }
    void put() {
      store->put(1'000, {1}, [this](StorageStatus) { put(); });
    }
    Network* network;
    Host* host;
    ObjectStore* store;
  };
  Simulation simulation;
  Network network(simulation, 50_us, 1_us);
  for (int i = 0; i < 16; ++i) network.add_host({{1'000'000'000}, {1'000'000'000}});
  Host host(simulation, 8);
  ObjectStore store(simulation, {{1'000'000'000}, {100'000'000}, 100_us}, 1, "store");
  Load load{&network, &host, &store};
  for (std::int32_t from = 0; from < 16; ++from) {
    for (std::int32_t to = 0; to < 16; ++to) {
      if (from != to) load.send(network.open_flow({from}, {to}));
    }
  }
  for (int i = 0; i < 64; ++i) load.put();
  EXPECT_EQ(steady_state_allocations(simulation, 100_ms), 0U);
}

TEST(SteadyState, RecordingATraceAllocatesNothing) {
  Trace trace;
  trace.record({Time{1}, TraceKind{1}, {}, "warm"});
  const std::uint64_t before = allocations;
  for (int i = 0; i < 1000; ++i) trace.record({Time{i}, TraceKind{1}, {i, 2, 3, 4}, "a record"});
  EXPECT_EQ(allocations, before);
}

}  // namespace
}  // namespace tailrace::sim
