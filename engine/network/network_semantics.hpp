// What the network stack does differently in the two generations, where it is small.
//
// Made by engine/generation.hpp; belongs to the settings of a process (NetworkConfig).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "engine/network/buffer_consumer.hpp"
#include "engine/network/buffer_sizes.hpp"
#include "engine/network/data_type.hpp"
#include "engine/network/events.hpp"
#include "engine/network/local_buffer_pool.hpp"

namespace tailrace::engine {

struct NetworkSemantics {
  // Flink EventSerializer.
  EventBytes (*serialize_event)(const RuntimeEvent& event);
  // Requires: bytes that serialize_event made.
  RuntimeEvent (*parse_event)(std::span<const std::byte> bytes);
  // What a queue does with that event (1.20 EventSerializer.getDataType; spec barriers.md 1.1).
  // `priority`: its sender wants it to overtake.
  DataType (*data_type_of)(const RuntimeEvent& event, bool priority);
  // Whether an event at the end of a queue tells that the buffer before it is complete (spec
  // barriers.md 6.3).
  bool event_completes_backlog;
  // Whether a subpartition signals a reader that is new and finds items; if not, the reader looks.
  bool signals_new_reader;
  // Whether a buffer that continues a record is filled before it is queued (spec barriers.md 6.2).
  bool fills_continuations_first;
  // Whether a producer tells its consumers when it has handed on what it had in flight, and waits
  // for them (spec barriers.md 5.11).
  bool announces_end_of_channel_state;

  // Flink LocalBufferPool. Null: it refuses such a pool; `error` then says it in its words.
  std::unique_ptr<LocalBufferPool> (*make_local_buffer_pool)(NetworkBufferPool& global,
                                                             const BufferPoolSpec& spec,
                                                             std::string* error);
  // Whether pools whose size cannot change take part when segments are dealt out.
  bool redistributes_fixed_pools;
  // Whether a global pool that has a segment again tells every local pool, or those that have
  // registered, the last one first.
  bool tells_every_local_pool;
  GateBuffersRule gate_buffers;
  PartitionBuffersRule partition_buffers;
};

[[nodiscard]] const NetworkSemantics& network_semantics_110();
[[nodiscard]] const NetworkSemantics& network_semantics_120();

}  // namespace tailrace::engine
