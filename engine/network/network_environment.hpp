// The network stack of one task manager process.
//
// Flink NettyShuffleEnvironment, NettyConnectionManager, PartitionRequestServerHandler (spec
// barriers.md 6.6). Connections are opened by the consumer: in 1.10 one for each producer process
// and data set, in 1.20 max_num_tcp_connections for each producer process.
// Outlives the partitions, writers and gates that were made with it, and every Buffer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/network/network_config.hpp"
#include "engine/network/result_partition.hpp"
#include "engine/network/single_input_gate.hpp"
#include "engine/ports.hpp"
#include "engine/scheduling/deployment.hpp"

namespace tailrace::engine {

class NetworkEnvironment;
class WireMessage;

// Finds the stack at the other end of a connection. Asked only in callbacks that run in that
// process: what a message does at the peer must reach the peer's own objects.
class NetworkPeers {
 public:
  // Null if that process is dead.
  virtual NetworkEnvironment* environment_of(ProcessId process) = 0;
  // How error messages name a process.
  [[nodiscard]] virtual std::string address_of(ProcessId process) const {
    return "process-" + std::to_string(process.value);
  }

 protected:
  ~NetworkPeers() = default;
};

class NetworkEnvironment {
 public:
  NetworkEnvironment(const Ports& ports, const NetworkConfig& config, NetworkPeers& peers);
  ~NetworkEnvironment();
  NetworkEnvironment(const NetworkEnvironment&) = delete;
  NetworkEnvironment& operator=(const NetworkEnvironment&) = delete;

  // Requests for the partition are served from now until its release or destruction.
  // Errors: null if there are not enough buffers; `error` then says it in Flink's words.
  std::unique_ptr<ResultPartition> create_partition(const ResultPartitionDescriptor& descriptor,
                                                    std::string* error = nullptr);
  std::unique_ptr<SingleInputGate> create_gate(const InputGateDescriptor& descriptor,
                                               base::InplaceFunction<void(std::string)> on_failure);

  [[nodiscard]] const NetworkConfig& config() const;

  // Keeps a finished partition of a task that is done until its readers have had everything.
  void keep_until_consumed(std::unique_ptr<ResultPartition> partition);
  // Releases the partitions that are kept for one attempt, read or not.
  void release_partitions(ExecutionAttemptId producer);

  // Segments that are not in the global pool, free ones of living partitions and gates included: 0
  // when all of those are gone and every Buffer has been given back.
  [[nodiscard]] std::int32_t outstanding_segments() const;
  [[nodiscard]] std::int32_t total_segments() const;
  // The process ends: connections and kept partitions go.
  // Requires: partitions, writers and gates that were made with it are gone. Then no segment is
  // outstanding any more; the end of every run and process asserts it.
  void shut_down();
  // Open connections, as consumer and as producer.
  [[nodiscard]] std::size_t client_connections() const;
  [[nodiscard]] std::size_t server_connections() const;

  // For callbacks of messages: what arrives at this process.
  void deliver_to_server(ConnectionId connection, ProcessId client, const WireMessage& message);
  void deliver_to_client(ConnectionId connection, const WireMessage& message);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tailrace::engine
