// Which subpartition a record goes to.
//
// Flink 1.10 ChannelSelector and the StreamPartitioners (spec rescale.md section 5).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/graph/stream_graph.hpp"
#include "engine/ports.hpp"
#include "engine/record.hpp"

namespace tailrace::engine {

class ChannelSelector {
 public:
  virtual ~ChannelSelector() = default;

  [[nodiscard]] virtual std::int32_t select(const Record& record) = 0;
  // Every record goes to every channel; `select` is then never asked.
  [[nodiscard]] virtual bool is_broadcast() const { return false; }
};

struct ChannelSelectorConfig {
  PartitionerKind kind = PartitionerKind::kForward;
  std::int32_t channels = 1;  // subpartitions of this producer
  // Of the consumer vertex (S-2.8); hash only.
  std::int32_t max_parallelism = 128;
  // Of the edge: where a record has its key; hash only.
  RecordType type = RecordType::kString;
  // Rebalance and shuffle only; outlives the selector.
  RandomDraws* random = nullptr;
  // Unique to this edge and subtask, so that no other edge shifts its draws.
  std::string random_stream;
};

// The key of kHash is `Record::text`, or of a kNumberedString its number.
[[nodiscard]] std::unique_ptr<ChannelSelector> make_channel_selector(
    const ChannelSelectorConfig& config);

}  // namespace tailrace::engine
