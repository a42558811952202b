#include "engine/task/operators/shard_source.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "engine/state/data_view.hpp"
#include "engine/state/operator_state_backend.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

constexpr std::int32_t kVersion = 1;
constexpr std::int32_t kPositionBytes = 4 + 8 + 8;

class ShardSource final : public SourceOperator {
 public:
  explicit ShardSource(ReplayableShards& shards) : shards_(&shards) {}

  void initialize_state(const OperatorContext& context) override {
    output_ = context.output;
    clock_ = context.clock;
    positions_ = &context.operator_state->get_list_state<Bytes>(kShardSourceState);
    if (context.restored) {
      for (const Bytes& element : positions_->get()) {
        const ShardPosition position = decode_shard_position(element);
        start(position.shard, position.seq, true);
        TAILRACE_ASSERT_MSG(heap_.back().due.at == position.due, "a shard has another schedule");
      }
    } else {
      for (std::int32_t s = context.subtask; s < shards_->shard_count(); s += context.parallelism) {
        start(s, 0, false);
      }
    }
    std::make_heap(heap_.begin(), heap_.end(), comes_later);
  }

  bool emit_next() override {
    if (heap_.empty()) return false;
    const Time now = clock_->now();
    if (heap_.front().due.at > now) return false;
    std::pop_heap(heap_.begin(), heap_.end(), comes_later);
    // Ahead of the call: the record is consumed whatever the operators behind do with it.
    Shard& shard = heap_.back();
    const std::int32_t number = shard.number;
    const std::int64_t seq = shard.seq;
    const Time created = shard.due.when_read ? now : shard.due.at;
    stand_at(shard, seq + 1);
    if (shard.due.when_read) shard.turn = ++turns_;  // behind all that wait
    std::push_heap(heap_.begin(), heap_.end(), comes_later);
    shards_->emitted(number, seq);
    output_->collect({shards_->text(number, seq, scratch_), 0, created});
    return true;
  }

  [[nodiscard]] std::optional<Time> next_due() const override {
    if (heap_.empty()) return std::nullopt;
    return heap_.front().due.at;
  }

  [[nodiscard]] bool finished() const override { return false; }

  void snapshot_state(CheckpointId) override {
    std::vector<ShardPosition> positions;
    for (const Shard& shard : heap_) positions.push_back({shard.number, shard.seq, shard.due.at});
    // Where a shard stands in the heap says how it has been read, not which shard it is.
    std::sort(positions.begin(), positions.end(),
              [](const auto& a, const auto& b) { return a.shard < b.shard; });
    std::vector<Bytes> elements;
    for (const ShardPosition& position : positions) {
      elements.push_back(encode_shard_position(position));
    }
    positions_->update(std::move(elements));
  }

 private:
  struct Shard {
    std::int32_t number = 0;
    std::int64_t seq = 0;       // of its next record
    ReplayableShards::Due due;  // of its next record
    // Among those that come into being when they are read; 0 before the first one.
    std::int64_t turn = 0;
  };

  // Keys are never equal: no two shards have one number.
  static bool comes_later(const Shard& a, const Shard& b) {
    return std::tie(a.due.at, a.turn, a.number) > std::tie(b.due.at, b.turn, b.number);
  }

  void start(std::int32_t number, std::int64_t seq, bool restored) {
    heap_.emplace_back().number = number;
    stand_at(heap_.back(), seq);
    shards_->started(number, seq, restored);
  }

  void stand_at(Shard& shard, std::int64_t seq) {
    shard.seq = seq;
    shard.due = shards_->due(shard.number, seq);
  }

  ReplayableShards* shards_;
  const Clock* clock_ = nullptr;
  Output* output_ = nullptr;
  PartitionableListState<Bytes>* positions_ = nullptr;
  std::vector<Shard> heap_;  // the next record to read first
  std::int64_t turns_ = 0;
  std::string scratch_;
};

class ShardSourceFactory final : public StreamOperatorFactory {
 public:
  explicit ShardSourceFactory(ReplayableShards& shards) : shards_(&shards) {}
  [[nodiscard]] std::unique_ptr<StreamOperator> create() const override {
    return std::make_unique<ShardSource>(*shards_);
  }
  [[nodiscard]] bool is_source() const override { return true; }

 private:
  ReplayableShards* shards_;
};

}  // namespace

Bytes encode_shard_position(const ShardPosition& position) {
  DataOutputView out;
  out.write_int(kVersion);
  out.write_int(kPositionBytes);
  out.write_int(position.shard);
  out.write_long(position.seq);
  out.write_long(position.due.ns);
  return out.take();
}

ShardPosition decode_shard_position(const Bytes& bytes) {
  DataInputView in(bytes);
  const std::int32_t version = in.read_int();
  const std::int32_t length = in.read_int();
  TAILRACE_ASSERT(version == kVersion && length == kPositionBytes);
  ShardPosition position;
  position.shard = in.read_int();
  position.seq = in.read_long();
  position.due = Time{in.read_long()};
  return position;
}

std::shared_ptr<const StreamOperatorFactory> make_shard_source_factory(ReplayableShards& shards) {
  return std::make_shared<ShardSourceFactory>(shards);
}

}  // namespace tailrace::engine
