#include "engine/task/operators/line_source.hpp"

#include <algorithm>
#include <vector>

#include "engine/state/data_view.hpp"
#include "engine/state/operator_state_backend.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

class LineSource final : public SourceOperator {
 public:
  explicit LineSource(const ReplayableLog& log) : log_(&log) {}

  void initialize_state(const OperatorContext& context) override {
    output_ = context.output;
    clock_ = context.clock;
    positions_ = &context.operator_state->get_list_state<Bytes>(kLineSourceState);
    if (context.restored) {
      for (const Bytes& element : positions_->get()) {
        const PartitionPosition position = decode_position(element);
        partitions_.push_back({position.partition, position.position, {}, false});
      }
    } else {
      for (std::int32_t p = context.subtask; p < log_->partition_count();
           p += context.parallelism) {
        partitions_.push_back({p, log_->begin(p), {}, false});
      }
    }
    // Redistribution deals partitions out in any order; reading must not depend on it.
    std::sort(partitions_.begin(), partitions_.end(),
              [](const Partition& a, const Partition& b) { return a.number < b.number; });
    for (Partition& partition : partitions_) peek(partition);
  }

  bool emit_next() override {
    Partition* next = earliest();
    if (next == nullptr) return false;
    const Time now = clock_->now();
    if (due(*next) > now) return false;
    // Ahead of the call: the record is consumed whatever the operators behind do with it.
    const ReplayableLog::Line line = next->line;
    next->position = line.next;
    peek(*next);
    output_->collect({line.text, 0, line.offered.value_or(now)});
    return true;
  }

  [[nodiscard]] std::optional<Time> next_due() const override {
    const Partition* next = const_cast<LineSource*>(this)->earliest();
    return next == nullptr ? std::nullopt : std::optional<Time>(due(*next));
  }

  [[nodiscard]] bool finished() const override {
    return log_->finite() && const_cast<LineSource*>(this)->earliest() == nullptr;
  }

  void snapshot_state(CheckpointId) override {
    std::vector<Bytes> elements;
    for (const Partition& partition : partitions_) {
      elements.push_back(encode_position({partition.number, partition.position}));
    }
    positions_->update(std::move(elements));
  }

 private:
  struct Partition {
    std::int32_t number = 0;
    std::int64_t position = 0;
    ReplayableLog::Line line;  // the one at `position`
    bool at_end = false;
  };

  void peek(Partition& partition) {
    if (const auto line = log_->read(partition.number, partition.position)) {
      partition.line = *line;
    } else {
      partition.at_end = true;
    }
  }

  static Time due(const Partition& partition) { return partition.line.offered.value_or(Time{}); }

  // The partition whose next line was offered first; the lower number on a tie.
  Partition* earliest() {
    Partition* best = nullptr;
    for (Partition& partition : partitions_) {
      if (partition.at_end) continue;
      if (best == nullptr || due(partition) < due(*best)) best = &partition;
    }
    return best;
  }

  const ReplayableLog* log_;
  const Clock* clock_ = nullptr;
  Output* output_ = nullptr;
  PartitionableListState<Bytes>* positions_ = nullptr;
  std::vector<Partition> partitions_;
};

class LineSourceFactory final : public StreamOperatorFactory {
 public:
  explicit LineSourceFactory(const ReplayableLog& log) : log_(&log) {}
  [[nodiscard]] std::unique_ptr<StreamOperator> create() const override {
    return std::make_unique<LineSource>(*log_);
  }
  [[nodiscard]] bool is_source() const override { return true; }

 private:
  const ReplayableLog* log_;
};

}  // namespace

Bytes encode_position(const PartitionPosition& position) {
  DataOutputView out;
  out.write_int(position.partition);
  out.write_long(position.position);
  return out.take();
}

PartitionPosition decode_position(const Bytes& bytes) {
  DataInputView in(bytes);
  PartitionPosition position;
  position.partition = in.read_int();
  position.position = in.read_long();
  return position;
}

std::shared_ptr<const StreamOperatorFactory> make_line_source_factory(const ReplayableLog& log) {
  return std::make_shared<LineSourceFactory>(log);
}

}  // namespace tailrace::engine
