// The member `series` of the JSON document.
#pragma once

#include <string>

#include "analysis/series.hpp"

namespace tailrace::analysis {

// One JSON object over several lines, without a line end behind it, indented as a member of the
// document. Seconds have nine decimals and microseconds three, truncated from whole nanoseconds.
[[nodiscard]] std::string to_json(const Series& series);

}  // namespace tailrace::analysis
