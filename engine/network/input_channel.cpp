#include "engine/network/input_channel.hpp"

#include "engine/network/single_input_gate.hpp"

namespace tailrace::engine {

bool InputChannel::increase_backoff(base::Duration& wait) const {
  const base::Duration initial = gate_.config().partition_request_backoff_initial;
  const base::Duration max = gate_.config().partition_request_backoff_max;
  if (initial <= base::Duration{0}) return false;
  if (wait == base::Duration{0}) {
    wait = initial;
  } else if (wait < max) {
    wait = wait * 2 < max ? wait * 2 : max;
  } else {
    return false;
  }
  return true;
}

}  // namespace tailrace::engine
