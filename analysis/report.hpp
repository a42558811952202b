// The two views of a run: one JSON document, and a summary for a person.
#pragma once

#include <string>

#include "analysis/run_result.hpp"

namespace tailrace::analysis {

// One document, with a line end. The order of members is fixed; `wall_s` alone may differ between
// equal runs. Milliseconds have exactly three decimals and seconds nine, truncated from whole
// nanoseconds; what was never measured is `null`.
[[nodiscard]] std::string to_json(const RunResult& result);

// The same content as lines of text, one per checkpoint, restart and rescale; the last line is
// `trace` and 16 hex digits.
[[nodiscard]] std::string to_text(const RunResult& result);

}  // namespace tailrace::analysis
