#include "engine/network/f120/event_serializer.hpp"
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
  static constexpr NetworkSemantics kSemantics{
      .serialize_event = &f120::serialize_event,
      .parse_event = &f120::parse_event,
      .data_type_of = &data_type_of_120,
      .event_completes_backlog = true,
      .signals_new_reader = false,
      .fills_continuations_first = true,
      .announces_end_of_channel_state = true,
  };
  return kSemantics;
}

}  // namespace tailrace::engine
