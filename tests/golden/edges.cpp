// Replays golden/assignment/edges.jsonl: which subtasks an edge connects, by the rule of 1.20.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/graph/f120/subtask_edges.hpp"
#include "tests/golden/golden_registry.hpp"

namespace tailrace::golden {
namespace {

std::int32_t parallelism_of(const Json& number) {
  const auto parallelism = number.get<std::int64_t>();
  if (parallelism < 1 || parallelism > 1 << 15) {
    throw MalformedCase("parallelism: " + std::to_string(parallelism));
  }
  return static_cast<std::int32_t>(parallelism);
}

void replay_edges(const Json& line) {
  const auto& name = line.at("pattern").get_ref<const std::string&>();
  if (name != "POINTWISE" && name != "ALL_TO_ALL") throw MalformedCase("unknown pattern: " + name);
  const auto pattern = name == "POINTWISE" ? engine::DistributionPattern::POINTWISE
                                           : engine::DistributionPattern::ALL_TO_ALL;
  const std::int32_t up = parallelism_of(line.at("up"));
  const std::int32_t down = parallelism_of(line.at("down"));

  std::vector<std::int32_t> consumers_of_up(static_cast<std::size_t>(up));
  std::int32_t most_producers = 0;
  Json consumers = Json::array();
  for (std::int32_t consumer = 0; consumer < down; ++consumer) {
    const auto channels = engine::f120::consumed_subpartitions(pattern, up, down, consumer);
    std::vector<std::int32_t> producers;
    std::vector<std::int32_t> subpartitions;
    for (const engine::ConsumedSubpartition& channel : channels) {
      producers.push_back(channel.producer);
      subpartitions.push_back(channel.subpartition);
      ++consumers_of_up.at(static_cast<std::size_t>(channel.producer));
    }
    most_producers = std::max(most_producers, static_cast<std::int32_t>(channels.size()));
    const auto interval = [](const std::vector<std::int32_t>& values) -> Json {
      const auto [least, most] = std::minmax_element(values.begin(), values.end());
      return {*least, *most};
    };
    if (channels.empty()) throw Difference("consumer", "channels", "none");
    consumers.push_back({{"down", consumer},
                         {"partitions", interval(producers)},
                         {"subpartitions", interval(subpartitions)}});
    // An interval of producers: no gaps, none twice.
    expect_equal("producers", producers.back() - producers.front() + 1, channels.size());
  }
  expect_equal("consumers", line.at("consumers"), consumers);
  expect_equal("subpartitionsOfUp", line.at("subpartitionsOfUp"),
               engine::f120::subpartition_counts(pattern, up, down));
  expect_equal("maxEdgesToDown", line.at("maxEdgesToDown"), most_producers);
  expect_equal("maxEdgesToUp", line.at("maxEdgesToUp"),
               *std::max_element(consumers_of_up.begin(), consumers_of_up.end()));
}

const Registration kEdges("assignment/edges.jsonl", &replay_edges);

}  // namespace
}  // namespace tailrace::golden
