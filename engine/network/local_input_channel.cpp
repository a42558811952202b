#include "engine/network/local_input_channel.hpp"

#include <utility>

#include "engine/network/netty_message.hpp"
#include "engine/network/network_semantics.hpp"
#include "engine/network/result_partition_manager.hpp"
#include "engine/network/single_input_gate.hpp"

namespace tailrace::engine {

LocalInputChannel::LocalInputChannel(SingleInputGate& gate, ChannelIndex index,
                                     const InputChannelDescriptor& descriptor)
    : InputChannel(gate, index, descriptor) {}

void LocalInputChannel::request_subpartition() {
  if (released_ || view_ != nullptr) return;
  PipelinedSubpartition* subpartition =
      gate().partitions().find_subpartition(descriptor().partition, descriptor().subpartition);
  if (subpartition != nullptr) {
    view_ = subpartition->create_read_view(*this);
    if (!gate().semantics().signals_new_reader) notify_data_available();
    return;
  }
  if (!increase_backoff(backoff_)) {
    gate().fail(partition_not_found_message(descriptor().partition));
    return;
  }
  gate().schedule(backoff_, [this] { request_subpartition(); });
}

std::optional<InputChannel::BufferAndAvailability> LocalInputChannel::get_next_buffer() {
  if (view_ == nullptr) return std::nullopt;
  std::optional<BufferAndBacklog> next = view_->get_next_buffer();
  // What is handed out empty is so for the sake of a credit, which there is none of here.
  while (next && next->item.size() == 0) next = view_->get_next_buffer();
  if (!next) return std::nullopt;
  if (!next->item.is_buffer()) {
    const RuntimeEvent event = gate().semantics().parse_event(*next->item.event);
    if (const auto* barrier = std::get_if<CheckpointBarrier>(&event)) {
      persister_.check_for_barrier(barrier->id);
    }
  }
  persister_.maybe_persist(next->item, gate().channel_state_target(index()));
  return BufferAndAvailability{std::move(next->item), next->more_available, next->next,
                               next->sequence_number};
}

std::optional<CheckpointFailureReason> LocalInputChannel::checkpoint_started(
    const CheckpointBarrier& barrier) {
  return persister_.start_persisting(barrier.id, {}, gate().channel_state_target(index()));
}

void LocalInputChannel::announce_buffer_size(std::int32_t bytes) {
  TAILRACE_ASSERT(!released_);
  if (view_ != nullptr) view_->notify_new_buffer_size(bytes);
}

std::int32_t LocalInputChannel::buffers_in_use() const {
  return view_ == nullptr ? 0 : view_->queued_buffers();
}

void LocalInputChannel::resume_consumption() {
  TAILRACE_ASSERT(view_ != nullptr);
  view_->resume_consumption();
  if (view_->is_available()) gate().queue_channel(*this);
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
  gate().queue_channel(*this);
}

void LocalInputChannel::notify_priority_event(std::int32_t sequence_number) {
  gate().notify_priority_event(*this, sequence_number);
}

}  // namespace tailrace::engine
