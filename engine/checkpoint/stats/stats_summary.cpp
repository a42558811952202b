#include "engine/checkpoint/stats/stats_summary.hpp"

#include <algorithm>

#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

double estimate(const std::vector<std::int64_t>& sorted, double quantile) {
  TAILRACE_ASSERT(quantile > 0 && quantile < 1);
  const auto count = static_cast<double>(sorted.size());
  // Flink hands the library a percentage, which the library divides again.
  const double percentage = quantile * 100;
  const double position = percentage / 100 * (count + 1);
  if (position < 1) return static_cast<double>(sorted.front());
  if (position >= count) return static_cast<double>(sorted.back());
  const auto below = static_cast<std::size_t>(position);
  const double fraction = position - static_cast<double>(below);
  const auto lower = static_cast<double>(sorted[below - 1]);
  const auto upper = static_cast<double>(sorted[below]);
  return lower + fraction * (upper - lower);
}

}  // namespace

void QuantileWindow::add(std::int64_t value) {
  if (value < 0 || size_ == 0) return;
  if (values_.size() < size_) {
    values_.push_back(value);
    return;
  }
  values_[next_] = value;
  next_ = next_ + 1 == size_ ? 0 : next_ + 1;
}

std::optional<std::vector<double>> QuantileWindow::quantiles(
    const std::vector<double>& quantiles) const {
  if (values_.empty()) return std::nullopt;
  std::vector<std::int64_t> sorted = values_;
  std::sort(sorted.begin(), sorted.end());
  std::vector<double> result;
  result.reserve(quantiles.size());
  for (const double quantile : quantiles) result.push_back(estimate(sorted, quantile));
  return result;
}

}  // namespace tailrace::engine
