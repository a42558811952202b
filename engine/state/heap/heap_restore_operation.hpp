// Fills a heap backend from the streams of a checkpoint.
//
// Flink 1.10 HeapRestoreOperation (spec state.md 2.10).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/ports.hpp"
#include "engine/state/fetched_stream.hpp"
#include "engine/state/handles.hpp"
#include "engine/state/heap/heap_keyed_state_backend.hpp"
#include "sim/base/result.hpp"

namespace tailrace::engine {

class HeapRestoreOperation {
 public:
  // `streams[i]` holds what `handles[i]->byte_ranges()` asks for, or more. Null handles are skipped.
  // Requires: the backend has no state yet; as many streams as handles.
  // Returns: what reading has cost: entries and bytes deserialised.
  // Errors: what Flink would have thrown; the backend must then be discarded.
  [[nodiscard]] static base::Result<Work, std::string> restore(
      HeapKeyedStateBackend& backend, const std::vector<KeyedStateHandlePtr>& handles,
      const std::vector<FetchedStream>& streams);
};

}  // namespace tailrace::engine
