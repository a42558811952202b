// What the network costs: transfers between many hosts, one hop of a buffer through two network
// stacks, and the memory of a channel through which nothing flows.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <benchmark/benchmark.h>

#include "engine/network/network_environment.hpp"
#include "engine/network/record_deserializer.hpp"
#include "engine/network/record_writer.hpp"
#include "engine/observer.hpp"
#include "scenarios/world/connections.hpp"
#include "scenarios/world/process_ports.hpp"
#include "tests/benchmarks/counting_new.hpp"

namespace tailrace {
namespace {

using base::Duration;
using base::Time;

constexpr std::int64_t kGigabyte = 1'000'000'000;

// --- transfers between hosts -------------------------------------------------------------------

constexpr std::int64_t kTransferBytes = 1'000'000;
constexpr std::int64_t kBufferBytes = 32 * 1024;

// Every host sends to some hosts, buffer after buffer: the next one is handed over when the last byte
// of the one before has left, as a network stack does.
class Transfers {
 public:
  // To itself and so many of the next hosts. Requires: 0 < peers <= hosts.
  Transfers(std::int32_t hosts, std::int32_t peers)
      : network_(simulation_, Duration::micros(100), Duration::micros(10)) {
    for (std::int32_t i = 0; i < hosts; ++i) {
      network_.add_host({base::BytesPerSecond{kGigabyte}, base::BytesPerSecond{kGigabyte}});
    }
    for (std::int32_t from = 0; from < hosts; ++from) {
      for (std::int32_t step = 0; step < peers; ++step) {
        const sim::HostId to{(from + step) % hosts};
        transfers_.push_back({network_.open_flow(sim::HostId{from}, to), 0});
      }
    }
  }

  void run() {
    for (Transfer& transfer : transfers_) {
      transfer.left = kTransferBytes;
      send(transfer);
    }
    simulation_.run();
  }

  [[nodiscard]] std::int64_t transfers() const {
    return static_cast<std::int64_t>(transfers_.size());
  }
  [[nodiscard]] std::int64_t delivered_bytes() const { return delivered_; }
  [[nodiscard]] std::int64_t delivered_buffers() const { return buffers_; }

 private:
  struct Transfer {
    sim::FlowId flow;
    std::int64_t left;
  };

  void send(Transfer& transfer) {
    const std::int64_t bytes = std::min(transfer.left, kBufferBytes);
    if (bytes == 0) return;
    transfer.left -= bytes;
    network_.send(
        transfer.flow, bytes, [this, &transfer] { send(transfer); },
        [this, bytes] {
          delivered_ += bytes;
          ++buffers_;
        });
  }

  sim::Simulation simulation_;
  sim::Network network_;
  std::vector<Transfer> transfers_;
  std::int64_t delivered_ = 0;
  std::int64_t buffers_ = 0;
};

// Counted in transfers.
void all_to_all(benchmark::State& state) {
  const auto hosts = static_cast<std::int32_t>(state.range(0));
  Transfers world(hosts, hosts);
  world.run();  // grows the slabs
  for (auto _ : state) world.run();
  if (world.delivered_bytes() != (state.iterations() + 1) * world.transfers() * kTransferBytes) {
    state.SkipWithError("bytes are missing");
  }
  state.SetItemsProcessed(state.iterations() * world.transfers());
}

// Counted in buffers, to compare few hosts with many: between all of them, so that the flows of a host
// become as many more as the hosts do, and between eight at a time.
void buffers(benchmark::State& state) {
  const auto hosts = static_cast<std::int32_t>(state.range(0));
  Transfers world(hosts, static_cast<std::int32_t>(state.range(1)));
  world.run();
  const std::int64_t before = world.delivered_buffers();
  for (auto _ : state) world.run();
  state.SetItemsProcessed(world.delivered_buffers() - before);
}

BENCHMARK(all_to_all)->Name("network/all_to_all")->Arg(128)->Unit(benchmark::kMillisecond);
BENCHMARK(buffers)
    ->Name("network/buffers")
    ->Args({8, 8})
    ->Args({128, 8})
    ->Args({128, 128})
    ->Unit(benchmark::kMillisecond);

// --- two stacks --------------------------------------------------------------------------------

// Some processes on a machine each, with a network stack.
class Stacks final : public engine::NetworkPeers {
 public:
  Stacks(std::int32_t count, const engine::NetworkConfig& config) {
    world_.simulation = &simulation_;
    world_.connections = &connections_;
    world_.random = &random_;
    world_.costs = &costs_;
    world_.trouble = &trouble_;
    world_.processes = &processes_;
    for (std::int32_t i = 0; i < count; ++i) {
      network_.add_host({base::BytesPerSecond{kGigabyte}, base::BytesPerSecond{kGigabyte}});
      hosts_.push_back(std::make_unique<sim::Host>(simulation_, 1));
      const engine::ProcessId id{static_cast<std::uint32_t>(i + 1)};
      processes_.push_back(std::make_unique<scenarios::ProcessPorts>(world_, id, *hosts_.back(),
                                                                     slow_downs_, observer_));
      environments_.push_back(
          std::make_unique<engine::NetworkEnvironment>(processes_.back()->ports(), config, *this));
    }
  }

