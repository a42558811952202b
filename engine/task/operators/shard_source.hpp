// A source of endless shards: generators that can be started again from any of their records.
//
// Stands for a FLIP-27 source whose splits are generators (Flink 1.20 SourceOperator with its
// SourceReaderState). A fresh subtask i of P reads the shards i, i + P, i + 2P, …; each shard is one
// element of a SPLIT list state, so a rescale deals whole shards out again.
//
// Order of reading: what was due first, the lower shard on a tie. Records that come into being when
// they are read are all due at once; of those the shards of a subtask take turns, the lowest first,
// as a reader polls its splits.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "engine/ports.hpp"
#include "engine/state/type_serializer.hpp"
#include "engine/task/stream_operator.hpp"

namespace tailrace::engine {

// What the source reads. Lives outside the job and outlives every operator.
class ReplayableShards {
 public:
  struct Due {
    Time at;                 // Time::max(): never
    bool when_read = false;  // from then on it may be read, and only that makes it
  };
  [[nodiscard]] virtual std::int32_t shard_count() const = 0;
  // Of record `seq` of a shard; never earlier than that of the record before.
  [[nodiscard]] virtual Due due(std::int32_t shard, std::int64_t seq) const = 0;
  // Its text, made in `scratch`. Cost: no allocation once the scratch space is large enough.
  virtual std::string_view text(std::int32_t shard, std::int64_t seq,
                                std::string& scratch) const = 0;
  // A reader starts before record `seq`; it was restored, or is a fresh one.
  virtual void started(std::int32_t shard, std::int64_t seq, bool restored) = 0;
  // A reader has handed out record `seq`.
  virtual void emitted(std::int32_t shard, std::int64_t seq) = 0;

 protected:
  ~ReplayableShards() = default;
};

// Flink 1.20 SourceOperator.SPLITS_STATE_DESC.
inline constexpr const char* kShardSourceState = "SourceReaderState";

struct ShardPosition {
  std::int32_t shard = 0;
  std::int64_t seq = 0;  // of the next record
  Time due;              // of the next record
};
// Version and length, as Flink's SimpleVersionedSerialization writes them, and 20 bytes; big-endian.
[[nodiscard]] Bytes encode_shard_position(const ShardPosition& position);
[[nodiscard]] ShardPosition decode_shard_position(const Bytes& bytes);

[[nodiscard]] std::shared_ptr<const StreamOperatorFactory> make_shard_source_factory(
    ReplayableShards& shards);

}  // namespace tailrace::engine
