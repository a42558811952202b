#include "engine/task/operators/line_source.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "engine/state/operator_state_backend.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

template <typename Integer>
void append_big_endian(std::string& bytes, Integer value) {
  for (int shift = static_cast<int>(sizeof(Integer)) * 8 - 8; shift >= 0; shift -= 8) {
    bytes.push_back(static_cast<char>((static_cast<std::uint64_t>(value) >> shift) & 0xff));
  }
}

std::uint64_t read_big_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

class LineSource final : public SourceOperator {
 public:
  explicit LineSource(const ReplayableLog& log) : log_(&log) {}

  void initialize_state(const OperatorContext& context) override {
    output_ = context.output;
    clock_ = context.clock;
    positions_ = &context.operator_state->get_list_state<std::string>(kLineSourceState);
    if (context.restored) {
      for (const std::string& element : positions_->get()) {
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
    std::vector<std::string> elements;
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
  PartitionableListState<std::string>* positions_ = nullptr;
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

std::string encode_position(const PartitionPosition& position) {
  std::string bytes;
  append_big_endian(bytes, position.partition);
  append_big_endian(bytes, position.position);
  return bytes;
}

PartitionPosition decode_position(std::string_view bytes) {
  TAILRACE_ASSERT_MSG(bytes.size() == 12, "a source position of the wrong length");
  return {static_cast<std::int32_t>(read_big_endian(bytes.substr(0, 4))),
          static_cast<std::int64_t>(read_big_endian(bytes.substr(4)))};
}

std::shared_ptr<const StreamOperatorFactory> make_line_source_factory(const ReplayableLog& log) {
  return std::make_shared<LineSourceFactory>(log);
}

}  // namespace tailrace::engine
