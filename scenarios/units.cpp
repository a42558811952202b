#include "scenarios/units.hpp"

#include <array>
#include <limits>
#include <optional>
#include <span>

namespace tailrace::scenarios {
namespace {

__extension__ using Wide = __int128;
constexpr Wide kLargest = std::numeric_limits<std::int64_t>::max();

struct Unit {
  std::string_view name;
  std::int64_t factor;
};

constexpr std::int64_t kMicro = 1'000;
constexpr std::int64_t kMilli = 1'000'000;
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kMinute = 60 * kSecond;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kDay = 24 * kHour;

// The short ones first; the rest are the labels of Flink 1.10 TimeUtils.
constexpr std::array kDurationUnits = std::to_array<Unit>({{"ns", 1},
                                                           {"us", kMicro},
                                                           {"ms", kMilli},
                                                           {"s", kSecond},
                                                           {"min", kMinute},
                                                           {"h", kHour},
                                                           {"d", kDay},
                                                           {"nano", 1},
                                                           {"nanosecond", 1},
                                                           {"nanoseconds", 1},
                                                           {"\u00b5s", kMicro},
                                                           {"micro", kMicro},
                                                           {"micros", kMicro},
                                                           {"microsecond", kMicro},
                                                           {"microseconds", kMicro},
                                                           {"milli", kMilli},
                                                           {"millis", kMilli},
                                                           {"millisecond", kMilli},
                                                           {"milliseconds", kMilli},
                                                           {"sec", kSecond},
                                                           {"secs", kSecond},
                                                           {"second", kSecond},
                                                           {"seconds", kSecond},
                                                           {"minute", kMinute},
                                                           {"minutes", kMinute},
                                                           {"hour", kHour},
                                                           {"hours", kHour},
                                                           {"day", kDay},
                                                           {"days", kDay}});

constexpr std::array kSizeUnits = std::to_array<Unit>({{"B", 1},
                                                       {"KB", 1'000},
                                                       {"kB", 1'000},
                                                       {"MB", 1'000'000},
                                                       {"GB", 1'000'000'000},
                                                       {"TB", 1'000'000'000'000},
                                                       {"KiB", std::int64_t{1} << 10},
                                                       {"MiB", std::int64_t{1} << 20},
                                                       {"GiB", std::int64_t{1} << 30},
                                                       {"TiB", std::int64_t{1} << 40}});

constexpr std::array kBitUnits = std::to_array<Unit>(
    {{"bps", 1}, {"Kbps", 1'000}, {"kbps", 1'000}, {"Mbps", 1'000'000}, {"Gbps", 1'000'000'000}});

constexpr std::array kCountUnits = std::to_array<Unit>(
    {{"", 1}, {"k", 1'000}, {"K", 1'000}, {"M", 1'000'000}, {"G", 1'000'000'000}});

constexpr std::array kFlinkMemoryUnits =
    std::to_array<Unit>({{"", 1},
                         {"b", 1},
                         {"bytes", 1},
                         {"k", std::int64_t{1} << 10},
                         {"kb", std::int64_t{1} << 10},
                         {"kibibytes", std::int64_t{1} << 10},
                         {"m", std::int64_t{1} << 20},
                         {"mb", std::int64_t{1} << 20},
                         {"mebibytes", std::int64_t{1} << 20},
                         {"g", std::int64_t{1} << 30},
                         {"gb", std::int64_t{1} << 30},
                         {"gibibytes", std::int64_t{1} << 30},
                         {"t", std::int64_t{1} << 40},
                         {"tb", std::int64_t{1} << 40},
                         {"tebibytes", std::int64_t{1} << 40}});

const Unit* find_unit(std::string_view name, std::span<const Unit> units) {
  for (const Unit& unit : units) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

// digits * 10^-decimals, and what stands behind it.
struct Number {
  Wide digits = 0;
  std::int64_t divisor = 1;
  bool negative = false;
  bool has_point = false;
  std::string_view rest;
};

constexpr int kMostDecimals = 9;

// Empty: not a number, or one of more than 18 digits.
std::optional<Number> split_number(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  Number number;
  if (!text.empty() && text.front() == '-') {
    number.negative = true;
    text.remove_prefix(1);
  }
  std::size_t at = 0;
  int digits = 0;
  int decimals = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '.' && !number.has_point) {
      number.has_point = true;
      continue;
    }
    if (!is_digit(text[at])) break;
    number.digits = number.digits * 10 + (text[at] - '0');
    if (number.digits > kLargest) return std::nullopt;
    ++digits;
    if (number.has_point) {
      ++decimals;
      number.divisor *= 10;
    }
    if (decimals > kMostDecimals) return std::nullopt;
  }
  if (digits == 0 || (number.has_point && decimals == 0)) return std::nullopt;
  text.remove_prefix(at);
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  number.rest = text;
  return number;
}

struct Kind {
  std::string_view what;       // "a duration"
  std::string_view spellings;  // "5ns, 5us, …"
};

base::Failure<std::string> wrong(const Kind& kind) {
  return {"is not " + std::string(kind.what) + "; write it as " + std::string(kind.spellings)};
}

// One number with one unit, as a whole multiple of the smallest unit.
Parsed<std::int64_t> scaled(std::string_view text, std::span<const Unit> units, const Kind& kind,
                            std::int64_t per_unit = 1) {
  const std::optional<Number> number = split_number(text);
  if (!number.has_value()) return wrong(kind);
  if (number->negative) {
    return base::Failure<std::string>{"is negative, and " + std::string(kind.what) + " cannot be"};
  }
  if (number->rest.empty() && find_unit("", units) == nullptr) {
    return base::Failure<std::string>{"has no unit; write it as " + std::string(kind.spellings)};
  }
  const Unit* unit = find_unit(number->rest, units);
  if (unit == nullptr) {
    return base::Failure<std::string>{"is not " + std::string(kind.what) + ": there is no unit \"" +
                                      std::string(number->rest.substr(0, 20)) + "\"; write it as " +
                                      std::string(kind.spellings)};
  }
  const Wide product = number->digits * unit->factor;  // below 2^63 * 2^47
  const Wide divisor = static_cast<Wide>(number->divisor) * per_unit;
  if (product % divisor != 0) {
    return base::Failure<std::string>{"is finer than this can be; write it as " +
                                      std::string(kind.spellings)};
  }
  if (product / divisor > kLargest) {
    return base::Failure<std::string>{"is too large for " + std::string(kind.what)};
  }
  return static_cast<std::int64_t>(product / divisor);
}

constexpr Kind kDuration{"a duration", "5ns, 5us, 5ms, 5s, 5min, 5h or 5d"};
constexpr Kind kSize{"a size", "5B, 5KB, 5MB, 5GB, 5TB (decimal) or 5KiB, 5MiB, 5GiB (binary)"};
constexpr Kind kBandwidth{"a bandwidth", "5Kbps, 5Mbps, 5Gbps or 5KB/s, 5MB/s, 5GB/s"};
constexpr Kind kRate{"a rate", "5/s, 5k/s, 5M/s, 5/min or 5/h"};
constexpr Kind kPercent{"a share", "5% or 0.5%"};
constexpr Kind kFlinkDuration{"a duration of Flink",
                              "5 ms, 5 s, 5 min, 5 h or 5 d (whole numbers; without a unit: ms)"};
constexpr Kind kFlinkMemory{"a memory size of Flink",
                            "5 kb, 5 mb or 5 gb (whole numbers, binary; without a unit: bytes)"};

constexpr std::int64_t kLongestDuration = std::numeric_limits<std::int64_t>::max() / 1000;

Parsed<base::Duration> as_duration(const Parsed<std::int64_t>& ns, const Kind& kind) {
  if (!ns.ok()) return base::Failure<std::string>{ns.error()};
  if (ns.value() > kLongestDuration) {
    return base::Failure<std::string>{"is too large for " + std::string(kind.what) +
                                      "; the longest is 106 days"};
  }
  return base::Duration::nanos(ns.value());
}

}  // namespace

std::string ascii_lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

Parsed<base::Duration> parse_duration(std::string_view text) {
  return as_duration(scaled(text, kDurationUnits, kDuration), kDuration);
}

Parsed<std::int64_t> parse_size(std::string_view text) {
  return scaled(text, kSizeUnits, kSize);
}

Parsed<base::BytesPerSecond> parse_bandwidth(std::string_view text) {
  Parsed<std::int64_t> bytes = 0;
  if (text.ends_with("/s")) {
    bytes = scaled(text.substr(0, text.size() - 2), kSizeUnits, kBandwidth);
  } else {
    bytes = scaled(text, kBitUnits, kBandwidth, 8);
  }
  if (!bytes.ok()) return base::Failure<std::string>{bytes.error()};
  if (bytes.value() == 0) {
    return base::Failure<std::string>{"is zero, and nothing would ever arrive"};
  }
  return base::BytesPerSecond{bytes.value()};
}

Parsed<EventRate> parse_rate(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    if (split_number(text).has_value()) {
      return base::Failure<std::string>{"has no unit; write it as " + std::string(kRate.spellings)};
    }
    return wrong(kRate);
  }
  EventRate rate;
  const std::string_view per = text.substr(slash + 1);
  if (per == "s") {
    rate.per = base::Duration::seconds(1);
  } else if (per == "min") {
    rate.per = base::Duration::seconds(60);
  } else if (per == "h") {
    rate.per = base::Duration::seconds(3600);
  } else {
    return wrong(kRate);
  }
  const std::string_view amount = text.substr(0, slash);
  const std::optional<Number> number = split_number(amount);
  if (!number.has_value()) return wrong(kRate);
  // `0.5/s` is one in two seconds: the decimals move into the span.
  const Unit* unit = find_unit(number->rest, kCountUnits);
  if (unit == nullptr) return wrong(kRate);
  if (number->negative) return base::Failure<std::string>{"is negative, and a rate cannot be"};
  Wide count = number->digits * unit->factor;
  std::int64_t divisor = number->divisor;
  while (divisor > 1 && count % 10 == 0) {
    count /= 10;
    divisor /= 10;
  }
  constexpr Wide kMostPerSecond = 1'000'000'000;
  if (count / divisor > kMostPerSecond * (rate.per.ns / kSecond) || divisor > 1'000'000) {
    return base::Failure<std::string>{"is out of range; rates are from 0.000001 to 1G per second"};
  }
  rate.count = static_cast<std::int64_t>(count);
  rate.per = rate.per * divisor;
  return rate;
}

Parsed<std::int64_t> parse_percent(std::string_view text) {
  static constexpr std::array kPercentUnits = std::to_array<Unit>({{"%", 10'000}});
  Parsed<std::int64_t> ppm = scaled(text, kPercentUnits, kPercent);
  if (ppm.ok() && ppm.value() > 1'000'000) {
    return base::Failure<std::string>{"is more than 100%"};
  }
  return ppm;
}

Parsed<std::int64_t> parse_milli(std::string_view text) {
  static constexpr std::array kNone = std::to_array<Unit>({{"", 1'000}});
  return scaled(text, kNone, {"a number", "8, 1.5 or 0.125 (at most three decimals)"});
}

Parsed<std::int64_t> parse_integer(std::string_view text) {
  const std::optional<Number> number = split_number(text);
  if (!number.has_value() || number->has_point || !number->rest.empty()) {
    return base::Failure<std::string>{"is not a whole number"};
  }
  const auto value = static_cast<std::int64_t>(number->digits);
  return number->negative ? -value : value;
}

Parsed<bool> parse_boolean(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return base::Failure<std::string>{"is neither true nor false"};
}

Parsed<base::Duration> parse_flink_duration(std::string_view text) {
  const std::optional<Number> number = split_number(text);
  if (!number.has_value() || number->has_point) return wrong(kFlinkDuration);
  const std::string unit = ascii_lower(number->rest);
  // In 1.10 `us` is no label, only the written-out forms are.
  if (unit == "us") return wrong(kFlinkDuration);
  std::string whole = number->negative ? "-" : "";
  whole += ascii_lower(text.substr(text.find_first_of("0123456789")));
  if (unit.empty()) whole += "ms";
  return as_duration(scaled(whole, kDurationUnits, kFlinkDuration), kFlinkDuration);
}

Parsed<std::int64_t> parse_flink_memory(std::string_view text) {
  const std::optional<Number> number = split_number(text);
  if (!number.has_value() || number->has_point) return wrong(kFlinkMemory);
  return scaled(ascii_lower(text), kFlinkMemoryUnits, kFlinkMemory);
}

}  // namespace tailrace::scenarios
