// What flows through a job at fidelity `records`, and how it looks on the wire.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/base/time.hpp"

namespace tailrace::engine {

// One stream record. `text` is borrowed: it points into a buffer, a file or an operator's scratch
// space and is valid for the duration of the call that hands the record over.
struct Record {
  std::string_view text;
  std::int64_t number = 0;  // meaningful on edges of type kStringLong only
  base::Time created;       // when the record was offered to the source; carried on the wire
};

// Serializers of an edge: Flink's StringSerializer, or a Tuple2<String, Long>.
enum class RecordType : std::uint8_t { kString, kStringLong };

// Where an operator or a source puts its records.
class Output {
 public:
  virtual void collect(const Record& record) = 0;

 protected:
  ~Output() = default;
};

}  // namespace tailrace::engine
