// The JSON of Flink's checkpoint statistics, under its REST names.
//
// Those of TaskCheckpointStatisticsWithSubtaskDetails stand in the checkpoint's `tasks`, where Flink
// has a request of its own for each; all else is nested as Flink's is.
#pragma once

#include <string>
#include <string_view>

#include "analysis/checkpoint_statistics.hpp"

namespace tailrace::analysis {

// Text of a JSON string, quotes included; bytes that are not UTF-8 become the replacement character.
[[nodiscard]] std::string json_quote(std::string_view text);

[[nodiscard]] std::string to_json(const CheckpointStatistics& checkpoint,
                                  const StatisticsSchema& schema);
[[nodiscard]] std::string to_json(const CheckpointingStatistics& statistics,
                                  const StatisticsSchema& schema);

}  // namespace tailrace::analysis
