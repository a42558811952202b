#include "engine/barrier/f120/upstream_recovery_tracker.hpp"

#include <cstddef>

#include "sim/base/assert.hpp"

namespace tailrace::engine::f120 {

UpstreamRecoveryTracker::UpstreamRecoveryTracker(InputGate& gate)
    : gate_(gate),
      restored_(static_cast<std::size_t>(gate.channel_count())),
      unrestored_(gate.channel_count()) {}

void UpstreamRecoveryTracker::handle_end_of_recovery(ChannelIndex channel) {
  if (unrestored_ == 0) return;
  std::uint8_t& restored = restored_.at(static_cast<std::size_t>(channel));
  TAILRACE_ASSERT_MSG(restored == 0, "a channel has recovered twice");
  restored = 1;
  if (--unrestored_ > 0) return;
  for (ChannelIndex one = 0; one < gate_.channel_count(); ++one) gate_.resume_consumption(one);
}

}  // namespace tailrace::engine::f120
