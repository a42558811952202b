#include "scenarios/world/shard_log.hpp"

#include <algorithm>

#include "scenarios/record_text.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::scenarios {
namespace {

constexpr char kFilling = '.';

}  // namespace

ShardLog::ShardLog(const OperatorSpec& source, std::int32_t key_groups, const engine::Clock& clock)
    : shards_(source.shards),
      keys_(source.keys, source.shards, key_groups),
      schedule_(source.load),
      blank_(filled_text(source.record_bytes, kFilling)),
      clock_(&clock),
      read_(static_cast<std::size_t>(source.shards), 0) {}

engine::ReplayableShards::Due ShardLog::due(std::int32_t shard, std::int64_t seq) const {
  return schedule_.due(seq * shards_ + shard);
}

std::string_view ShardLog::text(std::int32_t shard, std::int64_t seq, std::string& scratch) const {
  scratch.assign(blank_);
  put_key(scratch, keys_.key(shard, seq));
  return scratch;
}

void ShardLog::started(std::int32_t shard, std::int64_t seq, bool restored) {
  if (restored) restores_.push_back({shard, clock_->now(), seq, lines_read(shard)});
}

void ShardLog::emitted(std::int32_t shard, std::int64_t seq) {
  std::int64_t& read = read_.at(static_cast<std::size_t>(shard));
  if (seq < read) ++replayed_;
  read = std::max(read, seq + 1);
}

std::shared_ptr<const engine::StreamOperatorFactory> ShardLog::source() {
  return engine::make_shard_source_factory(*this);
}

std::vector<engine::PartitionPosition> ShardLog::positions(
    engine::OperatorStateBackend& state) const {
  std::vector<engine::PartitionPosition> positions;
  for (const engine::Bytes& element :
       state.get_list_state<engine::Bytes>(engine::kShardSourceState).get()) {
    const engine::ShardPosition position = engine::decode_shard_position(element);
    positions.push_back({position.shard, position.seq});
  }
  return positions;
}

std::int64_t ShardLog::lines_offered() const {
  std::int64_t lines = schedule_.due_until(clock_->now());
  if (schedule_.rated() < 0) return lines;
  // And those that came when they were read.
  for (std::int32_t shard = 0; shard < shards_; ++shard) {
    const std::int64_t rated = (schedule_.rated() - shard + shards_ - 1) / shards_;
    lines += std::max<std::int64_t>(0, lines_read(shard) - std::max<std::int64_t>(0, rated));
  }
  return lines;
}

void ShardLog::for_each_line(std::int32_t shard, std::int64_t count,
                             const std::function<void(std::string_view line)>& visit) const {
  std::string scratch;
  for (std::int64_t seq = 0; seq < count; ++seq) visit(text(shard, seq, scratch));
}

}  // namespace tailrace::scenarios
