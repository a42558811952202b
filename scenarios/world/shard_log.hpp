// The shards of an endless source: nothing of them is stored, every record can be computed.
//
// Keys are ShardKeys', due times ShardSchedule's, texts record_text.hpp's. A position is the number
// of a record in its shard, from 0.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ports.hpp"
#include "engine/task/operators/shard_source.hpp"
#include "scenarios/model.hpp"
#include "scenarios/shard_keys.hpp"
#include "scenarios/world/shard_schedule.hpp"
#include "scenarios/world/source_log.hpp"

namespace tailrace::scenarios {

class ShardLog final : public engine::ReplayableShards, public SourceLog {
 public:
  // A reader that started from a snapshot.
  struct Restore {
    std::int32_t shard = 0;
    Time at;
    std::int64_t from = 0;         // its first record
    std::int64_t read_before = 0;  // records that had been read by then, once or more often
  };

  // Requires: source.shards > 0; key_groups > 0 if the keys are balanced.
  ShardLog(const OperatorSpec& source, std::int32_t key_groups, const engine::Clock& clock);

  // ReplayableShards
  [[nodiscard]] std::int32_t shard_count() const override { return shards_; }
  [[nodiscard]] Due due(std::int32_t shard, std::int64_t seq) const override;
  std::string_view text(std::int32_t shard, std::int64_t seq, std::string& scratch) const override;
  void started(std::int32_t shard, std::int64_t seq, bool restored) override;
  void emitted(std::int32_t shard, std::int64_t seq) override;

  // SourceLog
  [[nodiscard]] std::shared_ptr<const engine::StreamOperatorFactory> source() override;
  [[nodiscard]] std::vector<engine::PartitionPosition> positions(
      engine::OperatorStateBackend& state) const override;
  [[nodiscard]] std::int32_t partition_count() const override { return shards_; }
  [[nodiscard]] bool finite() const override { return false; }
  [[nodiscard]] std::int64_t lines_offered() const override;
  [[nodiscard]] std::int64_t lines_replayed() const override { return replayed_; }
  [[nodiscard]] bool exhausted() const override { return false; }
  void on_exhausted(base::Callback) override {}  // never
  [[nodiscard]] std::int64_t lines_before(std::int32_t, std::int64_t position) const override {
    return position;
  }
  [[nodiscard]] std::int64_t lines_in(std::int32_t shard) const override {
    return lines_read(shard);
  }
  [[nodiscard]] std::int64_t lines_read(std::int32_t shard) const override {
    return read_.at(static_cast<std::size_t>(shard));
  }
  void for_each_line(std::int32_t shard, std::int64_t count,
                     const std::function<void(std::string_view line)>& visit) const override;

  // In the order in which they happened.
  [[nodiscard]] const std::vector<Restore>& restores() const { return restores_; }

 private:
  std::int32_t shards_;
  ShardKeys keys_;
  ShardSchedule schedule_;
  std::string blank_;  // text of a record, without its key
  const engine::Clock* clock_;
  std::vector<std::int64_t> read_;  // by shard: records that somebody has handed out
  std::int64_t replayed_ = 0;
  std::vector<Restore> restores_;
};

}  // namespace tailrace::scenarios
