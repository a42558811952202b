// Minimum, maximum, sum and count of a quantity; for a whole job also quantiles.
//
// MinMaxAvgStats of Flink 1.10; StatsSummary, StatsSummarySnapshot of Flink 1.20 (spec
// coordinator.md ).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tailrace::engine {

class StatsSummary {
 public:
  // Ignores what is negative: it stands for "not measured".
  void add(std::int64_t value) {
    if (value < 0) return;
    if (count_ == 0 || value < min_) min_ = value;
    if (count_ == 0 || value > max_) max_ = value;
    ++count_;
    sum_ += value;
  }

  // All 0 while nothing was added.
  [[nodiscard]] std::int64_t minimum() const { return min_; }
  [[nodiscard]] std::int64_t maximum() const { return max_; }
  [[nodiscard]] std::int64_t sum() const { return sum_; }
  [[nodiscard]] std::int64_t count() const { return count_; }
  // Rounded down.
  [[nodiscard]] std::int64_t average() const { return count_ == 0 ? 0 : sum_ / count_; }

 private:
  std::int64_t min_ = 0;
  std::int64_t max_ = 0;
  std::int64_t sum_ = 0;
  std::int64_t count_ = 0;
};

// The last values of a quantity, and their quantiles.
//
// Flink 1.20 DescriptiveStatisticsHistogram. Its estimator is Percentile of commons-math3 with the
// estimation type LEGACY: of the n values in ascending order, x1 to xn, the quantile q is at the
// position q (n + 1); below position 1 it is x1, from position n on xn, and between two values it is
// interpolated linearly. Computed in doubles with the operations of that library in its order, so
// that no compiler gets another result.
class QuantileWindow {
 public:
  // Keeps the last `size` values; 0: none, and then there are no quantiles.
  explicit QuantileWindow(std::size_t size) : size_(size) {}

  // Ignores what is negative.
  void add(std::int64_t value);
  // In the order of `quantiles`, each in (0, 1); none: no values. Cost: O(n log n) for the window.
  [[nodiscard]] std::optional<std::vector<double>> quantiles(
      const std::vector<double>& quantiles) const;

 private:
  std::size_t size_;
  std::size_t next_ = 0;  // the oldest value, once the window is full
  std::vector<std::int64_t> values_;
};

}  // namespace tailrace::engine
