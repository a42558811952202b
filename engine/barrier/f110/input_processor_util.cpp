#include "engine/barrier/f110/input_processor_util.hpp"

#include <cstddef>
#include <utility>

#include "engine/barrier/f110/cached_buffer_storage.hpp"
#include "engine/barrier/f110/checkpoint_barrier_aligner.hpp"
#include "engine/barrier/f110/checkpoint_barrier_tracker.hpp"
#include "engine/barrier/f110/linked_buffer_storage.hpp"
#include "engine/scheduling/deployment.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine::f110 {
namespace {

std::unique_ptr<BufferStorage> make_storage(const CheckpointedInputsOptions& options) {
  if (options.mode == CheckpointingMode::AT_LEAST_ONCE) {
    return std::make_unique<EmptyBufferStorage>();
  }
  return std::make_unique<CachedBufferStorage>(options.page_bytes, options.max_buffered_bytes);
}

std::unique_ptr<CheckpointBarrierHandler> make_handler(const CheckpointedInputsOptions& options,
                                                       std::int32_t channel_count,
                                                       CheckpointListener& listener,
                                                       const Clock& clock) {
  if (options.mode == CheckpointingMode::AT_LEAST_ONCE) {
    return std::make_unique<CheckpointBarrierTracker>(channel_count, listener);
  }
  return std::make_unique<CheckpointBarrierAligner>(channel_count, listener, clock);
}

}  // namespace

InputProcessorUtil::InputProcessorUtil(std::span<const InputToCheckpoint> inputs,
                                       const CheckpointedInputsOptions& options,
                                       CheckpointListener& listener, const Clock& clock) {
  TAILRACE_ASSERT(!inputs.empty());
  std::int32_t channels = 0;
  for (const InputToCheckpoint& input : inputs) {
    TAILRACE_ASSERT(input.gate != nullptr);
    inputs_.push_back({channels, nullptr, nullptr});
    storages_.push_back(make_storage(options));
    channels += input.gate->channel_count();
  }
  handler_ = make_handler(options, channels, listener, clock);

  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    BufferStorage* storage = storages_[i].get();
    if (inputs_.size() > 1) {
      std::vector<BufferStorage*> others;
      for (std::size_t j = 0; j < storages_.size(); ++j) {
        if (j != i) others.push_back(storages_[j].get());
      }
      inputs_[i].linked = std::make_unique<LinkedBufferStorage>(*storage, std::move(others),
                                                                options.max_buffered_bytes);
      storage = inputs_[i].linked.get();
    }
    inputs_[i].gate = std::make_unique<CheckpointedInputGate>(
        *inputs[i].gate, *handler_, *storage, inputs_[i].channel_offset, inputs[i].observer);
  }
}

CheckpointedInputGate& InputProcessorUtil::input(std::int32_t gate) {
  TAILRACE_ASSERT(0 <= gate && gate < size());
  return *inputs_[static_cast<std::size_t>(gate)].gate;
}

bool InputProcessorUtil::is_blocked(std::int32_t gate, ChannelIndex channel) const {
  TAILRACE_ASSERT(0 <= gate && gate < size());
  const Input& input = inputs_[static_cast<std::size_t>(gate)];
  TAILRACE_ASSERT(0 <= channel && channel < input.gate->channel_count());
  return handler_->is_blocked(input.channel_offset + channel);
}

const BufferStorage& InputProcessorUtil::storage(std::int32_t gate) const {
  TAILRACE_ASSERT(0 <= gate && gate < size());
  const auto index = static_cast<std::size_t>(gate);
  const BufferStorage* linked = inputs_[index].linked.get();
  return linked != nullptr ? *linked : *storages_[index];
}

}  // namespace tailrace::engine::f110
