// The world as one process sees it: the engine's ports over the simulation.
//
// One object for each life of a process. When the process dies, everything that it was waiting for
// is destroyed without being run (P2 of engine/ports.hpp), its connections close, and its peers
// hear of that one link latency later. The object itself stays until the end of the run, so that
// whoever still holds its ports finds a dead process and not a dangling pointer.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ports.hpp"
#include "scenarios/world/cost_model.hpp"
#include "sim/host.hpp"
#include "sim/random.hpp"
#include "sim/simulation.hpp"
#include "sim/storage.hpp"

namespace tailrace::scenarios {

class Connections;
class ProcessPorts;

// The random streams of a run, by name.
class RandomStreams {
 public:
  explicit RandomStreams(std::uint64_t seed) : seed_(seed) {}
  sim::RandomStream& stream(std::string_view name) {
    auto found = streams_.find(name);
    if (found == streams_.end()) {
      found = streams_.emplace(std::string(name), sim::RandomStream(seed_, name)).first;
    }
    return found->second;
  }
  // What a sleep of a task's threads lasts too long this time; each task has a stream of its own.
  Duration hiccup(engine::ComputeClient client, const ThreadTimes& threads);

 private:
  std::uint64_t seed_;
  std::map<std::string, sim::RandomStream, std::less<>> streams_;
  std::map<std::pair<std::int32_t, std::int32_t>, sim::RandomStream> sleeps_;
};

// The times that the scenario has fixed, by stream (RandomDraws::fixed_time).
class PinnedTimes {
 public:
  explicit PinnedTimes(const Pins& pins);
  [[nodiscard]] std::optional<Time> next(std::string_view stream) {
    const auto found = times_.find(stream);
    if (found == times_.end() || found->second.empty()) return std::nullopt;
    const Time time = found->second.front();
    found->second.pop_front();
    return time;
  }

 private:
  std::map<std::string, std::deque<Time>, std::less<>> times_;
};

// The contents of the checkpoint store; the sim only knows how long its requests take.
using BlobContents = std::map<std::string, engine::Blob>;

// Directories of the store that have been removed; nothing may be written there any more.
class RemovedDirectories {
 public:
  void add(std::string directory) { directories_.insert(std::move(directory)); }
  // Whether one of the directories above the path has been removed.
  [[nodiscard]] bool cover(std::string_view path) const {
    for (std::size_t end = path.rfind('/'); end != std::string_view::npos && end > 0;
         end = path.rfind('/', end - 1)) {
      if (directories_.contains(path.substr(0, end))) return true;
    }
    return false;
  }

 private:
  std::set<std::string, std::less<>> directories_;
};

// What all processes share. Everything outlives the processes.
struct SharedWorld {
  sim::Simulation* simulation = nullptr;
  Connections* connections = nullptr;
  sim::ObjectStore* store = nullptr;
  sim::ObjectStore* reads = nullptr;  // whom to ask for blobs; often the same
  RandomStreams* random = nullptr;
  PinnedTimes* pins = nullptr;
  const CostModel* costs = nullptr;
  BlobContents* blobs = nullptr;
  RemovedDirectories* removed = nullptr;
  const StorageTrouble* trouble = nullptr;  // what is wrong with the store at the moment
  Duration rpc_latency;
  std::vector<std::unique_ptr<ProcessPorts>>* processes = nullptr;  // by id, from 1

  [[nodiscard]] ProcessPorts& process(engine::ProcessId id) const {
    return *(*processes)[id.value - 1];
  }
};

// How a subtask is slowed down at the moment; shared by all processes of a job.
class SlowDowns {
 public:
  // `factor_milli`: 1000 is normal speed.
  void set(std::int32_t vertex, std::int32_t subtask, std::int64_t factor_milli) {
    factors_[{vertex, subtask}] = factor_milli;
  }
  void clear() { factors_.clear(); }
  [[nodiscard]] std::int64_t factor_milli(engine::ComputeClient client) const {
    if (factors_.empty()) return 1000;
    const auto found = factors_.find({client.vertex, client.subtask});
    return found == factors_.end() ? 1000 : found->second;
  }

