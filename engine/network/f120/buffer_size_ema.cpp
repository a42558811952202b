#include "engine/network/f120/buffer_size_ema.hpp"

#include <algorithm>

#include "engine/network/java_numbers.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {

BufferSizeEMA::BufferSizeEMA(std::int32_t max_buffer_bytes, std::int32_t min_buffer_bytes,
                             std::int64_t samples)
    : max_buffer_bytes_(max_buffer_bytes),
      min_buffer_bytes_(min_buffer_bytes),
      alpha_(2.0 / static_cast<double>(samples + 1)),
      last_buffer_bytes_(max_buffer_bytes) {
  TAILRACE_ASSERT(0 < min_buffer_bytes && min_buffer_bytes <= max_buffer_bytes);
  TAILRACE_ASSERT(samples > 0);
}

std::int32_t BufferSizeEMA::calculate_buffer_size(std::int64_t total_bytes, std::int32_t buffers) {
  TAILRACE_ASSERT(total_bytes >= 0);
  TAILRACE_ASSERT(buffers > 0);
  const std::int64_t desirable =
      std::min<std::int64_t>(total_bytes / buffers, std::int64_t{2} * last_buffer_bytes_);
  const double change = alpha_ * static_cast<double>(desirable - last_buffer_bytes_);
  const auto average = java_narrow<std::int32_t>(last_buffer_bytes_ + change);
  last_buffer_bytes_ = std::clamp(average, min_buffer_bytes_, max_buffer_bytes_);
  return last_buffer_bytes_;
}

}  // namespace tailrace::engine
