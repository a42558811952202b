// Settings of the network stack of one task manager.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/network/buffer_debloat_configuration.hpp"
#include "engine/network/network_semantics.hpp"
#include "sim/base/time.hpp"

namespace tailrace::engine {

// Defaults are Flink 1.10's (spec barriers.md section 8).
struct NetworkConfig {
  const NetworkSemantics* semantics = &network_semantics_110();
  std::int32_t segment_bytes = 32 * 1024;  // taskmanager.memory.segment-size
  // taskmanager.network.memory.buffers-per-channel; in 1.10 at least 1.
  std::int32_t exclusive_per_channel = 2;
  // taskmanager.network.memory.floating-buffers-per-gate
  std::int32_t floating_per_gate = 8;
  // 1.20: taskmanager.network.memory.read-buffer.required-per-gate.max; none: Flink's default.
  std::optional<std::int32_t> required_buffers_per_gate_max;
  // 1.20: taskmanager.network.memory.max-buffers-per-channel, .max-overdraft-buffers-per-gate
  std::int32_t max_buffers_per_channel = 10;
  std::int32_t max_overdraft_buffers_per_gate = 5;
  // taskmanager.memory.network.*; segments are allocated when they are first needed.
  std::int64_t network_memory_bytes = std::int64_t{64} << 20;
  // taskmanager.network.request-backoff.initial and .max
  base::Duration partition_request_backoff_initial = base::Duration::millis(100);
  base::Duration partition_request_backoff_max = base::Duration::millis(10'000);
  // 1.20: taskmanager.network.partition-request-timeout; how long a request waits at the producer.
  base::Duration partition_request_timeout = base::Duration::millis(10'000);
  // 1.20: taskmanager.network.max-num-tcp-connections, between two processes in one direction.
  std::int32_t max_num_tcp_connections = 1;
  // 1.20: taskmanager.network.tcp-connection.enable-reuse-across-jobs
  bool connection_reuse = true;
  // taskmanager.network.memory.exclusive-buffers-request-timeout-ms
  base::Duration exclusive_buffers_request_timeout = base::Duration::millis(30'000);
  BufferDebloatConfiguration buffer_debloat;  // 1.20
};

}  // namespace tailrace::engine
