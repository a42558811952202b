// The job as its author wrote it: logical operators and edges, before chaining.
//
// Flink 1.10 StreamGraph, StreamNode, StreamEdge (spec rescale.md 1.1).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/ids.hpp"
#include "engine/record.hpp"
#include "sim/base/time.hpp"

namespace tailrace::engine {

class StreamOperatorFactory;  // engine/task/stream_operator.hpp

enum class PartitionerKind : std::uint8_t {
  kForward,
  kRebalance,
  kRescale,
  kShuffle,
  kHash,
  kBroadcast,
  kGlobal,
};

// Flink ChainingStrategy.
enum class ChainingStrategy : std::uint8_t { ALWAYS, NEVER, HEAD };

struct StreamNode {
  std::string name;     // unique in the job
  std::string uid;      // empty: the name
  bool has_uid = true;  // operator id from the uid (S-1.4), else from the graph
  std::int32_t parallelism = 1;
  std::int32_t max_parallelism = -1;  // -1: the job's, or by default (S-2.7)
  ChainingStrategy chaining = ChainingStrategy::ALWAYS;
  std::string slot_sharing_group = "default";
  std::optional<base::Duration> buffer_timeout;  // of its out-edges; none: the job's
  // Flink's setUidHash: a second id under which a restore looks for state (S-1.6).
  std::optional<OperatorId> user_defined_id;
  std::shared_ptr<const StreamOperatorFactory> factory;
};

struct StreamEdge {
  std::int32_t source = 0;  // index into nodes
  std::int32_t target = 0;
  std::int32_t input = 0;  // position among the target's in-edges
  // Flink's typeNumber: which input of the target's operator it feeds. 0: its only one; 1, 2: of two
  // separate ones (connect).
  std::int32_t type_number = 0;
  PartitionerKind partitioner = PartitionerKind::kForward;
  RecordType type = RecordType::kString;
  // The author chose no partitioner: forward between equal parallelisms, else rebalance (S-1.8);
  // `partitioner` is then ignored.
  bool default_partitioner = false;
};

struct StreamGraph {
  std::string job_name;
  std::int32_t max_parallelism = -1;  // `pipeline.max-parallelism`; -1: unset
  bool chaining_enabled = true;
  std::vector<StreamNode> nodes;  // in the author's order
  std::vector<StreamEdge> edges;  // out-edges of a node keep this order
};

}  // namespace tailrace::engine
