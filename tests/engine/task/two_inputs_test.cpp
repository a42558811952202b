// A task whose operator has two inputs of its own, in both generations.
#include <algorithm>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "engine/network/network_semantics.hpp"
#include "tests/engine/task/task_world.hpp"

namespace tailrace::engine {
namespace {

constexpr std::int32_t kLetters = 26;

FakeLog letters_from(char first, bool finite) {
  FakeLog::Lines lines;
  for (std::int32_t i = 0; i < kLetters; ++i) {
    lines.emplace_back(std::string(1, static_cast<char>(first + i)), Time{});
  }
  return FakeLog({lines}, finite);
}

// Two quick sources, of small and of capital letters, and a reader that takes 10 ms for each.
class TwoInputs : public testing::TestWithParam<Generation> {
 protected:
  TwoInputs() : world_(network()) {
    world_.slice_length = Duration::millis(10);
    world_.record_cost = Duration::millis(10);
    world_.slow_operator = 2;
  }
  static NetworkConfig network() {
    NetworkConfig config;
    config.segment_bytes = 1024;  // all letters of a source
    config.semantics =
        GetParam() == Generation::kFlink110 ? &network_semantics_110() : &network_semantics_120();
    return config;
  }
  [[nodiscard]] bool is_110() const { return GetParam() == Generation::kFlink110; }

  // `small_is`, `capital_is`: which input of the reader they are.
  void start(bool finite = false, std::int32_t small_is = 1, std::int32_t capital_is = 2) {
    small_ = letters_from('a', finite);
    capital_ = letters_from('A', finite);
    auto graph = std::make_shared<JobGraph>();
    graph->vertices.resize(3);
    const FakeLog* const logs[] = {&small_, &capital_};
    const std::int32_t numbers[] = {small_is, capital_is};
    JobVertex& reader = graph->vertices[2];
    reader.index = 2;
    reader.name = "reader";
    reader.chain.resize(1);
    reader.chain[0].factory = std::make_shared<StorytellerFactory>(story_);
    reader.chain[0].id.bytes[0] = 3;
    reader.chain[0].stream_node = 2;
    for (std::int32_t v = 0; v < 2; ++v) {
      JobVertex& source = graph->vertices[static_cast<std::size_t>(v)];
      source.index = v;
      source.name = "source";
      source.chain.resize(1);
      source.chain[0].factory = make_line_source_factory(*logs[v]);
      source.chain[0].id.bytes[0] = static_cast<std::uint8_t>(v + 1);
      source.chain[0].stream_node = v;
      source.chain[0].outs.push_back({false, 0});
      JobEdge edge;
      edge.data_set = v;
      edge.source_vertex = v;
      edge.target_vertex = 2;
      edge.target_input = v;
      edge.type_number = numbers[v];
      source.outputs.push_back(edge);
      reader.inputs.push_back(edge);
    }
    graph_ = graph;
    for (std::int32_t v = 0; v < 3; ++v) {
      tasks_[v] = std::make_unique<HostedTask>(world_, descriptor(v));
    }
    // The sources first: everything is there when the reader begins.
    for (std::int32_t v = 0; v < 3; ++v) {
      tasks_[v]->task().invoke();
      world_.run_until_ms(5 * (v + 1));
    }
  }
  std::shared_ptr<const TaskDeploymentDescriptor> descriptor(std::int32_t vertex) const {
    auto descriptor = std::make_shared<TaskDeploymentDescriptor>();
    descriptor->job = JobId{1};
    descriptor->attempt = ExecutionAttemptId{static_cast<std::uint64_t>(vertex) + 1};
    descriptor->graph = graph_;
    descriptor->vertex = vertex;
    descriptor->config.generation = GetParam();
    descriptor->config.checkpointing_enabled = false;
    descriptor->config.segment_bytes = 1024;
    descriptor->config.buffer_timeout = Duration{};
    const auto partition = [](std::int32_t v) {
      return ResultPartitionId{v, 0, ExecutionAttemptId{static_cast<std::uint64_t>(v) + 1}};
    };
    if (vertex < 2) {
      ResultPartitionDescriptor output;
      output.id = partition(vertex);
      descriptor->outputs.push_back(output);
    } else {
      for (std::int32_t v = 0; v < 2; ++v) {
        InputGateDescriptor gate;
        gate.data_set = v;
        gate.channels.push_back({partition(v), 0, ProcessId{1}});
        descriptor->gates.push_back(gate);
      }
    }
    return descriptor;
  }
  HostedTask& reader() { return *tasks_[2]; }
  [[nodiscard]] std::string records() const {
    std::string records;
    for (const std::string& entry : story_) {
      if (entry.size() == 1) records += entry;
    }
    return records;
  }

  TaskWorld world_;
  FakeLog small_ = letters_from('a', false);
  FakeLog capital_ = letters_from('A', false);
  Story story_;
  std::shared_ptr<const JobGraph> graph_;
  std::unique_ptr<HostedTask> tasks_[3];
};

TEST_P(TwoInputs, TakeTurnsAsTheGenerationDoes) {
  start();
  world_.run_until_ms(80);
  EXPECT_EQ(records().substr(0, 6), is_110() ? "aAbBcC" : "abcdef");
  world_.run_until_ms(2000);
  std::string all = records();
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
}

TEST_P(TwoInputs, AMailEndsTheTurnIn120) {
  start();
  world_.run_until_ms(58);
  const std::size_t before = records().size();
  reader().task().notify_checkpoint_complete(1);
  world_.run_until_ms(150);
  const std::string next = records().substr(before, 2);
  if (is_110()) {
    EXPECT_NE(std::islower(next[0]) == 0, std::islower(next[1]) == 0);
  } else {
    EXPECT_EQ(records().substr(0, before).find_first_of("ABC"), std::string::npos);
    EXPECT_EQ(next, "AB");
  }
}

TEST_P(TwoInputs, TheEdgeSaysWhichInputItIs) {
  start(false, 2, 1);
  world_.run_until_ms(60);
  EXPECT_EQ(records().substr(0, 4), is_110() ? "AaBb" : "ABCD");
}

TEST_P(TwoInputs, ShareOneAlignment) {
  start();
  tasks_[0]->trigger(1);  // of the small letters alone
  world_.run_until_ms(1500);
  // Whatever is there has been read, and still there is no snapshot.
  EXPECT_EQ(records().size(), 52u);
  EXPECT_TRUE(reader().acknowledged.empty());
  tasks_[1]->trigger(1);
  world_.run_until_ms(1600);
  EXPECT_EQ(reader().acknowledged, std::vector<CheckpointId>{1});
  EXPECT_EQ(story_.back(), "snapshot 1");
}

TEST_P(TwoInputs, EndWithTheLastOne) {
  start(true);
  world_.run_until_ms(300);
  EXPECT_FALSE(reader().finished.has_value());
  world_.run_until_ms(3000);
  EXPECT_TRUE(reader().finished.has_value());
  EXPECT_EQ(records().size(), 52u);
  EXPECT_EQ(std::count(story_.begin(), story_.end(), "endInput"), is_110() ? 0 : 1);
  EXPECT_EQ(story_.back(), "close");
}

INSTANTIATE_TEST_SUITE_P(Generations, TwoInputs,
                         testing::Values(Generation::kFlink110, Generation::kFlink120),
                         [](const auto& generation) {
                           return generation.param == Generation::kFlink110 ? "Flink110"
                                                                            : "Flink120";
                         });

}  // namespace
}  // namespace tailrace::engine
