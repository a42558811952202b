#include "engine/graph/f110/subtask_edges.hpp"

#include <cstddef>

#include "sim/base/assert.hpp"

namespace tailrace::engine::f110 {
namespace {

// Inclusive interval of the producers that a consumer reads.
struct Producers {
  std::int32_t first;
  std::int32_t last;
};

Producers pointwise(std::int32_t producers, std::int32_t consumers, std::int32_t consumer) {
  if (producers == consumers) return {consumer, consumer};
  if (producers < consumers) {
    if (consumers % producers == 0) {
      const std::int32_t producer = consumer / (consumers / producers);
      return {producer, producer};
    }
    const float factor = static_cast<float>(consumers) / static_cast<float>(producers);
    const auto producer = static_cast<std::int32_t>(static_cast<float>(consumer) / factor);
    return {producer, producer};
  }
  if (producers % consumers == 0) {
    const std::int32_t factor = producers / consumers;
    return {consumer * factor, consumer * factor + factor - 1};
  }
  const float factor = static_cast<float>(producers) / static_cast<float>(consumers);
  const auto start = static_cast<std::int32_t>(static_cast<float>(consumer) * factor);
  const std::int32_t end =
      consumer == consumers - 1
          ? producers
          : static_cast<std::int32_t>(static_cast<float>(consumer + 1) * factor);
  return {start, end - 1};
}

}  // namespace

std::vector<std::int32_t> subpartition_counts(DistributionPattern pattern, std::int32_t producers,
                                              std::int32_t consumers) {
  if (pattern == DistributionPattern::ALL_TO_ALL) {
    return std::vector<std::int32_t>(static_cast<std::size_t>(producers), consumers);
  }
  std::vector<std::int32_t> counts(static_cast<std::size_t>(producers), 0);
  for (std::int32_t consumer = 0; consumer < consumers; ++consumer) {
    const Producers read = pointwise(producers, consumers, consumer);
    for (std::int32_t producer = read.first; producer <= read.last; ++producer) {
      ++counts[static_cast<std::size_t>(producer)];
    }
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
  const Producers read = pointwise(producers, consumers, consumer);
  // Flink takes the consumer's index modulo the number of consumers of the first partition read.
  std::int32_t siblings = 0;
  for (std::int32_t other = 0; other < consumers; ++other) {
    const Producers others = pointwise(producers, consumers, other);
    siblings += others.first <= read.first && read.first <= others.last ? 1 : 0;
  }
  for (std::int32_t producer = read.first; producer <= read.last; ++producer) {
    channels.push_back({producer, consumer % siblings});
  }
  return channels;
}

}  // namespace tailrace::engine::f110

namespace tailrace::engine {

const SubtaskEdges& subtask_edges_110() {
  static constexpr SubtaskEdges kEdges{&f110::consumed_subpartitions, &f110::subpartition_counts};
  return kEdges;
}

}  // namespace tailrace::engine
