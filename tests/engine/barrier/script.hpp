// Scripts of the barrier specification (barriers.md 10.1), played through a gate of 1.10.
//
// Items: `bN` buffer on channel N, `#C@N` barrier of checkpoint C, `xC@N` cancel marker, `EN` end of
// partition. Answers: positions of the items that come out, `Tc` and `Xc:reason` for notifications,
// `{02}` behind an item when the set of blocked channels has changed.
#pragma once

#include <cstdint>
#include <string>

#include "tests/engine/barrier/scripted_input.hpp"

namespace tailrace::engine::test {

// Pages of 512 bytes, as in Flink's tests. The gate is finished at the end of the list.
// Returns what comes out, and the latest id as `L=c`. With several channels a trigger also has the
// pages stored: `T1/2`.
std::string play_through_aligner(std::int32_t channels, std::int64_t max_buffered_bytes,
                                 const std::string& input);

// Returns the script with the notifications behind the items that caused them, then ` | ` and the
// ids still pending.
std::string play_through_tracker(std::int32_t channels, const std::string& input);

// The items of an annotated script.
std::string without_notifications(const std::string& script);

}  // namespace tailrace::engine::test
