#include "engine/network/f120/throughput_calculator.hpp"

#include <utility>

#include "engine/network/java_numbers.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {

std::int64_t ThroughputCalculator::calculate_throughput() {
  if (measuring_since_ms_) {
    const std::int64_t now = now_ms();
    measured_ms_ += now - std::exchange(*measuring_since_ms_, now);
  }
  const std::int64_t bytes = std::exchange(accumulated_bytes_, 0);
  const std::int64_t ms = std::exchange(measured_ms_, 0);
  TAILRACE_ASSERT(bytes >= 0 && ms >= 0);
  if (ms > 0) current_throughput_ = instant_throughput(bytes, ms);
  return current_throughput_;
}

std::int64_t ThroughputCalculator::instant_throughput(std::int64_t bytes, std::int64_t ms) {
  TAILRACE_ASSERT(bytes >= 0 && ms > 0);
  return java_narrow<std::int64_t>(static_cast<double>(bytes) / static_cast<double>(ms) * 1000);
}

}  // namespace tailrace::engine
