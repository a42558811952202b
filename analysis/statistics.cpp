#include "analysis/statistics.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/assert.hpp"
#include "sim/base/time.hpp"

namespace tailrace::analysis {

SortedSamples::SortedSamples(std::vector<std::int64_t> samples) : samples_(std::move(samples)) {
  std::sort(samples_.begin(), samples_.end());
}

std::optional<std::int64_t> SortedSamples::min() const {
  if (samples_.empty()) return std::nullopt;
  return samples_.front();
}

std::optional<std::int64_t> SortedSamples::max() const {
  if (samples_.empty()) return std::nullopt;
  return samples_.back();
}

std::optional<std::int64_t> SortedSamples::percentile(std::int64_t permille) const {
  TAILRACE_ASSERT(permille > 0 && permille <= 1000);
  if (samples_.empty()) return std::nullopt;
  const std::int64_t rank = base::ceil_div(permille * count(), 1000);
  return samples_[static_cast<std::size_t>(rank - 1)];
}

}  // namespace tailrace::analysis
