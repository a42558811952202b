// Settings of buffer debloating.
//
// Flink 1.20 BufferDebloatConfiguration and the period of StreamTask (spec barriers.md section 7,
// section 8 `taskmanager.network.memory.buffer-debloat.*`). Does not exist in 1.10. The largest
// size of a buffer is the segment size, so it is not repeated here.
#pragma once

#include <cstdint>
#include <string>

#include "sim/base/time.hpp"

namespace tailrace::engine {

struct BufferDebloatConfiguration {
  bool enabled = false;
  base::Duration period = base::Duration::millis(200);  // between the end of a run and the next
  // How long a task may need for what is in flight towards it. Counts in whole milliseconds.
  base::Duration target = base::Duration::seconds(1);
  std::int32_t samples = 20;                // of the moving average
  std::int32_t threshold_percentages = 25;  // smaller changes are not announced
  std::int32_t min_buffer_bytes = 256;      // taskmanager.memory.min-segment-size

  // What Flink refuses when a task manager starts, in our words; empty: nothing.
  [[nodiscard]] std::string find_error(std::int32_t segment_bytes) const;

  friend bool operator==(const BufferDebloatConfiguration&,
                         const BufferDebloatConfiguration&) = default;
};

}  // namespace tailrace::engine