 private:
  std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> factors_;
};

class ProcessPorts final : private engine::Clock,
                           private engine::Timers,
                           private engine::RemoteCalls,
                           private engine::DataLinks,
                           private engine::Compute,
                           private engine::BlobStore,
                           private engine::RandomDraws,
                           private sim::EventHandler {
 public:
  ProcessPorts(const SharedWorld& world, engine::ProcessId id, sim::Host& host,
               const SlowDowns& slow_downs, engine::Observer& observer);
  ~ProcessPorts();
  ProcessPorts(const ProcessPorts&) = delete;
  ProcessPorts& operator=(const ProcessPorts&) = delete;

  [[nodiscard]] const engine::Ports& ports() const { return ports_; }
  [[nodiscard]] bool alive() const { return alive_; }
  [[nodiscard]] engine::ProcessId id() const { return id_; }

  // Runs `callback` in this process after `delay`, unless it is dead by then.
  void run_after(Duration delay, base::Callback callback) { schedule(delay, std::move(callback)); }

  // Ends the process. `silently`: its power is cut and nobody is told; otherwise its sockets close.
  void die(bool silently);

 private:
  [[nodiscard]] sim::OwnerTag owner() const;
  // Frees the slot of a timer and hands out its callback.
  base::Callback release(std::uint32_t slot);
  void on_event(std::uint64_t argument) override;

  // Clock
  [[nodiscard]] Time now() const override;
  // Timers
  engine::TimerId schedule(Duration delay, base::Callback callback) override;
  void cancel(engine::TimerId timer) override;
  // RemoteCalls
  void send(engine::ProcessId to, std::int64_t bytes, base::Callback deliver) override;
  // DataLinks
  engine::ConnectionId open(engine::ProcessId server, base::Callback closed) override;
  void accept(engine::ConnectionId connection, base::Callback closed) override;
  void send(engine::ConnectionId connection, std::int64_t bytes, base::Callback written,
            base::Callback delivered) override;
  void close(engine::ConnectionId connection) override;
  // Compute
  [[nodiscard]] Duration price(const engine::Work& work) const override;
  [[nodiscard]] Duration slice() const override;
  void run(engine::ComputeClient client, Duration nominal, base::Callback done) override;
  [[nodiscard]] std::optional<Duration> service(engine::ComputeClient client,
                                                std::int32_t op) const override;
  [[nodiscard]] engine::ServiceRules service_rules() const override;
  Duration wake_up(engine::ComputeClient client) override;
  Duration timer_lateness(engine::ComputeClient client) override;
  // What the store does about a request: `request` when its extra latency has passed.
  void after_extra_latency(base::Callback request);
  // BlobStore
  void put(std::string path, std::vector<std::byte> bytes,
           base::InplaceFunction<void(engine::PutStatus)> done) override;
  bool write_ahead(std::int64_t bytes,
                   base::InplaceFunction<void(engine::PutStatus)> done) override;
  void put_rest(std::string path, std::vector<std::byte> bytes, std::int64_t ahead,
                base::InplaceFunction<void(engine::PutStatus)> done) override;
  void get(const std::string& path, base::InplaceFunction<void(engine::Blob)> done) override;
  void get_range(const std::string& path, std::int64_t offset, std::int64_t length,
                 base::InplaceFunction<void(engine::Blob)> done) override;
  void get_more(const std::string& path, std::int64_t offset, std::int64_t length,
                base::InplaceFunction<void(engine::Blob)> done) override;
  void when_removed(base::InplaceFunction<void()> done) override;
  void remove(const std::string& path) override;
  void remove_directory(const std::string& path) override;
  // Hands out `blob`, which may be null, when its bytes have come.
  // `is_open`: the bytes cross without a request of their own.
  void fetch(engine::Blob blob, bool is_open, base::InplaceFunction<void(engine::Blob)> done);
  [[nodiscard]] engine::Blob part_of(const std::string& path, std::int64_t offset,
                                     std::int64_t length) const;
  // RandomDraws
  std::int64_t uniform(std::string_view stream, std::int64_t low, std::int64_t high) override;
  std::optional<Time> fixed_time(std::string_view stream) override;

  SharedWorld world_;
  engine::ProcessId id_;
  sim::Host* host_;
  const SlowDowns* slow_downs_;
  engine::Ports ports_;
  bool alive_ = true;

  // Pending timers: a slab, so that steady state allocates nothing. The id of a timer is its slot
  // and the slot's generation.
  struct TimerSlot {
    base::Callback callback;
    sim::EventId event;
    std::uint32_t generation = 1;
    bool pending = false;
  };
  std::vector<TimerSlot> timers_;
  std::vector<std::uint32_t> free_timers_;
};

}  // namespace tailrace::scenarios
