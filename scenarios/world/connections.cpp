#include "scenarios/world/connections.hpp"

#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::scenarios {

Connections::Connections(sim::Network& network, engine::Duration link_latency, RunIn run_in,
                         HostOf host_of, IsAlive is_alive)
    : network_(&network),
      link_latency_(link_latency),
      run_in_(std::move(run_in)),
      host_of_(std::move(host_of)),
      is_alive_(std::move(is_alive)) {}

engine::ConnectionId Connections::open(engine::ProcessId client, engine::ProcessId server,
                                       base::Callback closed) {
  Connection connection;
  connection.client = client;
  connection.server = server;
  const engine::ConnectionId id{static_cast<std::uint32_t>(connections_.size() + 1)};
  if (is_alive_(server)) {
    connection.to_server = network_->open_flow(host_of_(client), host_of_(server));
    connection.to_client = network_->open_flow(host_of_(server), host_of_(client));
    connection.closed_at_client = std::move(closed);
    connection.open = true;
  } else if (!vanished_.contains(server)) {
    // Nobody listens there: refused after a way there and back. A machine without power refuses
    // nothing: who calls it waits, and only heartbeats and time-outs tell.
    run_in_(client, link_latency_ * 2, std::move(closed));
  }
  connections_.push_back(std::move(connection));
  return id;
}

void Connections::accept(engine::ConnectionId id, base::Callback closed) {
  Connection& connection = connections_[id.value - 1];
  if (connection.open) connection.closed_at_server = std::move(closed);
}

void Connections::send(engine::ConnectionId id, engine::ProcessId sender, std::int64_t bytes,
                       base::Callback written, base::Callback delivered) {
  Connection& connection = connections_[id.value - 1];
  if (!connection.open) return;
  TAILRACE_ASSERT(sender == connection.client || sender == connection.server);
  network_->send(sender == connection.client ? connection.to_server : connection.to_client, bytes,
                 std::move(written), std::move(delivered));
}

void Connections::shut(Connection& connection) {
  connection.open = false;
  network_->close_flow(connection.to_server);
  network_->close_flow(connection.to_client);
  connection.closed_at_client.reset();
  connection.closed_at_server.reset();
}

void Connections::close(engine::ConnectionId id) {
  Connection& connection = connections_[id.value - 1];
  if (connection.open) shut(connection);
}

void Connections::process_died(engine::ProcessId process, bool silently) {
  if (silently) vanished_.insert(process);
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    Connection& connection = connections_[i];
    if (!connection.open || (connection.client != process && connection.server != process)) {
      continue;
    }
    const bool client_died = connection.client == process;
    base::Callback closed =
        std::move(client_died ? connection.closed_at_server : connection.closed_at_client);
    const engine::ProcessId peer = client_died ? connection.server : connection.client;
    shut(connection);
    if (!silently && closed) run_in_(peer, link_latency_, std::move(closed));
  }
}

}  // namespace tailrace::scenarios
