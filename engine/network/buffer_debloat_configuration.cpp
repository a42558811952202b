#include "engine/network/buffer_debloat_configuration.hpp"

namespace tailrace::engine {

std::string BufferDebloatConfiguration::find_error(std::int32_t segment_bytes) const {
  if (segment_bytes <= 0) return "the segment size must be positive";
  if (min_buffer_bytes <= 0) return "the smallest buffer size must be positive";
  if (min_buffer_bytes > segment_bytes) {
    return "the smallest buffer size must not exceed the segment size";
  }
  if (samples <= 0) return "the number of samples must be positive";
  if (target.millis_truncated() <= 0) return "the target must be at least a millisecond";
  return {};
}

}  // namespace tailrace::engine
