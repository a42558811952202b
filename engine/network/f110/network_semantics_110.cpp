#include "engine/network/f110/event_serializer.hpp"
#include "engine/network/network_semantics.hpp"

namespace tailrace::engine {

const NetworkSemantics& network_semantics_110() {
  static constexpr NetworkSemantics kSemantics{
      .serialize_event = &serialize_event,
      .parse_event = &parse_event,
      .data_type_of = [](const RuntimeEvent&, bool) { return DataType::kEventBuffer; },
      .event_completes_backlog = false,
      .signals_new_reader = true,
      .fills_continuations_first = false,
      .announces_end_of_channel_state = false,
  };
  return kSemantics;
}

}  // namespace tailrace::engine
