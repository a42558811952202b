#include "engine/network/f120/event_serializer.hpp"
#include "engine/network/f120/local_buffer_pool.hpp"
#include "engine/network/f120/remote_input_channel.hpp"
#include "engine/network/network_semantics.hpp"

namespace tailrace::engine {
namespace {

DataType data_type_of_120(const RuntimeEvent& event, bool priority) {
  if (priority) return DataType::kPrioritizedEventBuffer;
  if (std::holds_alternative<EndOfChannelState>(event)) return DataType::kRecoveryCompletion;
  if (std::holds_alternative<EndOfData>(event)) return DataType::kEndOfData;
  if (std::holds_alternative<EndOfPartitionEvent>(event)) return DataType::kEndOfPartition;
  const auto* barrier = std::get_if<CheckpointBarrier>(&event);
  if (barrier == nullptr || !barrier->options.needs_alignment()) return DataType::kEventBuffer;
  return barrier->options.is_timeoutable() ? DataType::kTimeoutableAlignedCheckpointBarrier
                                           : DataType::kAlignedCheckpointBarrier;
}

}  // namespace

const NetworkSemantics& network_semantics_120() {
  static const NetworkSemantics kSemantics{
      .serialize_event = &f120::serialize_event,
      .serialize_event_at_receiver = &f120::serialize_event_at_receiver,
      .parse_event = &f120::parse_event,
      .data_type_of = &data_type_of_120,
      .event_completes_backlog = true,
      .signals_new_reader = false,
      .fills_continuations_first = true,
      .announces_end_of_channel_state = true,
      .make_local_buffer_pool = &LocalBufferPool120::make,
      .redistributes_fixed_pools = false,
      .tells_every_local_pool = false,
      .gate_buffers = &gate_buffers_120,
      .partition_buffers = &partition_buffers_120,
      .wire = wire_format_120(),
      .make_remote_input_channel =
          [](const RemoteChannelContext& context) -> std::unique_ptr<RemoteInputChannel> {
        return std::make_unique<RemoteInputChannel120>(context);
      },
      .subpartition_numbers_items = true,
      .shares_connections = true,
      .requests_wait_at_producer = true,
      .union_is_available_until_empty_poll = true,
  };
  return kSemantics;
}

}  // namespace tailrace::engine
