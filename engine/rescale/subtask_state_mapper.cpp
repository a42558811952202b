#include "engine/rescale/subtask_state_mapper.hpp"

#include <cstddef>
#include <numeric>
#include <utility>

#include "engine/state/key_group_assignment.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

// Flink KeyGroupRangeAssignment.UPPER_BOUND_MAX_PARALLELISM: RANGE knows no other (S-3.31).
constexpr std::int32_t kKeyGroups = 32768;

std::vector<std::int32_t> from_to(std::int32_t first, std::int32_t last) {
  std::vector<std::int32_t> result(static_cast<std::size_t>(last - first + 1));
  std::iota(result.begin(), result.end(), first);
  return result;
}

std::vector<std::int32_t> old_subtasks(SubtaskStateMapper mapper, std::int32_t subtask,
                                       std::int32_t old_parallelism, std::int32_t new_parallelism) {
  switch (mapper) {
    case SubtaskStateMapper::ARBITRARY:
    case SubtaskStateMapper::ROUND_ROBIN: {
      std::vector<std::int32_t> result;
      for (std::int32_t old = subtask; old < old_parallelism; old += new_parallelism) {
        result.push_back(old);
      }
      return result;
    }
    case SubtaskStateMapper::FIRST:
      if (subtask > 0) return {};
      return from_to(0, old_parallelism - 1);
    case SubtaskStateMapper::FULL:
      return from_to(0, old_parallelism - 1);
    case SubtaskStateMapper::RANGE: {
      const KeyGroupRange range =
          compute_key_group_range_for_operator_index(kKeyGroups, new_parallelism, subtask);
      return from_to(compute_operator_index_for_key_group(kKeyGroups, old_parallelism, range.first),
                     compute_operator_index_for_key_group(kKeyGroups, old_parallelism, range.last));
    }
    case SubtaskStateMapper::UNSUPPORTED:
      break;
  }
  base::fail_assertion("SubtaskStateMapper", __FILE__, __LINE__);
}

}  // namespace

SubtaskStateMapper upstream_subtask_state_mapper(PartitionerKind partitioner) {
  return downstream_subtask_state_mapper(partitioner) == SubtaskStateMapper::UNSUPPORTED
             ? SubtaskStateMapper::UNSUPPORTED
             : SubtaskStateMapper::ARBITRARY;
}

SubtaskStateMapper downstream_subtask_state_mapper(PartitionerKind partitioner) {
  switch (partitioner) {
    case PartitionerKind::kRebalance:
    case PartitionerKind::kShuffle:
      return SubtaskStateMapper::ROUND_ROBIN;
    case PartitionerKind::kHash:
      return SubtaskStateMapper::RANGE;
    case PartitionerKind::kGlobal:
      return SubtaskStateMapper::FIRST;
    case PartitionerKind::kForward:
    case PartitionerKind::kRescale:
    case PartitionerKind::kBroadcast:
      break;
  }
  return SubtaskStateMapper::UNSUPPORTED;
}

RescaleMappings::RescaleMappings(std::vector<std::vector<std::int32_t>> mappings,
                                 std::int32_t old_count)
    : mappings_(std::move(mappings)), old_count_(old_count) {
  identity_ = static_cast<std::int32_t>(mappings_.size()) >= old_count;
  for (std::size_t i = 0; i < mappings_.size(); ++i) {
    const auto index = static_cast<std::int32_t>(i);
    identity_ = identity_ &&
                (index < old_count ? mappings_[i] == std::vector{index} : mappings_[i].empty());
  }
}

const std::vector<std::int32_t>& RescaleMappings::mapped_indexes(std::int32_t index) const {
  static const std::vector<std::int32_t> kNone;
  return index < size() ? mappings_[static_cast<std::size_t>(index)] : kNone;
}

RescaleMappings RescaleMappings::invert() const {
  std::vector<std::vector<std::int32_t>> inverted(static_cast<std::size_t>(old_count_));
  for (std::size_t i = 0; i < mappings_.size(); ++i) {
    for (const std::int32_t old : mappings_[i]) {
      inverted[static_cast<std::size_t>(old)].push_back(static_cast<std::int32_t>(i));
    }
  }
  return RescaleMappings(std::move(inverted), size());
}

std::vector<std::int32_t> RescaleMappings::ambiguous_targets() const {
  std::vector<std::int32_t> result;
  if (identity_) return result;
  std::vector<std::int32_t> uses(static_cast<std::size_t>(old_count_));
  for (const auto& olds : mappings_) {
    for (const std::int32_t old : olds) ++uses[static_cast<std::size_t>(old)];
  }
  for (std::int32_t old = 0; old < old_count_; ++old) {
    if (uses[static_cast<std::size_t>(old)] > 1) result.push_back(old);
  }
  return result;
}

std::optional<RescaleMappings> new_to_old_subtasks(SubtaskStateMapper mapper,
                                                   std::int32_t old_parallelism,
                                                   std::int32_t new_parallelism) {
  TAILRACE_ASSERT(old_parallelism > 0 && new_parallelism > 0);
  if (mapper == SubtaskStateMapper::UNSUPPORTED) return std::nullopt;
  std::vector<std::vector<std::int32_t>> mappings;
  for (std::int32_t subtask = 0; subtask < new_parallelism; ++subtask) {
    mappings.push_back(old_subtasks(mapper, subtask, old_parallelism, new_parallelism));
  }
  return RescaleMappings(std::move(mappings), old_parallelism);
}

}  // namespace tailrace::engine
