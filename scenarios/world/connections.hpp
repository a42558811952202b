// TCP connections between processes over the simulated network.
//
// A connection has two flows, one each way. When a process dies its connections close: what is on
// its way is dropped, and the other end hears of it one link latency later, unless the power was
// cut: then nobody hears anything.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "engine/ports.hpp"
#include "sim/base/callback.hpp"
#include "sim/network.hpp"

namespace tailrace::scenarios {

class ProcessPorts;

class Connections {
 public:
  struct Endpoint {
    engine::ProcessId process;
    sim::HostId host;
  };
  // Runs `callback` in that process after that delay, unless it is dead by then.
  using RunIn = base::InplaceFunction<void(engine::ProcessId, engine::Duration, base::Callback)>;
  using HostOf = base::InplaceFunction<sim::HostId(engine::ProcessId)>;
  using IsAlive = base::InplaceFunction<bool(engine::ProcessId)>;

  Connections(sim::Network& network, engine::Duration link_latency, RunIn run_in, HostOf host_of,
              IsAlive is_alive);

  engine::ConnectionId open(engine::ProcessId client, engine::ProcessId server,
                            base::Callback closed);
  void accept(engine::ConnectionId connection, base::Callback closed);
  void send(engine::ConnectionId connection, engine::ProcessId sender, std::int64_t bytes,
            base::Callback written, base::Callback delivered);
  void close(engine::ConnectionId connection);
  void process_died(engine::ProcessId process, bool silently);

 private:
  struct Connection {
    engine::ProcessId client;
    engine::ProcessId server;
    sim::FlowId to_server;
    sim::FlowId to_client;
    base::Callback closed_at_client;
    base::Callback closed_at_server;
    bool open = false;
  };

  void shut(Connection& connection);

  sim::Network* network_;
  engine::Duration link_latency_;
  RunIn run_in_;
  HostOf host_of_;
  IsAlive is_alive_;
  std::set<engine::ProcessId> vanished_;  // processes whose machines lost their power
  std::vector<Connection> connections_;   // by id, from 1
};

}  // namespace tailrace::scenarios
