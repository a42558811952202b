// Regions against golden/rescale/regions.jsonl, where it has pipelined edges alone: the others, and
// what restarts after a failure, are not there yet, so the file as a whole counts as not read.
#include "engine/graph/pipelined_regions.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tailrace::engine {
namespace {

using Json = nlohmann::json;

// Returns: whether the case is one of pipelined edges alone.
bool replay_regions(const Json& line) {
  JobGraph graph;
  for (const Json& parallelism : line.at("parallelism")) {
    JobVertex vertex;
    vertex.index = static_cast<std::int32_t>(graph.vertices.size());
    vertex.parallelism = parallelism;
    graph.vertices.push_back(vertex);
  }
  for (const Json& recorded : line.at("edges")) {
    const std::string type = recorded.at("type");
    if (type != "PIPELINED" && type != "PIPELINED_BOUNDED") return false;
    JobEdge edge;
    edge.source_vertex = recorded.at("from");
    edge.target_vertex = recorded.at("to");
    edge.pattern = recorded.at("pattern") == "POINTWISE" ? DistributionPattern::POINTWISE
                                                         : DistributionPattern::ALL_TO_ALL;
    graph.vertices[static_cast<std::size_t>(edge.source_vertex)].outputs.push_back(edge);
  }
  if (line.contains("error") || line.at("coLocated01").get<bool>()) return false;
  std::set<std::set<std::string>> regions;
  for (const auto& region : compute_pipelined_regions(graph)) {
    std::set<std::string> names;
    for (const ExecutionVertexId id : region) {
      names.insert(std::to_string(id.vertex) + "." + std::to_string(id.subtask));
    }
    regions.insert(names);
  }
  EXPECT_EQ(line.at("regions").get<std::set<std::set<std::string>>>(), regions) << line.at("id");
  return true;
}

TEST(PipelinedRegions, AreThoseOfFlink) {
  const char* shared = std::getenv("TAILRACE_SHARED");
  const std::filesystem::path folder =
      shared != nullptr ? std::filesystem::path(shared)
                        : std::filesystem::path(TAILRACE_SOURCE_DIR) / ".." / "shared";
  std::ifstream lines(folder / "golden" / "rescale" / "regions.jsonl");
  if (!lines.is_open()) GTEST_SKIP() << "no recording golden/rescale/regions.jsonl";
  int replayed = 0;
  for (std::string text; std::getline(lines, text);) {
    const Json line = Json::parse(text);
    if (!line.contains("meta")) replayed += replay_regions(line) ? 1 : 0;
  }
  EXPECT_GT(replayed, 0);
}

}  // namespace
}  // namespace tailrace::engine
