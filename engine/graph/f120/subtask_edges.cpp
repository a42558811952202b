#include "engine/graph/f120/subtask_edges.hpp"

#include <cstddef>

#include "sim/base/assert.hpp"

namespace tailrace::engine::f120 {
namespace {

// The index of the first of `many` that belongs to `part` of `parts`, rounded up. Requires:
// parts <= many.
std::int32_t first_of(std::int32_t part, std::int32_t many, std::int32_t parts) {
  const std::int64_t product = std::int64_t{part} * many;
  return static_cast<std::int32_t>((product + parts - 1) / parts);
}

}  // namespace

std::vector<std::int32_t> subpartition_counts(DistributionPattern pattern, std::int32_t producers,
                                              std::int32_t consumers) {
  TAILRACE_ASSERT(producers >= 1 && consumers >= 1);
  const auto count = static_cast<std::size_t>(producers);
  if (pattern == DistributionPattern::ALL_TO_ALL) {
    return std::vector<std::int32_t>(count, consumers);
  }
  if (producers >= consumers) return std::vector<std::int32_t>(count, 1);
  std::vector<std::int32_t> counts;
  counts.reserve(count);
  for (std::int32_t producer = 0; producer < producers; ++producer) {
    counts.push_back(first_of(producer + 1, consumers, producers) -
                     first_of(producer, consumers, producers));
  }
  return counts;
}

std::vector<ConsumedSubpartition> consumed_subpartitions(DistributionPattern pattern,
                                                         std::int32_t producers,
                                                         std::int32_t consumers,
                                                         std::int32_t consumer) {
  TAILRACE_ASSERT(producers >= 1 && consumer >= 0 && consumer < consumers);
  std::vector<ConsumedSubpartition> channels;
  if (pattern == DistributionPattern::ALL_TO_ALL) {
    channels.reserve(static_cast<std::size_t>(producers));
    for (std::int32_t producer = 0; producer < producers; ++producer) {
      channels.push_back({producer, consumer});
    }
    return channels;
  }
  const std::int64_t wide = consumer;
  if (producers >= consumers) {
    const auto first = static_cast<std::int32_t>(wide * producers / consumers);
    const auto end = static_cast<std::int32_t>((wide + 1) * producers / consumers);
    for (std::int32_t producer = first; producer < end; ++producer) {
      channels.push_back({producer, 0});
    }
    return channels;
  }
  // The producer whose group of consumers this one is in; within it Flink does not number the
  // consumers from the first one, but by their index modulo the size of the group.
  const auto producer = static_cast<std::int32_t>(wide * producers / consumers);
  const std::int32_t siblings =
      first_of(producer + 1, consumers, producers) - first_of(producer, consumers, producers);
  channels.push_back({producer, consumer % siblings});
  return channels;
}

}  // namespace tailrace::engine::f120

namespace tailrace::engine {

const SubtaskEdges& subtask_edges_120() {
  static constexpr SubtaskEdges kEdges{&f120::consumed_subpartitions, &f120::subpartition_counts};
  return kEdges;
}

}  // namespace tailrace::engine
