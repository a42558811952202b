// Decides how full the buffers on their way to one gate should be, and when to tell the senders.
//
// Flink 1.20 BufferDebloater (spec barriers.md section 7). Pure: knows neither gate nor clock. The
// gate runs it each period and announces what it returns to every channel.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/network/buffer_debloat_configuration.hpp"
#include "engine/network/f120/buffer_size_ema.hpp"
#include "sim/base/time.hpp"

namespace tailrace::engine {

class BufferDebloater {
 public:
  // Requires: configuration.find_error(max_buffer_bytes) is empty. `max_buffer_bytes`: the segment
  // size, which is also taken for announced.
  BufferDebloater(const BufferDebloatConfiguration& configuration, std::int32_t max_buffer_bytes);

  // `throughput`: bytes a second, of the ThroughputCalculator. `buffers_in_use`: of all channels of
  // the gate, those queued at the senders included; less than one counts as one.
  // Requires: throughput >= 0.
  // Returns: the size to announce; nothing if the announced one is near enough.
  std::optional<std::int32_t> recalculate_buffer_size(std::int64_t throughput,
                                                      std::int32_t buffers_in_use);

  // Whether `new_size` would be kept quiet while `announced` is what the senders know. The smallest
  // and the largest size are always announced.
  [[nodiscard]] bool skip_update(std::int32_t new_size, std::int32_t announced) const;

  // Flink's metrics of a gate; both cost nothing to read.
  // The last size that was announced (debloatedBufferSize), in bytes.
  [[nodiscard]] std::int32_t last_buffer_size() const { return last_buffer_size_; }
  // What the buffers in use take at the last throughput (estimatedTimeToConsumeBuffersMs), in whole
  // milliseconds; of the last run, announced or not; 0 before the first.
  [[nodiscard]] base::Duration last_estimated_time_to_consume() const {
    return last_estimated_time_to_consume_;
  }

 private:
  std::int64_t target_ms_;
  std::int32_t max_buffer_bytes_;
  std::int32_t min_buffer_bytes_;
  double threshold_factor_;
  BufferSizeEMA buffer_size_ema_;
  base::Duration last_estimated_time_to_consume_;
  std::int32_t last_buffer_size_;
};

}  // namespace tailrace::engine
