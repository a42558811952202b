// What a barrier handler of 1.20 does to an input of its task, and all inputs of a task as one.
//
// Flink 1.20 CheckpointableInput. Inputs are gates, and sources that are chained into the task (one
// channel each).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/checkpoint/checkpoint_failure_reason.hpp"
#include "engine/ids.hpp"
#include "engine/network/events.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine::f120 {

class CheckpointableInput {
 public:
  [[nodiscard]] virtual std::int32_t channel_count() const = 0;

  // The channel's barrier is in. Behind a gate the sender has stopped on its own.
  virtual void block_consumption(ChannelIndex channel) = 0;
  virtual void resume_consumption(ChannelIndex channel) = 0;

  // From now on what arrives before the barrier of a channel is channel state of this checkpoint.
  // Returns: why it cannot be; then the checkpoint is aborted.
  [[nodiscard]] virtual std::optional<CheckpointFailureReason> checkpoint_started(
      const CheckpointBarrier& barrier) = 0;
  virtual void checkpoint_stopped(CheckpointId id) = 0;
  // The announced barrier overtakes what is queued before it.
  virtual void convert_to_priority_event(ChannelIndex channel, std::int32_t sequence_number) = 0;

 protected:
  ~CheckpointableInput() = default;
};

// Channels count over all inputs of the task: those of the first, then those of the second, and so
// on. Loops over channels go upwards, where Flink follows its hash tables.
class CheckpointableInputs {
 public:
  // Borrows the inputs. Requires: at least one channel.
  explicit CheckpointableInputs(std::vector<CheckpointableInput*> inputs)
      : inputs_(std::move(inputs)) {
    for (CheckpointableInput* input : inputs_) {
      first_.push_back(channel_count_);
      channel_count_ += input->channel_count();
    }
    TAILRACE_ASSERT(channel_count_ > 0);
  }

  [[nodiscard]] std::int32_t channel_count() const { return channel_count_; }
  void block_consumption(ChannelIndex channel) {
    const std::size_t i = input_of(channel);
    inputs_[i]->block_consumption(channel - first_[i]);
  }
  void resume_consumption(ChannelIndex channel) {
    const std::size_t i = input_of(channel);
    inputs_[i]->resume_consumption(channel - first_[i]);
  }
  void convert_to_priority_event(ChannelIndex channel, std::int32_t sequence_number) {
    const std::size_t i = input_of(channel);
    inputs_[i]->convert_to_priority_event(channel - first_[i], sequence_number);
  }
  // The first input that refuses ends it.
  [[nodiscard]] std::optional<CheckpointFailureReason> checkpoint_started(
      const CheckpointBarrier& barrier) {
    for (CheckpointableInput* input : inputs_) {
      if (const auto failure = input->checkpoint_started(barrier)) return failure;
    }
    return std::nullopt;
  }
  void checkpoint_stopped(CheckpointId id) {
    for (CheckpointableInput* input : inputs_) input->checkpoint_stopped(id);
  }

 private:
  [[nodiscard]] std::size_t input_of(ChannelIndex channel) const {
    TAILRACE_ASSERT(0 <= channel && channel < channel_count_);
    std::size_t i = inputs_.size() - 1;
    while (first_[i] > channel) --i;
    return i;
  }

  std::vector<CheckpointableInput*> inputs_;
  std::vector<ChannelIndex> first_;
  std::int32_t channel_count_ = 0;
};

}  // namespace tailrace::engine::f120