  engine::NetworkEnvironment* environment_of(engine::ProcessId process) override {
    return environments_[process.value - 1].get();
  }
  [[nodiscard]] engine::NetworkEnvironment& environment(std::int32_t index) {
    return *environments_[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] const engine::Ports& ports(std::int32_t index) {
    return processes_[static_cast<std::size_t>(index)]->ports();
  }
  [[nodiscard]] sim::Simulation& simulation() { return simulation_; }
  void run_for(Duration duration) { simulation_.run(simulation_.now() + duration); }

 private:
  sim::Simulation simulation_;
  engine::Observer observer_;
  scenarios::RandomStreams random_{7};
  scenarios::CostModel costs_{scenarios::Scenario{}};
  scenarios::StorageTrouble trouble_;
  sim::Network network_{simulation_, Duration::micros(100), Duration::micros(10)};
  scenarios::SlowDowns slow_downs_;
  std::vector<std::unique_ptr<sim::Host>> hosts_;
  std::vector<std::unique_ptr<scenarios::ProcessPorts>> processes_;
  scenarios::SharedWorld world_;
  scenarios::Connections connections_{
      network_, Duration::micros(100),
      [this](engine::ProcessId id, Duration delay, base::Callback callback) {
        processes_[id.value - 1]->run_after(delay, std::move(callback));
      },
      [](engine::ProcessId id) { return sim::HostId{static_cast<std::int32_t>(id.value) - 1}; },
      [](engine::ProcessId) { return true; }};
  std::vector<std::unique_ptr<engine::NetworkEnvironment>> environments_;
};

engine::ResultPartitionId partition_id(std::int32_t producer) {
  return {0, producer, {static_cast<std::uint64_t>(100 + producer)}};
}

std::unique_ptr<engine::ResultPartition> make_partition(Stacks& stacks, std::int32_t process,
                                                        std::int32_t producer) {
  engine::ResultPartitionDescriptor descriptor;
  descriptor.id = partition_id(producer);
  descriptor.type = engine::RecordType::kString;
  return stacks.environment(process).create_partition(descriptor);
}

// A buffer from the writer through both stacks and back as credit. One record fills it, so that next
// to nothing of the time is the records'.
void hop(benchmark::State& state, const engine::NetworkSemantics& semantics) {
  constexpr std::int64_t kHops = 20'000;
  engine::NetworkConfig config;
  config.semantics = &semantics;
  config.segment_bytes = static_cast<std::int32_t>(state.range(0));
  Stacks stacks(2, config);
  const auto partition = make_partition(stacks, 0, 0);
  engine::ChannelSelectorConfig selector;
  selector.kind = engine::PartitionerKind::kForward;
  selector.channels = 1;
  engine::RecordWriter writer(*partition, engine::RecordType::kString,
                              make_channel_selector(selector), Duration{-1}, stacks.ports(0));
  engine::InputGateDescriptor gate_descriptor;
  gate_descriptor.channels.push_back({partition_id(0), 0, engine::ProcessId{1}});
  const auto gate =
      stacks.environment(1).create_gate(gate_descriptor, [](const std::string&) { std::abort(); });
  gate->request_partitions();

  // Length, tag, timestamp and the length of the text before it.
  const std::string text(
      static_cast<std::size_t>(config.segment_bytes) - 13 - (config.segment_bytes < 16'000 ? 2 : 3),
      'x');
  std::int64_t sent = 0;
  std::int64_t received = 0;
  std::int64_t wanted = 0;
  bool writing = false;
  const auto write = [&] {
    writing = false;
    while (sent < wanted && writer.is_available()) {
      writer.emit({text, 0, Time{}});
      writer.publish();
      ++sent;
    }
  };
  writer.set_availability_listener([&] {
    if (writing) return;
    writing = true;
    stacks.ports(0).timers->schedule({}, write);
  });
  bool reading = false;
  const auto read = [&] {
    reading = false;
    while (auto item = gate->poll_next()) {
      benchmark::DoNotOptimize(std::get<engine::Buffer>(item->item).bytes().data());
      ++received;
    }
  };
  gate->set_availability_listener([&] {
    if (reading) return;
    reading = true;
    stacks.ports(1).timers->schedule({}, read);
  });
  const auto run = [&] {
    wanted += kHops;
    write();
    stacks.run_for(Duration::seconds(60));
  };
  run();
  const std::uint64_t allocated = testing::allocation_count();
  for (auto _ : state) run();
  state.counters["allocations_per_hop"] =
      static_cast<double>(testing::allocation_count() - allocated) /
      static_cast<double>(state.iterations() * kHops);
  // The last full buffer becomes visible only through the next one (spec barriers.md 6.2).
  if (received < wanted - 2) state.SkipWithError("buffers are missing");
  state.SetItemsProcessed(state.iterations() * kHops);
}

BENCHMARK_CAPTURE(hop, f110, engine::network_semantics_110())
    ->Name("network/hop/f110")
    ->Arg(32 * 1024)
    ->Arg(1024)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(hop, f120, engine::network_semantics_120())
    ->Name("network/hop/f120")
    ->Arg(32 * 1024)
    ->Arg(1024)
    ->Unit(benchmark::kMillisecond);

// --- memory ------------------------------------------------------------------------------------

// Whatever a gate's remote channels take from the heap, as the allocator rounds it, on the reading
// side: channels, their place in the gate and in the connection, the gate's queues. Connected, with
// credits announced, and nothing ever sent. Not counted: the segments, which belong to the pool of the
// whole process and are there before, and what a gate with one channel takes.
void idle_channel(benchmark::State& state, const engine::NetworkSemantics& semantics) {
  constexpr std::int32_t kChannels = 1000;
  engine::NetworkConfig config;
  config.semantics = &semantics;
  config.segment_bytes = 4096;
  Stacks stacks(2, config);
  std::vector<std::unique_ptr<engine::ResultPartition>> partitions;
  for (std::int32_t i = 0; i < kChannels; ++i) partitions.push_back(make_partition(stacks, 0, i));
  const auto live_of = [&](std::int32_t channels) {
    engine::InputGateDescriptor descriptor;
    for (std::int32_t i = 0; i < channels; ++i) {
      descriptor.channels.push_back({partition_id(i), 0, engine::ProcessId{1}});
    }
    const std::uint64_t before = testing::live_bytes();
    auto gate =
        stacks.environment(1).create_gate(descriptor, [](const std::string&) { std::abort(); });
    gate->request_partitions();
    return std::pair(std::move(gate), testing::live_bytes() - before);
  };
  live_of(kChannels).first.reset();  // the pool has its segments, the slabs have grown
  stacks.run_for(Duration::seconds(1));
  partitions.clear();
  for (std::int32_t i = 0; i < kChannels; ++i) partitions.push_back(make_partition(stacks, 0, i));
  std::uint64_t one = 0;
  std::uint64_t all = 0;
  for (auto _ : state) {
    one = live_of(1).second;
    all = live_of(kChannels).second;
  }
  state.counters["bytes"] = static_cast<double>(all - one) / (kChannels - 1);
}

BENCHMARK_CAPTURE(idle_channel, f110, engine::network_semantics_110())
    ->Name("network/idle_channel/f110")
    ->Iterations(1);
BENCHMARK_CAPTURE(idle_channel, f120, engine::network_semantics_120())
    ->Name("network/idle_channel/f120")
    ->Iterations(1);

}  // namespace
}  // namespace tailrace
