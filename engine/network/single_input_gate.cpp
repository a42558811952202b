#include "engine/network/single_input_gate.hpp"

#include "engine/network/f110/remote_input_channel.hpp"
#include "engine/network/local_buffer_pool.hpp"
#include "engine/network/local_input_channel.hpp"
#include "engine/network/network_buffer_pool.hpp"
#include "engine/network/result_partition_manager.hpp"

namespace tailrace::engine {

SingleInputGate::SingleInputGate(const InputGateDescriptor& descriptor,
                                 const Environment& environment,
                                 base::InplaceFunction<void(std::string)> on_failure)
    : environment_(environment),
      self_(environment.ports.self),
      unfinished_(static_cast<std::int32_t>(descriptor.channels.size())),
      on_failure_(std::move(on_failure)) {
  TAILRACE_ASSERT(!descriptor.channels.empty());
  for (const InputChannelDescriptor& one : descriptor.channels) {
    const auto index = static_cast<ChannelIndex>(channels_.size());
    if (one.producer == self_) {
      channels_.push_back(std::make_unique<LocalInputChannel>(
          *this, index, one, environment_.config, environment_.partitions));
      continue;
    }
    auto channel = std::make_unique<RemoteInputChannel>(
        *this, index, one, environment_.config, ++environment_.next_channel_id,
        environment_.buffers, environment_.connections);
    remote_.push_back(channel.get());
    channels_.push_back(std::move(channel));
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
  for (std::size_t i = 0; i < remote_.size(); ++i) {
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
  for (RemoteInputChannel* channel : remote_) {
    while (channel->initial_credit() < spec_.exclusive_per_channel) {
      NetworkBuffer* segment = environment_.buffers.request_memory_segment();
      if (segment == nullptr) return false;
      channel->assign_exclusive_segment(*segment);
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

void SingleInputGate::queue_channel(InputChannel& channel) {
  if (channel.is_queued) return;
  const bool was_available = is_available();
  channel.is_queued = true;
  queue_.push_back(&channel);
  if (!was_available && on_available_) on_available_();
}

std::optional<BufferOrEvent> SingleInputGate::poll_next() {
  while (!queue_.empty()) {
    InputChannel& channel = *queue_.pop_front();
    channel.is_queued = false;
    std::optional<InputChannel::BufferAndAvailability> next = channel.get_next_buffer();
    if (!next) continue;
    if (next->more_available) {
      channel.is_queued = true;
      queue_.push_back(&channel);
    }
    BufferOrEvent result;
    result.channel = channel.index();
    if (next->item.is_buffer()) {
      result.item = std::move(next->item.buffer);
    } else {
      RuntimeEvent event = environment_.config.semantics->parse_event(*next->item.event);
      if (std::holds_alternative<EndOfPartitionEvent>(event)) on_end_of_partition(channel);
      result.item = std::move(event);
    }
    result.more_available = !queue_.empty();
    return result;
  }
  return std::nullopt;
}

void SingleInputGate::resume_consumption(ChannelIndex channel) {
  TAILRACE_ASSERT(!is_finished());
  channels_[static_cast<std::size_t>(channel)]->resume_consumption();
}

void SingleInputGate::acknowledge_all_records_processed(ChannelIndex channel) {
  TAILRACE_ASSERT(!is_finished());
  channels_[static_cast<std::size_t>(channel)]->acknowledge_all_records_processed();
}

void SingleInputGate::on_end_of_partition(InputChannel& channel) {
  TAILRACE_ASSERT(!channel.is_queued);
  channel.release_all_resources();
  if (--unfinished_ > 0) return;
  TAILRACE_ASSERT(queue_.empty());
  if (on_available_) on_available_();
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
