#include "engine/network/buffer_sizes.hpp"

#include <algorithm>
#include <limits>

namespace tailrace::engine {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();

std::int64_t wish(std::int32_t each, std::int32_t floating, std::int32_t count) {
  return std::int64_t{each} * count + floating;
}

}  // namespace

base::Result<std::int32_t, std::string> target_buffers(std::int32_t exclusive_per_channel,
                                                       std::int32_t floating,
                                                       std::int32_t channels) {
  const std::int64_t target = wish(exclusive_per_channel, floating, channels);
  // One more is needed for the required buffers of 1.20, which count a floating one.
  if (target >= kMost) {
    return base::Failure{
        "Too many network buffers for one input gate: " + std::to_string(channels) +
        " channels with " + std::to_string(exclusive_per_channel) + " buffers each and " +
        std::to_string(floating) + " floating ones."};
  }
  return static_cast<std::int32_t>(target);
}

std::int32_t bounded_max(std::int32_t exclusive_per_channel, std::int32_t floating,
                         std::int32_t subpartitions) {
  return static_cast<std::int32_t>(
      std::min(kMost, wish(exclusive_per_channel, floating, subpartitions)));
}

}  // namespace tailrace::engine
