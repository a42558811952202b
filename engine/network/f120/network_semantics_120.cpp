#include "engine/network/f120/event_serializer.hpp"
#include "engine/network/network_semantics.hpp"

namespace tailrace::engine {
namespace {

bool blocks_upstream_120(const RuntimeEvent& event) {
  if (std::holds_alternative<EndOfChannelState>(event)) return true;
  const auto* barrier = std::get_if<CheckpointBarrier>(&event);
  return barrier != nullptr && (barrier->options.alignment == AlignmentType::ALIGNED ||
                                barrier->options.alignment == AlignmentType::FORCED_ALIGNED);
}

}  // namespace

const NetworkSemantics& network_semantics_120() {
  static constexpr NetworkSemantics kSemantics{
      .serialize_event = &f120::serialize_event,
      .parse_event = &f120::parse_event,
      .blocks_upstream = &blocks_upstream_120,
      .event_completes_backlog = true,
      .announces_end_of_channel_state = true,
  };
  return kSemantics;
}

}  // namespace tailrace::engine
