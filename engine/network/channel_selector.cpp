#include "engine/network/channel_selector.hpp"

#include <utility>

#include "engine/state/java_hash.hpp"
#include "engine/state/key_group_assignment.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {

namespace {

// Flink ForwardPartitioner, GlobalPartitioner.
class FirstChannel final : public ChannelSelector {
 public:
  std::int32_t select(const Record&) override { return 0; }
};

// Flink RebalancePartitioner (random start), RescalePartitioner (starts before 0).
class RoundRobin final : public ChannelSelector {
 public:
  RoundRobin(std::int32_t channels, std::int32_t before_first)
      : channels_(channels), last_(before_first) {}
  std::int32_t select(const Record&) override {
    if (++last_ >= channels_) last_ = 0;
    return last_;
  }

 private:
  std::int32_t channels_;
  std::int32_t last_;
};

// Flink ShufflePartitioner.
class Shuffle final : public ChannelSelector {
 public:
  Shuffle(std::int32_t channels, RandomDraws& random, std::string stream)
      : channels_(channels), random_(random), stream_(std::move(stream)) {}
  std::int32_t select(const Record&) override {
    return static_cast<std::int32_t>(random_.uniform(stream_, 0, channels_ - 1));
  }

 private:
  std::int32_t channels_;
  RandomDraws& random_;
  std::string stream_;
};

std::int32_t text_hash(const Record& record) {
  return java_string_hash(record.text);
}
std::int32_t number_hash(const Record& record) {
  return java_long_hash(leading_number(record.text));
}

// Flink KeyGroupStreamPartitioner.
template <std::int32_t (*kHash)(const Record& record)>
class KeyGroup final : public ChannelSelector {
 public:
  KeyGroup(std::int32_t channels, std::int32_t max_parallelism)
      : channels_(channels), max_parallelism_(max_parallelism) {}
  std::int32_t select(const Record& record) override {
    const std::int32_t group = assign_to_key_group(kHash(record), max_parallelism_);
    return compute_operator_index_for_key_group(max_parallelism_, channels_, group);
  }

 private:
  std::int32_t channels_;
  std::int32_t max_parallelism_;
};

// Flink BroadcastPartitioner.
class Broadcast final : public ChannelSelector {
 public:
  std::int32_t select(const Record&) override {
    base::fail_assertion("a broadcast selects nothing", __FILE__, __LINE__);
  }
  bool is_broadcast() const override { return true; }
};

}  // namespace

std::unique_ptr<ChannelSelector> make_channel_selector(const ChannelSelectorConfig& config) {
  const std::int32_t channels = config.channels;
  TAILRACE_ASSERT(channels > 0);
  switch (config.kind) {
    case PartitionerKind::kForward:
    case PartitionerKind::kGlobal:
      return std::make_unique<FirstChannel>();
    case PartitionerKind::kRebalance: {
      TAILRACE_ASSERT(config.random != nullptr);
      const std::int64_t start = config.random->uniform(config.random_stream, 0, channels - 1);
      return std::make_unique<RoundRobin>(channels, static_cast<std::int32_t>(start));
    }
    case PartitionerKind::kRescale:
      return std::make_unique<RoundRobin>(channels, -1);
    case PartitionerKind::kShuffle:
      TAILRACE_ASSERT(config.random != nullptr);
      return std::make_unique<Shuffle>(channels, *config.random, config.random_stream);
    case PartitionerKind::kHash:
      if (config.type == RecordType::kNumberedString) {
        return std::make_unique<KeyGroup<number_hash>>(channels, config.max_parallelism);
      }
      return std::make_unique<KeyGroup<text_hash>>(channels, config.max_parallelism);
    case PartitionerKind::kBroadcast:
      return std::make_unique<Broadcast>();
  }
  base::fail_assertion("PartitionerKind", __FILE__, __LINE__);
}

}  // namespace tailrace::engine
