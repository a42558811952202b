// A small world for the network stack: one thread, an event loop, links of one rate and latency.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/network/network_environment.hpp"
#include "engine/ports.hpp"

namespace tailrace::engine::testing {

class TestWorld;

// The ports of one process.
class TestProcess final : public Clock, public Timers, public DataLinks, public RandomDraws {
 public:
  TestProcess(TestWorld& world, ProcessId id, const NetworkConfig& config);
  ~TestProcess();

  [[nodiscard]] Time now() const override;
  TimerId schedule(Duration delay, Callback callback) override;
  void cancel(TimerId timer) override;
  ConnectionId open(ProcessId server, Callback closed) override;
  void accept(ConnectionId connection, Callback closed) override;
  void send(ConnectionId connection, std::int64_t bytes, Callback written,
            Callback delivered) override;
  void close(ConnectionId connection) override;
  // A small generator of its own, the same for every stream.
  std::int64_t uniform(std::string_view stream, std::int64_t low, std::int64_t high) override;

  [[nodiscard]] const Ports& ports() const { return ports_; }
  [[nodiscard]] NetworkEnvironment& network() { return *network_; }

 private:
  TestWorld& world_;
  ProcessId id_;
  Ports ports_;
  std::uint64_t draws_ = 0;
  std::unique_ptr<NetworkEnvironment> network_;
};

class TestWorld final : public NetworkPeers {
 public:
  explicit TestWorld(NetworkConfig settings = {}) : config(settings) {}

  TestProcess& start_process();
  // Its callbacks are destroyed; its peers learn of it one latency later.
  void kill(ProcessId id);

  NetworkEnvironment* environment_of(ProcessId process) override;

  // Runs what is due until `end`, or until nothing is left.
  void run_until(Time end);
  void run_for(Duration duration) { run_until(now_ + duration); }

  [[nodiscard]] Time now() const { return now_; }
  // Bytes of all messages sent so far, by direction of the connection.
  std::int64_t bytes_to_clients = 0;
  std::int64_t bytes_to_servers = 0;

  NetworkConfig config;
  Duration latency = Duration::micros(100);
  std::int64_t bytes_per_second = 1'000'000'000;

 private:
  friend class TestProcess;

  struct Event {
    ProcessId process;
    Callback callback;
  };
  struct Connection {
    ProcessId client;
    ProcessId server;
    Callback client_closed;
    Callback server_closed;
    Time client_free{};
    Time server_free{};
    std::uint32_t generation = 0;
  };
  std::uint64_t post(Time at, ProcessId process, Callback callback);

  Time now_{};
  std::uint64_t sequence_ = 0;
  std::map<std::pair<Time, std::uint64_t>, Event> events_;
  std::map<std::uint64_t, Time> timers_;
  std::map<ConnectionId, Connection> connections_;
  std::uint32_t next_connection_ = 0;
  std::uint32_t next_process_ = 0;
  std::map<ProcessId, std::unique_ptr<TestProcess>> processes_;
};

}  // namespace tailrace::engine::testing
