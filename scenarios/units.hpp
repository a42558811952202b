// Values with units, as people write them.
//
// Decimals are exact (`1.5s`), signs other than a leading `-` and exponents are not numbers. Each
// parser says in one clause what is wrong and which spellings are right.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/base/rate.hpp"
#include "sim/base/result.hpp"
#include "sim/base/time.hpp"

namespace tailrace::scenarios {

template <typename T>
using Parsed = base::Result<T, std::string>;  // the error completes "VALUE …"

// A to Z in lower case; everything else as it is, whatever the locale.
[[nodiscard]] std::string ascii_lower(std::string_view text);

// `ns us ms s min h d`, and Flink's own longer labels (`10 minutes`). Not negative, and at most
// about 106 days, so that sums of a few never overflow.
[[nodiscard]] Parsed<base::Duration> parse_duration(std::string_view text);

// Bytes: `B KB MB GB TB` decimal, `KiB MiB GiB TiB` binary.
[[nodiscard]] Parsed<std::int64_t> parse_size(std::string_view text);

// `bps Kbps Mbps Gbps` (bits) or a size `/s`. At least one byte per second.
[[nodiscard]] Parsed<base::BytesPerSecond> parse_bandwidth(std::string_view text);

// Events: `/s`, with `k M G` before it, also `/min`, `/h`. `count` in each `per`, count > 0 or a 0
// that says that nothing comes.
struct EventRate {
  std::int64_t count = 0;
  base::Duration per = base::Duration::seconds(1);
};
[[nodiscard]] Parsed<EventRate> parse_rate(std::string_view text);

// `20%`, `0.5%`: parts per million, 0 to 100 %.
[[nodiscard]] Parsed<std::int64_t> parse_percent(std::string_view text);

// A plain decimal number in thousandths (`8`, `1.5`); at most three decimals.
[[nodiscard]] Parsed<std::int64_t> parse_milli(std::string_view text);

// A whole number, perhaps negative.
[[nodiscard]] Parsed<std::int64_t> parse_integer(std::string_view text);

// `true` or `false`.
[[nodiscard]] Parsed<bool> parse_boolean(std::string_view text);

// Flink 1.10 TimeUtils.parseDuration: whole numbers, no unit means milliseconds, no `m`.
[[nodiscard]] Parsed<base::Duration> parse_flink_duration(std::string_view text);

// Flink MemorySize.parse: whole numbers, no unit means bytes, all units binary.
[[nodiscard]] Parsed<std::int64_t> parse_flink_memory(std::string_view text);

}  // namespace tailrace::scenarios
