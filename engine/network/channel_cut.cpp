#include "engine/network/channel_cut.hpp"

namespace tailrace::engine {

std::optional<std::string> check_channel_cut(const ChannelCut& cut) {
  const auto words = [&cut](const char* problem) {
    return std::string(problem) + ": " + std::to_string(cut.sent) +
           " bytes sent before the barrier, " + std::to_string(cut.consumed) +
           " consumed before the snapshot, " + std::to_string(cut.input_state) +
           " in the state of the input, " + std::to_string(cut.output_state) +
           " in the state of the output";
  };
  if (cut.sent < 0 || cut.consumed < 0 || cut.output_state < 0 || cut.input_state < 0) {
    return words("a count of a channel is negative");
  }
  const std::int64_t kept = cut.consumed + cut.input_state + cut.output_state;
  if (kept < cut.sent) return words("a checkpoint has lost bytes of a channel");
  if (kept > cut.sent) return words("a checkpoint has bytes of a channel twice");
  return std::nullopt;
}

}  // namespace tailrace::engine
