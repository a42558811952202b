#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "engine/graph/f110/subtask_edges.hpp"
#include "engine/graph/max_parallelism.hpp"
#include "engine/graph/murmur3_128.hpp"
#include "engine/graph/pipelined_regions.hpp"
#include "engine/graph/streaming_job_graph_generator.hpp"
#include "engine/task/stream_operator.hpp"

namespace tailrace::engine {
namespace {

class AnyFactory final : public StreamOperatorFactory {
 public:
  [[nodiscard]] std::unique_ptr<StreamOperator> create() const override { return nullptr; }
};

StreamNode node(const std::string& name, std::int32_t parallelism) {
  StreamNode result;
  result.name = name;
  result.parallelism = parallelism;
  result.factory = std::make_shared<const AnyFactory>();
  return result;
}

StreamEdge edge(std::int32_t source, std::int32_t target, PartitionerKind partitioner) {
  StreamEdge result;
  result.source = source;
  result.target = target;
  result.partitioner = partitioner;
  return result;
}

// lines -> words (chained), by key to count -> sink (chained).
StreamGraph word_count(std::int32_t sources, std::int32_t counters) {
  StreamGraph graph;
  graph.job_name = "word count";
  graph.nodes = {node("lines", sources), node("words", sources), node("count", counters),
                 node("sink", counters)};
  graph.edges = {edge(0, 1, PartitionerKind::kForward), edge(1, 2, PartitionerKind::kHash),
                 edge(2, 3, PartitionerKind::kForward)};
  return graph;
}

std::string error_of(const StreamGraph& graph) {
  const auto job = generate_job_graph(graph);
  return job.ok() ? "none" : job.error();
}

TEST(StreamingJobGraphGenerator, ChainsForwardEdgesAndCutsAtTheKey) {
  const auto result = generate_job_graph(word_count(2, 3));
  ASSERT_TRUE(result.ok());
  const JobGraph& job = result.value();
  ASSERT_EQ(job.vertices.size(), 2U);
  EXPECT_EQ(job.vertices[0].name, "lines -> words");
  EXPECT_EQ(job.vertices[1].name, "count -> sink");
  ASSERT_EQ(job.vertices[0].chain.size(), 2U);
  EXPECT_EQ(job.vertices[0].id, job.vertices[0].chain[0].id);
  // Tail first.
  EXPECT_EQ(job.vertices[0].operator_ids_tail_first[0], job.vertices[0].chain[1].id);
  ASSERT_EQ(job.vertices[0].chain[0].outs.size(), 1U);
  EXPECT_TRUE(job.vertices[0].chain[0].outs[0].chained);
  EXPECT_EQ(job.vertices[0].chain[0].outs[0].target, 1);
  EXPECT_FALSE(job.vertices[0].chain[1].outs[0].chained);
  ASSERT_EQ(job.vertices[1].inputs.size(), 1U);
  EXPECT_EQ(job.vertices[1].inputs[0].pattern, DistributionPattern::ALL_TO_ALL);
  EXPECT_EQ(job.vertices[1].inputs[0].source_vertex, 0);
}

TEST(StreamingJobGraphGenerator, IdsWithUidDoNotDependOnParallelism) {
  const auto small = generate_job_graph(word_count(2, 2));
  const auto large = generate_job_graph(word_count(64, 64));
  ASSERT_TRUE(small.ok() && large.ok());
  for (std::size_t v = 0; v < 2; ++v) {
    EXPECT_EQ(small.value().vertices[v].operator_ids_tail_first,
              large.value().vertices[v].operator_ids_tail_first);
  }
}

TEST(StreamingJobGraphGenerator, AnEdgeWithoutPartitionerIsForwardOrRebalance) {
  StreamGraph graph = word_count(2, 2);
  graph.edges[2].default_partitioner = true;
  graph.nodes[3].parallelism = 3;
  const auto job = generate_job_graph(graph);
  ASSERT_TRUE(job.ok()) << job.error();
  ASSERT_EQ(job.value().vertices.size(), 3U);
  EXPECT_EQ(job.value().vertices[2].inputs[0].partitioner, PartitionerKind::kRebalance);
}

// S-3.30.
TEST(StreamingJobGraphGenerator,
     APointwiseOrBroadcastEdgeKeepsBarriersBehindDataOnAllItsNeighbours) {
  StreamGraph graph;
  graph.job_name = "two inputs";
  graph.nodes = {node("a", 2), node("b", 2), node("join", 4), node("count", 3)};
  graph.edges = {edge(0, 2, PartitionerKind::kHash), edge(1, 2, PartitionerKind::kRescale),
                 edge(2, 3, PartitionerKind::kHash)};
  const auto overtaking = [&graph] {
    const auto job = generate_job_graph(graph);
    std::vector<bool> flags;
    for (const JobVertex& vertex : job.value().vertices) {
      for (const JobEdge& in : vertex.inputs) flags.push_back(in.supports_unaligned_checkpoints);
    }
    return flags;
  };
  EXPECT_EQ(overtaking(), (std::vector<bool>{false, false, true}));
  graph.edges[1].partitioner = PartitionerKind::kBroadcast;
  EXPECT_EQ(overtaking(), (std::vector<bool>{false, false, true}));
  graph.edges[1].partitioner = PartitionerKind::kRebalance;
  EXPECT_EQ(overtaking(), (std::vector<bool>{true, true, true}));
}

TEST(StreamingJobGraphGenerator, BadGraphsAreOneClearErrorEach) {
  StreamGraph graph = word_count(2, 2);
  graph.edges.push_back(edge(3, 0, PartitionerKind::kRebalance));
  EXPECT_NE(error_of(graph).find("cycle"), std::string::npos);

  graph = word_count(2, 2);
  graph.nodes[3].parallelism = 3;
  EXPECT_NE(error_of(graph).find("forward edge from 'count'"), std::string::npos);

  graph = word_count(2, 2);
  graph.nodes[3].name = "count";
  EXPECT_NE(error_of(graph).find("two operators are named 'count'"), std::string::npos);

  graph = word_count(2, 8);
  graph.nodes[2].max_parallelism = 4;
  EXPECT_NE(error_of(graph).find("above its max parallelism 4"), std::string::npos);

  graph = word_count(0, 2);
  EXPECT_NE(error_of(graph).find("parallelism 0"), std::string::npos);

  EXPECT_NE(error_of(StreamGraph{}).find("no operators"), std::string::npos);

  graph = word_count(2, 2);
  graph.edges.push_back(edge(0, 9, PartitionerKind::kRebalance));
  EXPECT_NE(error_of(graph).find("does not exist"), std::string::npos);
}

TEST(StreamingJobGraphGenerator, MaxParallelismIsTheOperatorsElseTheJobsElseDerived) {
  StreamGraph graph = word_count(2, 100);
  auto job = generate_job_graph(graph);
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(job.value().vertices[0].max_parallelism, 128);
  EXPECT_EQ(job.value().vertices[1].max_parallelism, 256);
  EXPECT_TRUE(job.value().vertices[1].max_parallelism_auto);

  graph.max_parallelism = 300;
  graph.nodes[2].max_parallelism = 500;
  job = generate_job_graph(graph);
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(job.value().vertices[0].max_parallelism, 300);
  EXPECT_EQ(job.value().vertices[1].max_parallelism, 500);
  EXPECT_FALSE(job.value().vertices[1].max_parallelism_auto);
}

TEST(MaxParallelism, DefaultsAreFlinks) {
  const std::vector<std::pair<std::int32_t, std::int32_t>> rows = {
      {1, 128},       {85, 128},      {86, 256},     {170, 256},  {171, 256},
      {172, 512},     {240, 512},     {341, 512},    {342, 1024}, {1024, 2048},
      {21845, 32768}, {21846, 32768}, {32768, 32768}};
  for (const auto& [parallelism, expected] : rows) {
    EXPECT_EQ(default_max_parallelism(parallelism), expected) << parallelism;
  }
}

std::vector<std::vector<std::int32_t>> producers_read(std::int32_t producers,
                                                      std::int32_t consumers) {
  std::vector<std::vector<std::int32_t>> result;
  for (std::int32_t consumer = 0; consumer < consumers; ++consumer) {
    result.emplace_back();
    for (const auto& channel : f110::consumed_subpartitions(DistributionPattern::POINTWISE,
                                                            producers, consumers, consumer)) {
      result.back().push_back(channel.producer);
    }
  }
  return result;
}

TEST(SubtaskEdges110, PointwiseEdgesAreThoseOfTheTable) {
  using Rows = std::vector<std::vector<std::int32_t>>;
  EXPECT_EQ(producers_read(3, 5), (Rows{{0}, {0}, {1}, {1}, {2}}));
  EXPECT_EQ(producers_read(4, 6), (Rows{{0}, {0}, {1}, {2}, {2}, {3}}));
  EXPECT_EQ(producers_read(5, 3), (Rows{{0}, {1, 2}, {3, 4}}));
  EXPECT_EQ(producers_read(10, 3), (Rows{{0, 1, 2}, {3, 4, 5}, {6, 7, 8, 9}}));
  EXPECT_EQ(producers_read(10, 6), (Rows{{0}, {1, 2}, {3, 4}, {5}, {6, 7}, {8, 9}}));
}

TEST(SubtaskEdges110, RoundingOfSinglePrecisionIsKept) {
  EXPECT_EQ(producers_read(14, 16)[8], (std::vector<std::int32_t>{6}));
  EXPECT_EQ(producers_read(20, 24)[18], (std::vector<std::int32_t>{14}));
  EXPECT_EQ(producers_read(26, 22)[10], (std::vector<std::int32_t>{11}));
  EXPECT_EQ(producers_read(26, 22)[11], (std::vector<std::int32_t>{12, 13}));
}

RC_GTEST_PROP(SubtaskEdges110, EverySubpartitionIsReadExactlyOnce, ()) {
  const auto producers = *rc::gen::inRange(1, 80);
  const auto consumers = *rc::gen::inRange(1, 80);
  const auto pattern =
      *rc::gen::element(DistributionPattern::POINTWISE, DistributionPattern::ALL_TO_ALL);
  const auto counts = f110::subpartition_counts(pattern, producers, consumers);
  std::vector<std::vector<int>> readers;
  for (const std::int32_t count : counts) readers.emplace_back(static_cast<std::size_t>(count), 0);
  for (std::int32_t consumer = 0; consumer < consumers; ++consumer) {
    for (const auto& channel :
         f110::consumed_subpartitions(pattern, producers, consumers, consumer)) {
      ++readers.at(static_cast<std::size_t>(channel.producer))
            .at(static_cast<std::size_t>(channel.subpartition));
    }
  }
  for (const auto& partition : readers) {
    for (const int reader_count : partition) RC_ASSERT(reader_count == 1);
  }
}

TEST(PipelinedRegions, AForwardJobHasOneRegionPerSlice) {
  StreamGraph graph = word_count(64, 64);
  graph.chaining_enabled = false;
  graph.edges[1].partitioner = PartitionerKind::kForward;
  const auto job = generate_job_graph(graph);
  ASSERT_TRUE(job.ok());
  const auto regions = compute_pipelined_regions(job.value());
  ASSERT_EQ(regions.size(), 64U);
  for (const auto& region : regions) EXPECT_EQ(region.size(), 4U);
}

TEST(PipelinedRegions, AnAllToAllExchangeMakesOneRegion) {
  const auto job = generate_job_graph(word_count(64, 65));
  ASSERT_TRUE(job.ok());
  const auto regions = compute_pipelined_regions(job.value());
  ASSERT_EQ(regions.size(), 1U);
  EXPECT_EQ(regions[0].size(), 129U);
}

TEST(Murmur3, HashesLikeGuava) {
  // Of the published test vectors of MurmurHash3_x64_128.
  EXPECT_EQ(OperatorId{murmur3_128("")}.hex(), "00000000000000000000000000000000");
  EXPECT_EQ(OperatorId{murmur3_128("The quick brown fox jumps over the lazy dog")}.hex(),
            "6c1b07bc7bbc4be347939ac4a93c437a");
}

}  // namespace
}  // namespace tailrace::engine
