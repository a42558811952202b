#include "engine/barrier/f120/input_processor_util.hpp"

#include <cstddef>
#include <utility>

#include "engine/barrier/f120/checkpoint_barrier_tracker.hpp"
#include "engine/barrier/f120/single_checkpoint_barrier_handler.hpp"
#include "engine/scheduling/deployment.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine::f120 {

// A gate as the handler needs it.
class InputProcessorUtil::Gate final : public CheckpointableInput {
 public:
  explicit Gate(InputGate& gate) : gate_(gate) {}

  [[nodiscard]] std::int32_t channel_count() const override { return gate_.channel_count(); }
  void block_consumption(ChannelIndex) override {}  // the sender has stopped behind its barrier
  void resume_consumption(ChannelIndex channel) override { gate_.resume_consumption(channel); }
  std::optional<CheckpointFailureReason> checkpoint_started(
      const CheckpointBarrier& barrier) override {
    return gate_.checkpoint_started(barrier);
  }
  void checkpoint_stopped(CheckpointId id) override { gate_.checkpoint_stopped(id); }
  void convert_to_priority_event(ChannelIndex channel, std::int32_t sequence_number) override {
    gate_.convert_to_priority_event(channel, sequence_number);
  }

 private:
  InputGate& gate_;
};

InputProcessorUtil::InputProcessorUtil(std::span<const InputToCheckpoint> inputs,
                                       const CheckpointedInputsOptions& options,
                                       CheckpointListener& listener, const Clock& clock) {
  TAILRACE_ASSERT(!inputs.empty());
  std::int32_t channels = 0;
  std::vector<CheckpointableInput*> to_handler;
  for (const InputToCheckpoint& input : inputs) {
    TAILRACE_ASSERT(input.gate != nullptr);
    inputs_.push_back({channels, std::make_unique<Gate>(*input.gate), nullptr});
    to_handler.push_back(inputs_.back().to_handler.get());
    channels += input.gate->channel_count();
  }
  checkpointable_ = std::make_unique<CheckpointableInputs>(std::move(to_handler));
  if (options.mode == CheckpointingMode::AT_LEAST_ONCE) {
    handler_ = std::make_unique<CheckpointBarrierTracker>(channels, listener, clock,
                                                          options.checkpoints_after_tasks_finish);
  } else {
    using Handler = SingleCheckpointBarrierHandler;
    handler_ = std::make_unique<Handler>(
        options.unaligned ? Handler::Kind::kAlternating : Handler::Kind::kAligned,
        Handler::Environment{listener, clock, options.initializer, options.mailbox_timers},
        *checkpointable_, options.checkpoints_after_tasks_finish);
  }
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    inputs_[i].gate = std::make_unique<CheckpointedInputGate>(
        *inputs[i].gate, *handler_, inputs_[i].channel_offset, inputs[i].observer);
  }
}

InputProcessorUtil::~InputProcessorUtil() = default;

CheckpointedInputGate& InputProcessorUtil::input(std::int32_t gate) {
  TAILRACE_ASSERT(0 <= gate && gate < size());
  return *inputs_[static_cast<std::size_t>(gate)].gate;
}

void InputProcessorUtil::process_barrier_of_coordinator(const CheckpointBarrier& barrier) {
  for (const Input& input : inputs_) {
    for (ChannelIndex channel = 0; channel < input.gate->channel_count(); ++channel) {
      if (input.gate->has_ended(channel)) continue;
      handler_->process_barrier(barrier, input.channel_offset + channel, true);
    }
  }
}

bool InputProcessorUtil::is_blocked(std::int32_t gate, ChannelIndex channel) const {
  TAILRACE_ASSERT(0 <= gate && gate < size());
  const Input& input = inputs_[static_cast<std::size_t>(gate)];
  TAILRACE_ASSERT(0 <= channel && channel < input.gate->channel_count());
  return handler_->is_blocked(input.channel_offset + channel);
}

}  // namespace tailrace::engine::f120
