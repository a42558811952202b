// Keeps one value of a given size per key, replaces it, and hands records on as they are.
//
// What a load with keyed state is made of: a ValueState<byte[]> that each record, or a share of the
// records, reads and writes. The first bytes of a value count how often it was replaced, so that what
// happened to a key can be read from a snapshot; all others are zero, because nothing here depends on
// them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/record.hpp"
#include "engine/state/type_serializer.hpp"
#include "engine/task/stream_operator.hpp"

namespace tailrace::engine {

// Name of its keyed value state (key -> byte[]). A snapshot's header has it once; with long keys that
// header takes 400 bytes.
inline constexpr const char* kUpdateState = "data";

struct KeyedUpdateConfig {
  RecordType input = RecordType::kString;
  std::int64_t bytes_per_key = 1;
  std::int64_t update_ppm = 1'000'000;  // of the records of a subtask, evenly spread
  // Keys that a subtask starts with if it is not restored, those of its key groups; null: none.
  // Long keys only.
  std::shared_ptr<const std::vector<std::int64_t>> preload;
};

// Requires: bytes_per_key > 0; 0 <= update_ppm <= 1,000,000.
[[nodiscard]] std::shared_ptr<const StreamOperatorFactory> make_keyed_update_factory(
    KeyedUpdateConfig config);

// How often a value was replaced, modulo 256 to the power of its size or of 8.
[[nodiscard]] std::uint64_t update_count(const Bytes& value);

}  // namespace tailrace::engine
