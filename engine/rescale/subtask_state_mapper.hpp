// Which old subtasks' buffers in flight a new subtask takes over.
//
// Flink 1.20 SubtaskStateMapper, RescaleMappings (spec rescale.md S-3.28 to S-3.32). Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/graph/stream_graph.hpp"

namespace tailrace::engine {

enum class SubtaskStateMapper : std::uint8_t {
  ARBITRARY,
  ROUND_ROBIN,
  FIRST,
  FULL,
  RANGE,
  UNSUPPORTED,
};

// Of the subtasks that write to an edge of that kind, and of those that read from it (S-3.29).
[[nodiscard]] SubtaskStateMapper upstream_subtask_state_mapper(PartitionerKind partitioner);
[[nodiscard]] SubtaskStateMapper downstream_subtask_state_mapper(PartitionerKind partitioner);

// Whether an old subtask may go to several new ones, which then filter its records.
[[nodiscard]] constexpr bool is_ambiguous(SubtaskStateMapper mapper) {
  return mapper == SubtaskStateMapper::FULL || mapper == SubtaskStateMapper::RANGE;
}

// From each new subtask (or channel) to old ones, ascending.
class RescaleMappings {
 public:
  RescaleMappings() = default;
  RescaleMappings(std::vector<std::vector<std::int32_t>> mappings, std::int32_t old_count);

  [[nodiscard]] const std::vector<std::int32_t>& mapped_indexes(std::int32_t index) const;
  [[nodiscard]] bool is_identity() const { return identity_; }
  // From each old one to new ones.
  [[nodiscard]] RescaleMappings invert() const;
  // Old ones that several new ones take over; none of an identity.
  [[nodiscard]] std::vector<std::int32_t> ambiguous_targets() const;
  [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(mappings_.size()); }

  friend bool operator==(const RescaleMappings&, const RescaleMappings&) = default;

 private:
  std::vector<std::vector<std::int32_t>> mappings_;
  std::int32_t old_count_ = 0;
  bool identity_ = true;
};

// Requires: both parallelisms are positive. None: the mapper is UNSUPPORTED.
[[nodiscard]] std::optional<RescaleMappings> new_to_old_subtasks(SubtaskStateMapper mapper,
                                                                 std::int32_t old_parallelism,
                                                                 std::int32_t new_parallelism);

}  // namespace tailrace::engine
