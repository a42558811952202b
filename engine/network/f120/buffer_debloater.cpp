#include "engine/network/f120/buffer_debloater.hpp"

#include <algorithm>
#include <cstdlib>

#include "engine/network/java_numbers.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

constexpr std::int64_t kMillisInSecond = 1000;

}  // namespace

BufferDebloater::BufferDebloater(const BufferDebloatConfiguration& configuration,
                                 std::int32_t max_buffer_bytes)
    : target_ms_(configuration.target.millis_truncated()),
      max_buffer_bytes_(max_buffer_bytes),
      min_buffer_bytes_(configuration.min_buffer_bytes),
      threshold_factor_(configuration.threshold_percentages / 100.0),
      buffer_size_ema_(max_buffer_bytes, configuration.min_buffer_bytes, configuration.samples),
      last_buffer_size_(max_buffer_bytes) {
  TAILRACE_ASSERT(configuration.find_error(max_buffer_bytes).empty());
}

std::optional<std::int32_t> BufferDebloater::recalculate_buffer_size(std::int64_t throughput,
                                                                     std::int32_t buffers_in_use) {
  const std::int32_t buffers = std::max(1, buffers_in_use);
  const std::int64_t desired_bytes = java_multiply(throughput, target_ms_) / kMillisInSecond;
  const std::int32_t new_size = buffer_size_ema_.calculate_buffer_size(desired_bytes, buffers);
  // Flink multiplies the first two as 32-bit numbers.
  const std::int64_t bytes_in_use = java_multiply(new_size, buffers);
  last_estimated_time_to_consume_ = base::Duration::millis(bytes_in_use * kMillisInSecond /
                                                           std::max<std::int64_t>(1, throughput));
  if (skip_update(new_size, last_buffer_size_)) return std::nullopt;
  last_buffer_size_ = new_size;
  return new_size;
}

bool BufferDebloater::skip_update(std::int32_t new_size, std::int32_t announced) const {
  if (new_size == announced) return true;
  if (new_size <= min_buffer_bytes_ || new_size >= max_buffer_bytes_) return false;
  const auto delta = java_narrow<std::int32_t>(announced * threshold_factor_);
  return std::abs(new_size - announced) < delta;
}

}  // namespace tailrace::engine
