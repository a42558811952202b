#include "engine/network/single_input_gate.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/network/f120/gate_debloating.hpp"
#include "engine/network/local_buffer_pool.hpp"
#include "engine/network/local_input_channel.hpp"
#include "engine/network/network_buffer_pool.hpp"
#include "engine/network/network_semantics.hpp"
#include "engine/network/remote_input_channel.hpp"
#include "engine/network/result_partition_manager.hpp"

namespace tailrace::engine {

SingleInputGate::SingleInputGate(const InputGateDescriptor& descriptor,
                                 const Environment& environment,
                                 base::InplaceFunction<void(std::string)> on_failure)
    : environment_(environment),
      self_(environment.ports.self),
      unfinished_(static_cast<std::int32_t>(descriptor.channels.size())),
      channels_without_end_of_data_(unfinished_),
      on_failure_(std::move(on_failure)) {
  TAILRACE_ASSERT(!descriptor.channels.empty());
  if (environment_.config.buffer_debloat.enabled) {
    debloating_ = std::make_unique<GateDebloating>(environment_.config.buffer_debloat,
                                                   environment_.config.segment_bytes,
                                                   *environment_.ports.clock);
  }
  channels_.reserve(descriptor.channels.size());
  for (const InputChannelDescriptor& one : descriptor.channels) {
    const auto index = static_cast<ChannelIndex>(channels_.size());
    if (one.producer == self_) {
      channels_.push_back(std::make_unique<LocalInputChannel>(*this, index, one));
    } else {
      channels_.push_back(semantics().make_remote_input_channel(
          {*this, index, one, ++environment_.next_channel_id}));
    }
  }
  set_up();
}

SingleInputGate::~SingleInputGate() {
  for (const auto& channel : channels_) channel->release_all_resources();
  if (missing_exclusive_ > 0) environment_.buffers.release_unpooled(missing_exclusive_);
  if (pool_ != nullptr) pool_->lazy_destroy();
}

void SingleInputGate::set_up() {
  const NetworkConfig& config = environment_.config;
  const auto spec = config.semantics->gate_buffers(config, ResultPartitionType::PIPELINED_BOUNDED,
                                                   channel_count());
  if (!spec) {
    fail(spec.error());
    return;
  }
  spec_ = spec.value();
  if (spec_.reserved_floating > 0 && !create_buffer_pool()) return;
  for (const auto& channel : channels_) {
    if (!is_remote(*channel)) continue;
    std::string error;
    if (!environment_.buffers.reserve_unpooled(spec_.exclusive_per_channel, &error)) {
      fail(error);
      return;
    }
    missing_exclusive_ += spec_.exclusive_per_channel;
  }
  assign_segments();
  if (is_set_up_ || failed_) return;
  schedule(config.exclusive_buffers_request_timeout, [this] {
    if (is_set_up_) return;
    fail(
        "Timeout triggered when requesting exclusive buffers: the total number of network buffers "
        "is currently set to " +
        std::to_string(environment_.buffers.total_segments()) + " of " +
        std::to_string(environment_.buffers.segment_bytes()) + " bytes each.");
  });
}

bool SingleInputGate::create_buffer_pool() {
  std::string error;
  pool_ = environment_.buffers.create_buffer_pool(
      {.required = spec_.required_floating, .max = spec_.total_floating}, &error);
  if (pool_ == nullptr) fail(error);
  return pool_ != nullptr;
}

bool SingleInputGate::take_guaranteed_segments() {
  if (pool_ != nullptr && !pool_->reserve_segments(spec_.reserved_floating)) return false;
  for (const auto& one : channels_) {
    if (!is_remote(*one)) continue;
    auto& channel = static_cast<RemoteInputChannel&>(*one);
    while (channel.initial_credit() < spec_.exclusive_per_channel) {
      NetworkBuffer* segment = environment_.buffers.request_memory_segment();
      if (segment == nullptr) return false;
      channel.assign_exclusive_segment(*segment);
      --missing_exclusive_;
    }
  }
  return true;
}

void SingleInputGate::assign_segments() {
  if (!take_guaranteed_segments()) {
    // Guaranteed, but still with a pool that has to shrink.
    environment_.buffers.await_segment(
        lifeline_.bind([this] { schedule(Duration{0}, [this] { assign_segments(); }); }));
    return;
  }
  if (pool_ == nullptr && !create_buffer_pool()) return;
  is_set_up_ = true;
  if (requested_) start_requests();
}

void SingleInputGate::request_partitions() {
  TAILRACE_ASSERT(!requested_);
  requested_ = true;
  if (is_set_up_) start_requests();
}

void SingleInputGate::start_requests() {
  for (const auto& channel : channels_) channel->request_subpartition();
}

// --- which channel is next ---------------------------------------------------------------------

namespace {

// Numbers wrap: near the border the one of the other sign is the later one. A channel of which
// nothing has been polled counts as far behind.
bool is_outdated(std::int32_t sequence_number, std::int32_t last) {
  constexpr std::int32_t kHalf = std::numeric_limits<std::int32_t>::max() / 2;
  if ((last < 0) != (sequence_number < 0) && std::max(last, sequence_number) > kHalf) {
    return last < 0;
  }
  return last >= sequence_number;
}

}  // namespace

void SingleInputGate::queue_channel(InputChannel& channel) {
  queue(channel, false);
}

void SingleInputGate::notify_priority_event(InputChannel& channel, std::int32_t sequence_number) {
  if (is_outdated(sequence_number, channel.gate_state.last_priority_sequence_number)) return;
  queue(channel, true);
}

void SingleInputGate::notify_priority_event_force(InputChannel& channel) {
  queue(channel, true);
}

void SingleInputGate::queue(InputChannel& channel, bool priority) {
  const bool was_available = is_available();
  if (!queue_silently(channel, priority)) return;
  if (priority && queue_.num_priority_elements() == 1 &&
      !std::exchange(priority_available_, true) && on_priority_available_) {
    on_priority_available_();
  }
  if (!was_available && on_available_) on_available_();
}

bool SingleInputGate::queue_silently(InputChannel& channel, bool priority) {
  InputChannel::GateState& state = channel.gate_state;
  if (state.ended || (state.is_queued && (!priority || state.has_priority))) return false;
  queue_.add(&channel, priority, state.is_queued);
  state.is_queued = true;
  state.has_priority = priority;
  return true;
}

std::optional<BufferOrEvent> SingleInputGate::poll_next() {
  while (!queue_.empty()) {
    InputChannel& channel = *queue_.poll();
    channel.gate_state.is_queued = false;
    const bool announced = std::exchange(channel.gate_state.has_priority, false);
    std::optional<InputChannel::BufferAndAvailability> next = channel.get_next_buffer();
    if (!next && announced) {
      // Its producer has gone and the announced event with it; Flink's poll throws here. The task is
      // about to be cancelled, and nobody may mistake the next channel's item for that event.
      if (queue_.num_priority_elements() == 0) priority_available_ = false;
      return std::nullopt;
    }
    if (!next) continue;
    if (next->more_available) queue_silently(channel, has_priority(next->next));
    if (debloating_ != nullptr) debloating_->polled(next->item.size());
    BufferOrEvent result;
    result.channel = channel.index();
    result.has_priority = has_priority(next->item.type);
    result.more_priority_events = queue_.num_priority_elements() > 0;
    result.more_available = !queue_.empty();
    if (result.has_priority) {
      channel.gate_state.last_priority_sequence_number = next->sequence_number;
      if (!result.more_priority_events) priority_available_ = false;
    }
    if (next->item.is_buffer()) {
      result.item = std::move(next->item.buffer);
    } else {
      RuntimeEvent event = environment_.config.semantics->parse_event(*next->item.event);
      if (std::holds_alternative<EndOfPartitionEvent>(event)) {
        on_end_of_partition(channel);
        if (is_finished()) result.more_available = false;
      } else if (const auto* end = std::get_if<EndOfData>(&event)) {
        on_end_of_data(*end);
      }
      result.item = std::move(event);
    }
    return result;
  }
  if (debloating_ != nullptr && !is_finished()) debloating_->found_nothing();
  return std::nullopt;
}

void SingleInputGate::trigger_debloating() {
  if (debloating_ == nullptr || is_finished()) return;
  if (const auto bytes = debloating_->trigger(buffers_in_use())) announce_buffer_size(*bytes);
}

const BufferDebloater* SingleInputGate::debloater() const {
  return debloating_ == nullptr ? nullptr : &debloating_->debloater();
}

std::vector<ChannelIndex> SingleInputGate::queued_channels() const {
  std::vector<ChannelIndex> channels;
  for (std::size_t i = 0; i < queue_.size(); ++i) channels.push_back(queue_[i]->index());
  return channels;
}

void SingleInputGate::resume_consumption(ChannelIndex channel) {
  TAILRACE_ASSERT(!is_finished());
  if (defers_resume_ && defers_resume_(channel)) return;
  channels_[static_cast<std::size_t>(channel)]->resume_consumption();
}

void SingleInputGate::acknowledge_all_records_processed(ChannelIndex channel) {
  TAILRACE_ASSERT(!is_finished());
  channels_[static_cast<std::size_t>(channel)]->acknowledge_all_records_processed();
}

void SingleInputGate::on_end_of_partition(InputChannel& channel) {
  channel.gate_state.ended = true;
  if (channel.gate_state.is_queued) {
    queue_.get_and_remove([&channel](const InputChannel* one) { return one == &channel; });
    channel.gate_state.is_queued = false;
    channel.gate_state.has_priority = false;
  }
  channel.release_all_resources();
  if (--unfinished_ > 0) return;
  TAILRACE_ASSERT(queue_.empty());
  if (on_available_) on_available_();
}

void SingleInputGate::on_end_of_data(const EndOfData& end) {
  TAILRACE_ASSERT(channels_without_end_of_data_ > 0);
  --channels_without_end_of_data_;
  drains_ = drains_ && end.drain;
}

// --- unaligned checkpoints, debloating -----------------------------------------------------------

std::optional<CheckpointFailureReason> SingleInputGate::checkpoint_started(
    const CheckpointBarrier& barrier) {
  for (const auto& channel : channels_) {
    if (const auto failure = channel->checkpoint_started(barrier)) return failure;
  }
  return std::nullopt;
}

void SingleInputGate::checkpoint_stopped(CheckpointId id) {
  for (const auto& channel : channels_) channel->checkpoint_stopped(id);
}

void SingleInputGate::convert_to_priority_event(ChannelIndex channel,
                                                std::int32_t sequence_number) {
  channels_[static_cast<std::size_t>(channel)]->convert_to_priority_event(sequence_number);
}

void SingleInputGate::announce_buffer_size(std::int32_t bytes) {
  for (const auto& channel : channels_) {
    if (!channel->is_released()) channel->announce_buffer_size(bytes);
  }
}

std::int32_t SingleInputGate::buffers_in_use() const {
  std::int32_t total = 0;
  for (const auto& channel : channels_) total += channel->buffers_in_use();
  return total;
}

void SingleInputGate::fail(const std::string& reason) {
  if (std::exchange(failed_, true)) return;
  // The text waits in the gate: a string would not fit into a callback beside its lifeline.
  schedule(Duration{0}, [this, text = std::make_unique<std::string>(reason)] {
    if (!on_failure_) return;
    auto on_failure = std::move(on_failure_);
    on_failure(std::move(*text));
  });
}

}  // namespace tailrace::engine
