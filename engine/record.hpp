// What flows through a job at fidelity `records`, and how it looks on the wire.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/base/assert.hpp"
#include "sim/base/time.hpp"

namespace tailrace::engine {

// One stream record. `text` is borrowed: it points into a buffer, a file or an operator's scratch
// space and is valid for the duration of the call that hands the record over.
struct Record {
  std::string_view text;
  std::int64_t number = 0;  // meaningful on edges of type kStringLong only
  base::Time created;       // when the record was offered to the source; carried on the wire
};

// Serializers of an edge: Flink's StringSerializer, or a Tuple2<String, Long>; and what a key selector
// behind it takes as the key: the text, or of a kNumberedString the number that the text begins with.
enum class RecordType : std::uint8_t { kString, kStringLong, kNumberedString };

// The number that a text begins with: all of its decimal digits up to anything else.
// Requires: there is one, and it is a long.
[[nodiscard]] constexpr std::int64_t leading_number(std::string_view text) {
  TAILRACE_ASSERT(!text.empty() && text.front() >= '0' && text.front() <= '9');
  std::int64_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') break;
    number = number * 10 + (c - '0');
  }
  return number;
}

// Where an operator or a source puts its records.
class Output {
 public:
  virtual void collect(const Record& record) = 0;

 protected:
  ~Output() = default;
};

}  // namespace tailrace::engine
