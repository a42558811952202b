#include "engine/network/f110/event_serializer.hpp"
#include "engine/network/f110/local_buffer_pool.hpp"
#include "engine/network/f110/remote_input_channel.hpp"
#include "engine/network/network_semantics.hpp"

namespace tailrace::engine {
const NetworkSemantics& network_semantics_110() {
  static const NetworkSemantics kSemantics{
      .serialize_event = &serialize_event,
      .serialize_event_at_receiver = &serialize_event,
      .parse_event = &parse_event,
      .data_type_of = [](const RuntimeEvent&, bool) { return DataType::kEventBuffer; },
      .event_completes_backlog = false,
      .signals_new_reader = true,
      .fills_continuations_first = false,
      .announces_end_of_channel_state = false,
      .make_local_buffer_pool = &LocalBufferPool110::make,
      .redistributes_fixed_pools = true,
      .tells_every_local_pool = true,
      .gate_buffers = &gate_buffers_110,
      .partition_buffers = &partition_buffers_110,
      .wire = wire_format_110(),
      .make_remote_input_channel =
          [](const RemoteChannelContext& context) -> std::unique_ptr<RemoteInputChannel> {
        return std::make_unique<RemoteInputChannel110>(context);
      },
      .subpartition_numbers_items = false,
      .shares_connections = false,
      .requests_wait_at_producer = false,
      .union_is_available_until_empty_poll = false,
  };
  return kSemantics;
}

}  // namespace tailrace::engine
