// Reads the keyed state of a finished snapshot, by the path that a restore takes.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "engine/ids.hpp"
#include "engine/ports.hpp"
#include "engine/state/handles.hpp"
#include "sim/base/result.hpp"

namespace tailrace::engine {

struct KeyedStateEntry {
  OperatorId operator_id;
  std::string state;
  std::string key;    // as text
  std::string value;  // as text
};

// Calls `visit` for every entry of the snapshot's heap streams: operators by id, then states in the
// order of their registration, then entries in the order of their maps (not sorted).
// `read`: the bytes of a file; null if it cannot be read.
// Returns: the number of entries. Errors: a stream that cannot be had or read.
[[nodiscard]] base::Result<std::int64_t, std::string> for_each_keyed_state_entry(
    const TaskStateSnapshot& snapshot, std::int32_t max_parallelism,
    const std::function<Blob(const std::string& path)>& read,
    const std::function<void(const KeyedStateEntry& entry)>& visit);

}  // namespace tailrace::engine
