// Integer nanoseconds as decimal text, truncated towards zero.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/base/time.hpp"

namespace tailrace::analysis {

// Milliseconds with exactly three decimals: 1234567 -> "1.234".
[[nodiscard]] std::string milliseconds(std::int64_t ns);
// Seconds with exactly nine decimals: 1234567 -> "0.001234567".
[[nodiscard]] std::string seconds(std::int64_t ns);
// For JSON: as seconds(), or `null`.
[[nodiscard]] std::string null_or_seconds(const std::optional<base::Time>& time);
// 16 lower-case hex digits.
[[nodiscard]] std::string hex64(std::uint64_t value);

}  // namespace tailrace::analysis
