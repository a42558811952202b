// Which configuration keys are real ones of Flink, whether or not they are modelled here.
#pragma once

#include <span>
#include <string_view>

namespace tailrace::scenarios {

// Keys of 1.10 and 1.20 with all old names, sorted by bytes; without the patterns.
[[nodiscard]] std::span<const std::string_view> flink_keys();

// Whether either version reads that key. Patterns (`metrics.reporter.<name>.<parameter>`) count.
[[nodiscard]] bool is_flink_key(std::string_view key);

}  // namespace tailrace::scenarios
