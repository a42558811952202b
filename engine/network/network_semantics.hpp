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
#include "engine/network/netty_message.hpp"
#include "engine/network/remote_channel_context.hpp"

namespace tailrace::engine {

class RemoteInputChannel;

struct NetworkSemantics {
  // Flink EventSerializer.
  EventBytes (*serialize_event)(const RuntimeEvent& event);
  // Of an event that a receiver makes itself: without what a sender's allocation leaves unused.
  EventBytes (*serialize_event_at_receiver)(const RuntimeEvent& event);
  // Requires: bytes that one of the above made.
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
  // Flink NettyMessage.
  const WireFormat& wire;
  std::unique_ptr<RemoteInputChannel> (*make_remote_input_channel)(
      const RemoteChannelContext& context);
  // Who counts the items of a channel: the subpartition, when they are polled, or the reader at the
  // connection.
  bool subpartition_numbers_items;
  // Whether all data sets share the connections between two processes, which stay open when they
  // are not used, or have one each, which is closed behind its last channel (spec barriers.md 6.6).
  bool shares_connections;
  // Whether a request for a partition that does not exist yet waits at its producer; if not, the
  // consumer asks again and again (spec barriers.md 6.10).
  bool requests_wait_at_producer;
  // Whether a union of gates counts as available until a poll has found nothing; if not, until it
  // has given its last item (spec barriers.md 6.9).
  bool union_is_available_until_empty_poll;
};

[[nodiscard]] const NetworkSemantics& network_semantics_110();
[[nodiscard]] const NetworkSemantics& network_semantics_120();

}  // namespace tailrace::engine
