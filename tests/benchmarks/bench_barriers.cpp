// What an item costs on its way through the aligned barrier handlers, on few channels and on many.
//
// The gate plays a script: every channel delivers buffers in turn, and each checkpoint's barriers come
// in two waves, so that half of the channels are blocked for a while. In 1.10 they go on delivering
// and the handler stores what comes; in 1.20 their senders have stopped, and deliver it afterwards.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "engine/barrier/checkpoint_listener.hpp"
#include "engine/barrier/checkpointed_inputs.hpp"
#include "engine/generation.hpp"
#include "engine/ports.hpp"
#include "engine/scheduling/deployment.hpp"

namespace tailrace::engine {
namespace {

constexpr std::int32_t kBuffersPerCheckpoint = 32;  // of each channel
constexpr std::int32_t kBuffersWhileBlocked = 2;    // of these, of each channel of the first wave

class NoRecycler final : public BufferRecycler {
 public:
  void recycle(NetworkBuffer&) override {}
};

class StillClock final : public Clock {
 public:
  [[nodiscard]] Time now() const override { return {}; }
};

class CountingTask final : public CheckpointListener {
 public:
  void trigger_checkpoint_on_barrier(const CheckpointMetaData&, const CheckpointOptions&,
                                     const AlignmentMetrics&) override {
    ++checkpoints;
  }
  void abort_checkpoint_on_barrier(CheckpointId, CheckpointFailureReason) override { ++aborted; }
  std::int64_t checkpoints = 0;
  std::int64_t aborted = 0;
};

// One checkpoint's items over and over.
class ScriptGate final : public InputGate {
 public:
  ScriptGate(std::int32_t channels, bool senders_stop) : channels_(channels) {
    segment_.lend(recycler_);
    segment_.retain();  // stays ours
    const auto buffers = [this](std::int32_t rounds, bool first_wave, bool second_wave) {
      for (std::int32_t round = 0; round < rounds; ++round) {
        for (ChannelIndex channel = 0; channel < channels_; ++channel) {
          if (channel % 2 == 0 ? first_wave : second_wave) script_.push_back({channel, false});
        }
      }
    };
    const auto barriers = [this](ChannelIndex from) {
      for (ChannelIndex channel = from; channel < channels_; channel += 2) {
        script_.push_back({channel, true});
      }
    };
    buffers(kBuffersPerCheckpoint - kBuffersWhileBlocked, true, true);
    barriers(0);
    buffers(kBuffersWhileBlocked, !senders_stop, true);
    barriers(1);
    if (senders_stop) buffers(kBuffersWhileBlocked, true, false);
  }

  [[nodiscard]] std::int32_t channel_count() const override { return channels_; }
  [[nodiscard]] bool is_finished() const override { return false; }
  [[nodiscard]] bool is_available() const override { return at_ < script_.size(); }
  void set_availability_listener(base::InplaceFunction<void()>) override {}
  void resume_consumption(ChannelIndex) override { ++resumed; }

  std::optional<BufferOrEvent> poll_next() override {
    if (at_ == script_.size()) return std::nullopt;
    const Step step = script_[at_++];
    BufferOrEvent item;
    item.channel = step.channel;
    item.more_available = at_ < script_.size();
    if (step.barrier) {
      item.item = CheckpointBarrier{checkpoint_, 0, {}};
    } else {
      item.item = Buffer(segment_, 0, 64);
    }
    return item;
  }
  void rewind() {
    at_ = 0;
    ++checkpoint_;
  }
  // Of one checkpoint.
  [[nodiscard]] std::int64_t items() const { return static_cast<std::int64_t>(script_.size()); }

  std::int64_t resumed = 0;

 private:
  struct Step {
    ChannelIndex channel;
    bool barrier;
  };
  std::int32_t channels_;
  std::byte memory_[64] = {};
  NetworkBuffer segment_{memory_, sizeof memory_};
  NoRecycler recycler_;
  std::vector<Step> script_;
  std::size_t at_ = 0;
  CheckpointId checkpoint_ = 1;
};

void aligned(benchmark::State& state, Generation generation) {
  const auto channels = static_cast<std::int32_t>(state.range(0));
  ScriptGate gate(channels, generation == Generation::kFlink120);
  CountingTask task;
  const StillClock clock;
  CheckpointedInputsOptions options;
  options.mode = CheckpointingMode::EXACTLY_ONCE;
  const InputToCheckpoint input{&gate, nullptr};
  const auto inputs =
      make_checkpointed_inputs(generation, std::span(&input, 1), options, task, clock);
  std::int64_t buffers = 0;
  for (auto _ : state) {
    while (const auto item = inputs->input(0).poll_next()) {
      if (item->is_buffer()) ++buffers;
    }
    gate.rewind();
  }
  const std::int64_t expected =
      state.iterations() * static_cast<std::int64_t>(channels) * kBuffersPerCheckpoint;
  if (task.checkpoints != state.iterations() || task.aborted != 0 || buffers != expected) {
    state.SkipWithError("a checkpoint or an item is missing");
  }
  state.SetItemsProcessed(state.iterations() * gate.items());
}

// The generations are named here as a scenario names them; the engine looks at them in one place.
BENCHMARK_CAPTURE(aligned, f110, Generation::kFlink110)
    ->Name("barriers/aligned/f110")
    ->Arg(8)
    ->Arg(1000);
BENCHMARK_CAPTURE(aligned, f120, Generation::kFlink120)
    ->Name("barriers/aligned/f120")
    ->Arg(8)
    ->Arg(1000);

}  // namespace
}  // namespace tailrace::engine
