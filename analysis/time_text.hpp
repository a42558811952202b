// Integer nanoseconds as decimal text, truncated towards zero.
#pragma once

#include <cstdint>
#include <string>

namespace tailrace::analysis {

// Milliseconds with exactly three decimals: 1234567 -> "1.234".
[[nodiscard]] std::string milliseconds(std::int64_t ns);
// Seconds with exactly nine decimals: 1234567 -> "0.001234567".
[[nodiscard]] std::string seconds(std::int64_t ns);
// 16 lower-case hex digits.
[[nodiscard]] std::string hex64(std::uint64_t value);

}  // namespace tailrace::analysis
