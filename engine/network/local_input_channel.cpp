#include "engine/network/local_input_channel.hpp"

#include <utility>

#include "engine/network/f110/netty_message.hpp"
#include "engine/network/result_partition_manager.hpp"
#include "engine/network/single_input_gate.hpp"

namespace tailrace::engine {

LocalInputChannel::LocalInputChannel(SingleInputGate& gate, ChannelIndex index,
                                     const InputChannelDescriptor& descriptor,
                                     const NetworkConfig& config,
                                     const ResultPartitionManager& partitions)
    : InputChannel(index, descriptor, config),
      gate_(gate),
      partitions_(partitions),
      is_signalled_(config.semantics->signals_new_reader) {}

void LocalInputChannel::request_subpartition() {
  if (released_ || view_ != nullptr) return;
  PipelinedSubpartition* subpartition =
      partitions_.find_subpartition(descriptor().partition, descriptor().subpartition);
  if (subpartition != nullptr) {
    view_ = subpartition->create_read_view(*this);
    if (!is_signalled_) notify_data_available();
    return;
  }
  const std::optional<base::Duration> backoff = increase_backoff();
  if (!backoff) {
    gate_.fail(partition_not_found_message(descriptor().partition));
    return;
  }
  gate_.schedule(*backoff, [this] { request_subpartition(); });
}

std::optional<InputChannel::BufferAndAvailability> LocalInputChannel::get_next_buffer() {
  if (view_ == nullptr) return std::nullopt;
  std::optional<BufferAndBacklog> next = view_->get_next_buffer();
  if (!next) return std::nullopt;
  return BufferAndAvailability{std::move(next->item), next->more_available};
}

void LocalInputChannel::resume_consumption() {
  TAILRACE_ASSERT(view_ != nullptr);
  view_->resume_consumption();
  if (view_->is_available()) gate_.queue_channel(*this);
}

void LocalInputChannel::acknowledge_all_records_processed() {
  TAILRACE_ASSERT(view_ != nullptr);
  view_->acknowledge_all_data_processed();
}

void LocalInputChannel::release_all_resources() {
  released_ = true;
  view_.reset();
}

void LocalInputChannel::notify_data_available() {
  gate_.queue_channel(*this);
}

}  // namespace tailrace::engine
