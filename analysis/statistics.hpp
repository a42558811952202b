// Order statistics over integer samples.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tailrace::analysis {

// Samples in ascending order, ready for any number of questions.
class SortedSamples {
 public:
  explicit SortedSamples(std::vector<std::int64_t> samples);

  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(samples_.size()); }
  [[nodiscard]] std::optional<std::int64_t> min() const;
  [[nodiscard]] std::optional<std::int64_t> max() const;

  // Nearest rank: the smallest sample that at least `permille` thousandths of all samples do not
  // exceed. None without samples. Requires: 0 < permille <= 1000.
  [[nodiscard]] std::optional<std::int64_t> percentile(std::int64_t permille) const;

 private:
  std::vector<std::int64_t> samples_;
};

}  // namespace tailrace::analysis
