// Rule, pair by pair.
#include <array>

#include <gtest/gtest.h>

#include "engine/checkpoint/f120/vertex_finished_state_checker.hpp"

namespace tailrace::engine {
namespace {

enum Progress : std::uint8_t { RUNNING, PARTLY, FULLY };

OperatorId id_of(std::int32_t vertex, std::uint8_t position = 0) {
  return {{static_cast<std::uint8_t>(vertex + 1), position}};
}

// A chain of vertices with one operator each.
struct Job {
  explicit Job(std::int32_t vertices) {
    for (std::int32_t i = 0; i < vertices; ++i) {
      JobVertex vertex;
      vertex.index = i;
      vertex.id = id_of(i);
      vertex.name = "v" + std::to_string(i);
      vertex.operator_ids_tail_first = {vertex.id};
      graph.vertices.push_back(std::move(vertex));
    }
  }
  void connect(std::int32_t from, std::int32_t to, DistributionPattern pattern) {
    JobEdge edge;
    edge.source_vertex = from;
    edge.target_vertex = to;
    edge.pattern = pattern;
    graph.vertices[static_cast<std::size_t>(to)].inputs.push_back(edge);
  }
  void set(OperatorId id, Progress progress) {
    OperatorState& state = states[id];
    state.fully_finished = progress == FULLY;
    state.finished_subtasks.clear();
    if (progress == PARTLY) state.finished_subtasks.insert(1);
  }
  [[nodiscard]] bool valid() const {
    return !validate_operators_finished_state(graph, states).has_value();
  }
  JobGraph graph;
  OperatorStates states;
};

TEST(VertexFinishedState, APredecessorMustBeFarEnough) {
  // By the predecessor's progress, then by the vertex's.
  constexpr std::array<std::array<bool, 3>, 3> kPointWise = {
      {{true, false, false}, {true, true, false}, {true, true, true}}};
  constexpr std::array<std::array<bool, 3>, 3> kAllToAll = {
      {{true, false, false}, {true, false, false}, {true, true, true}}};
  for (const Progress before : {RUNNING, PARTLY, FULLY}) {
    for (const Progress own : {RUNNING, PARTLY, FULLY}) {
      SCOPED_TRACE(std::to_string(before) + " before " + std::to_string(own));
      Job point_wise(2);
      point_wise.connect(0, 1, DistributionPattern::POINTWISE);
      Job all_to_all(2);
      all_to_all.connect(0, 1, DistributionPattern::ALL_TO_ALL);
      Job both(2);
      both.connect(0, 1, DistributionPattern::POINTWISE);
      both.connect(0, 1, DistributionPattern::ALL_TO_ALL);
      for (Job* job : {&point_wise, &all_to_all, &both}) {
        job->set(id_of(0), before);
        job->set(id_of(1), own);
      }
      EXPECT_EQ(point_wise.valid(), kPointWise[before][own]);
      EXPECT_EQ(all_to_all.valid(), kAllToAll[before][own]);
      EXPECT_EQ(both.valid(), kAllToAll[before][own]);  // the stricter one wins
    }
  }
}

TEST(VertexFinishedState, OperatorsOfAVertexMustBeEquallyFar) {
  Job job(1);
  job.graph.vertices[0].operator_ids_tail_first = {id_of(0, 0), id_of(0, 1)};
  EXPECT_TRUE(job.valid());  // nothing is known of either
  job.set(id_of(0, 0), FULLY);
  EXPECT_FALSE(job.valid());
  job.set(id_of(0, 1), PARTLY);
  EXPECT_FALSE(job.valid());
  job.set(id_of(0, 1), FULLY);
  EXPECT_TRUE(job.valid());
}

TEST(VertexFinishedState, AnIdThatTheUserGaveComesFirst) {
  Job job(2);
  job.connect(0, 1, DistributionPattern::ALL_TO_ALL);
  job.graph.vertices[1].user_defined_ids_tail_first = {id_of(7)};
  job.set(id_of(1), FULLY);
  EXPECT_FALSE(job.valid());
  job.set(id_of(7), RUNNING);
  EXPECT_TRUE(job.valid());
}

}  // namespace
}  // namespace tailrace::engine
