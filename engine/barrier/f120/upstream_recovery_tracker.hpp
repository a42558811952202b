// Holds the senders of a gate back until all of them have handed on what they had in flight.
//
// Flink 1.20 UpstreamRecoveryTracker (spec barriers.md 5.11).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/network/input_gate.hpp"

namespace tailrace::engine::f120 {

class UpstreamRecoveryTracker {
 public:
  explicit UpstreamRecoveryTracker(InputGate& gate);

  // With the last channel all are resumed; what comes later is ignored.
  // Requires: until then, not twice for one channel.
  void handle_end_of_recovery(ChannelIndex channel);
  [[nodiscard]] bool all_channels_recovered() const { return unrestored_ == 0; }

 private:
  InputGate& gate_;
  std::vector<std::uint8_t> restored_;  // by channel
  std::int32_t unrestored_;
};

}  // namespace tailrace::engine::f120
