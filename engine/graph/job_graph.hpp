// The job as it is scheduled: chains as vertices, data sets between them.
//
// Flink 1.10 JobGraph, JobVertex, JobEdge, IntermediateDataSet (spec rescale.md 1.1 to 1.3).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/graph/stream_graph.hpp"
#include "engine/graph/subtask_edges.hpp"
#include "engine/ids.hpp"

namespace tailrace::engine {

// One operator inside a chain.
struct ChainedOperator {
  OperatorId id;
  std::int32_t stream_node = 0;  // index into StreamGraph::nodes; also the price key of its records
  std::string name;
  std::shared_ptr<const StreamOperatorFactory> factory;
  // Where its records go, in the order of the out-edges of the stream graph.
  struct Out {
    bool chained = false;
    std::int32_t target = 0;  // chained: index into the chain; else index into JobVertex::outputs
  };
  std::vector<Out> outs;
};

// A data set that a vertex produces; one per outgoing (not chained) edge.
struct JobEdge {
  std::int32_t data_set = 0;  // unique in the job
  std::int32_t source_vertex = 0;
  std::int32_t target_vertex = 0;
  std::int32_t target_input = 0;  // which gate of the target, counted in the order of its in-edges
  std::int32_t type_number = 0;   // StreamEdge::type_number
  PartitionerKind partitioner = PartitionerKind::kForward;
  DistributionPattern pattern = DistributionPattern::POINTWISE;
  RecordType type = RecordType::kString;
  std::optional<base::Duration> buffer_timeout;  // none: the job's
  // 1.20, S-3.30: false for pointwise and broadcast edges, and for all that lead to the same vertex
  // as one of those.
  bool supports_unaligned_checkpoints = true;
};

struct JobVertex {
  JobVertexId id;
  std::string name;  // names of the chain, joined with " -> "
  std::int32_t index = 0;
  std::int32_t parallelism = 1;
  std::int32_t max_parallelism = 128;
  bool max_parallelism_auto = true;  // nobody configured it: a restore may override (S-3.8)
  std::string slot_sharing_group = "default";
  // In flow order: entry 0 is the head. Flink's operator id list is the post-order (S-1.7):
  // see `operator_ids_tail_first`.
  std::vector<ChainedOperator> chain;
  std::vector<OperatorId> operator_ids_tail_first;
  // Of the same operators; none where the author gave none (S-1.6).
  std::vector<std::optional<OperatorId>> user_defined_ids_tail_first;
  std::vector<JobEdge> outputs;
  std::vector<JobEdge> inputs;  // gate g of the task reads inputs[g]

  [[nodiscard]] bool is_source() const { return inputs.empty(); }
};

struct JobGraph {
  std::string name;
  std::vector<JobVertex> vertices;                   // in topological order; vertices[i].index == i
  const SubtaskEdges* edges = &subtask_edges_110();  // of the generation that runs the job
};

}  // namespace tailrace::engine
