#include "tests/engine/network/test_world.hpp"

#include <algorithm>

namespace tailrace::engine::testing {

TestProcess::TestProcess(TestWorld& world, ProcessId id, const NetworkConfig& config)
    : world_(world), id_(id) {
  ports_.self = id;
  ports_.clock = this;
  ports_.timers = this;
  ports_.links = this;
  ports_.random = this;
  network_ = std::make_unique<NetworkEnvironment>(ports_, config, world);
}

TestProcess::~TestProcess() = default;

Time TestProcess::now() const {
  return world_.now_;
}

TimerId TestProcess::schedule(Duration delay, Callback callback) {
  const std::uint64_t id = world_.post(world_.now_ + delay, id_, std::move(callback));
  world_.timers_.emplace(id, world_.now_ + delay);
  return {id};
}

void TestProcess::cancel(TimerId timer) {
  const auto found = world_.timers_.find(timer.value);
  if (found == world_.timers_.end()) return;
  world_.events_.erase({found->second, timer.value});
  world_.timers_.erase(found);
}

ConnectionId TestProcess::open(ProcessId server, Callback closed) {
  const ConnectionId id{++world_.next_connection_};
  TestWorld::Connection& connection = world_.connections_[id];
  connection.client = id_;
  connection.server = server;
  connection.client_closed = std::move(closed);
  return id;
}

void TestProcess::accept(ConnectionId connection, Callback closed) {
  world_.connections_.at(connection).server_closed = std::move(closed);
}

void TestProcess::send(ConnectionId id, std::int64_t bytes, Callback written, Callback delivered) {
  const auto found = world_.connections_.find(id);
  if (found == world_.connections_.end()) return;
  TestWorld::Connection& connection = found->second;
  const bool from_client = connection.client == id_;
  (from_client ? world_.bytes_to_servers : world_.bytes_to_clients) += bytes;
  Time& free = from_client ? connection.client_free : connection.server_free;
  free = std::max(free, world_.now_) +
         Duration{base::ceil_div(bytes * 1'000'000'000, world_.bytes_per_second)};
  world_.post(free, id_, std::move(written));
  auto arrives = std::make_unique<Callback>(std::move(delivered));
  world_.post(free + world_.latency, from_client ? connection.server : connection.client,
              [world = &world_, id, arrives = std::move(arrives)] {
                if (world->connections_.contains(id)) (*arrives)();
              });
}

void TestProcess::close(ConnectionId connection) {
  world_.connections_.erase(connection);
}

std::int64_t TestProcess::uniform(std::string_view, std::int64_t low, std::int64_t high) {
  draws_ = draws_ * 6364136223846793005ULL + 1442695040888963407ULL;
  return low +
         static_cast<std::int64_t>((draws_ >> 33) % static_cast<std::uint64_t>(high - low + 1));
}

TestProcess& TestWorld::start_process() {
  const ProcessId id{++next_process_};
  return *processes_.emplace(id, std::make_unique<TestProcess>(*this, id, config)).first->second;
}

NetworkEnvironment* TestWorld::environment_of(ProcessId process) {
  const auto found = processes_.find(process);
  return found == processes_.end() ? nullptr : &found->second->network();
}

std::uint64_t TestWorld::post(Time at, ProcessId process, Callback callback) {
  events_.emplace(std::pair{at, ++sequence_}, Event{process, std::move(callback)});
  return sequence_;
}

void TestWorld::kill(ProcessId id) {
  std::erase_if(events_, [id](const auto& entry) { return entry.second.process == id; });
  for (auto at = connections_.begin(); at != connections_.end();) {
    Connection& connection = at->second;
    if (connection.client == id && connection.server_closed) {
      post(now_ + latency, connection.server, std::move(connection.server_closed));
    } else if (connection.server == id) {
      post(now_ + latency, connection.client, std::move(connection.client_closed));
    }
    at = connection.client == id || connection.server == id ? connections_.erase(at) : ++at;
  }
  processes_.erase(id);
}

void TestWorld::run_until(Time end) {
  while (!events_.empty() && events_.begin()->first.first <= end) {
    auto node = events_.extract(events_.begin());
    now_ = node.key().first;
    timers_.erase(node.key().second);
    node.mapped().callback();
  }
  if (end < Time::max()) now_ = std::max(now_, end);
}

}  // namespace tailrace::engine::testing
