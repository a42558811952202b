#include "engine/network/f120/remote_input_channel.hpp"

#include <cstring>
#include <limits>
#include <memory>
#include <variant>

#include "engine/network/single_input_gate.hpp"

namespace tailrace::engine {

RemoteInputChannel120::~RemoteInputChannel120() {
  release_all_resources();
  hand_over_buffers();
}

void RemoteInputChannel120::assign_exclusive_segment(NetworkBuffer& segment) {
  TAILRACE_ASSERT(client_ == nullptr);
  add_exclusive_segment(segment);
  ++initial_credit_;
}

NetworkBufferPool& RemoteInputChannel120::global_buffers() {
  return gate().global_pool();
}

LocalBufferPool* RemoteInputChannel120::floating_buffers() {
  return gate().buffer_pool();
}

// --- requests ----------------------------------------------------------------------------------

void RemoteInputChannel120::request_subpartition() {
  if (released_ || client_ != nullptr) return;
  client_ = &gate().connections().create_partition_request_client(descriptor().producer,
                                                                  descriptor().partition.data_set);
  client_->add_channel(*this);
  client_->request_subpartition(*this);
}

// The producer has waited in vain, and it waits again as long as that is not too long in all.
void RemoteInputChannel120::on_failed_partition_request() {
  if (released_) return;
  waited_for_partition_ += gate().config().partition_request_timeout;
  if (waited_for_partition_ < gate().config().partition_request_backoff_max * 2) {
    client_->request_subpartition(*this);
  } else {
    on_error(partition_not_found_message(descriptor().partition));
  }
}

void RemoteInputChannel120::on_error(const std::string& reason) {
  if (released_ || error_ != nullptr) return;
  error_ = std::make_unique<const std::string>(reason);
  gate().queue_channel(*this);
}

// --- items -------------------------------------------------------------------------------------

std::optional<InputChannel::BufferAndAvailability> RemoteInputChannel120::get_next_buffer() {
  if (error_ != nullptr) {
    gate().fail(*error_);
    return std::nullopt;
  }
  if (received_.empty()) return std::nullopt;
  SequenceBuffer buffer = received_.poll();
  received_bytes_ -= buffer.item.size();
  const DataType next = received_.empty() ? DataType::kNone : received_.front().item.type;
  return BufferAndAvailability{std::move(buffer.item), next != DataType::kNone, next,
                               buffer.sequence_number};
}

void RemoteInputChannel120::on_buffer_response(const BufferResponse& response) {
  if (released_) return;
  const std::span<const std::byte> payload = response.payload;
  NetworkItem item;
  item.type = response.type;
  if (response.is_buffer()) {
    // With the header comes the buffer, so that an empty one gives its credit back, too.
    NetworkBuffer* segment = take_buffer();
    if (segment != nullptr) item.buffer = take_payload(response, *segment);
    if (payload.empty()) {
      item.buffer.reset();
      if (is_in_order(response.sequence_number)) on_sender_backlog(response.backlog);
      return;
    }
    if (segment == nullptr) {
      on_error("The read buffer is null in credit-based input channel.");
      return;
    }
    data_number_ = next_sequence_number(data_number_);
    item.buffer.set_sequence_number(data_number_);
  } else {
    item.event = std::make_shared<const std::vector<std::byte>>(payload.begin(), payload.end());
  }
  receive(std::move(item), response.sequence_number, response.backlog);
}

bool RemoteInputChannel120::is_in_order(std::int32_t sequence_number) {
  if (sequence_number != expected_sequence_number_) {
    on_error("Buffer re-ordering: expected buffer with sequence number " +
             std::to_string(expected_sequence_number_) + ", but received " +
             std::to_string(sequence_number) + ".");
    return false;
  }
  // The numbers wrap, as Java's do.
  expected_sequence_number_ =
      static_cast<std::int32_t>(static_cast<std::uint32_t>(sequence_number) + 1U);
  return true;
}

void RemoteInputChannel120::receive(NetworkItem item, std::int32_t sequence_number,
                                    std::int32_t backlog) {
  if (!is_in_order(sequence_number)) return;
  if (is_blocking_upstream(item.type)) {
    // Without exclusive buffers the sender forgets its credit when it is resumed.
    if (initial_credit_ == 0) release_floating_buffers();
    if (backlog != 0) {
      on_error("Illegal number of backlog: " + std::to_string(backlog) + ", should be 0.");
      return;
    }
  }
  const bool was_empty = received_.empty();
  bool first_priority_event = false;
  const DataType type = item.type;
  std::optional<RuntimeEvent> event;
  if (!item.is_buffer()) event = gate().semantics().parse_event(*item.event);
  persister_.maybe_persist(item, gate().channel_state_target(index()));
  received_bytes_ += item.size();
  if (has_priority(type)) {
    first_priority_event = add_priority_buffer({std::move(item), sequence_number});
  } else {
    received_.add({std::move(item), sequence_number});
    if (requires_announcement(type)) {
      NetworkItem announcement{{},
                               gate().semantics().serialize_event_at_receiver(EventAnnouncement{
                                   std::get<CheckpointBarrier>(*event), sequence_number}),
                               DataType::kPrioritizedEventBuffer};
      received_bytes_ += announcement.size();
      first_priority_event = add_priority_buffer({std::move(announcement), sequence_number});
    }
  }
  if (event) check_for_barrier(*event, sequence_number);

  if (first_priority_event) gate().notify_priority_event(*this, sequence_number);
  if (was_empty) gate().queue_channel(*this);
  on_sender_backlog(backlog);
}

bool RemoteInputChannel120::add_priority_buffer(SequenceBuffer buffer) {
  received_.add_priority_element(std::move(buffer));
  return received_.num_priority_elements() == 1;
}

void RemoteInputChannel120::check_for_barrier(const RuntimeEvent& event,
                                              std::int32_t sequence_number) {
  CheckpointId id = kNoCheckpoint;
  if (const auto* barrier = std::get_if<CheckpointBarrier>(&event)) {
    if (!persister_.check_for_barrier(barrier->id)) return;
    id = barrier->id;
  } else if (const auto* announcement = std::get_if<EventAnnouncement>(&event)) {
    id = announcement->barrier.id;
  } else {
    return;
  }
  if (id <= last_barrier_id_) return;
  last_barrier_id_ = id;
  last_barrier_sequence_number_ = sequence_number;
}

void RemoteInputChannel120::convert_to_priority_event(std::int32_t sequence_number) {
  TAILRACE_ASSERT_MSG(persister_.has_barrier_received(), "a barrier that has not been counted");
  const std::size_t priority_before = received_.num_priority_elements();
  std::optional<SequenceBuffer> barrier =
      received_.get_and_remove([sequence_number](const SequenceBuffer& one) {
        return one.sequence_number == sequence_number;
      });
  TAILRACE_ASSERT_MSG(barrier.has_value(), "a barrier that is not queued");
  TAILRACE_ASSERT_MSG(last_barrier_sequence_number_ == sequence_number, "not the last barrier");
  TAILRACE_ASSERT_MSG(!barrier->item.is_buffer(), "a buffer cannot become a priority event");
  TAILRACE_ASSERT_MSG(received_.num_priority_elements() == priority_before,
                      "a barrier that has priority already");
  received_bytes_ -= barrier->item.size();
  barrier->item.event = gate().semantics().serialize_event_at_receiver(
      gate().semantics().parse_event(*barrier->item.event));
  barrier->item.type = DataType::kPrioritizedEventBuffer;
  received_bytes_ += barrier->item.size();
  // Its number may have been seen: that of its announcement is the same.
  if (add_priority_buffer(std::move(*barrier))) gate().notify_priority_event_force(*this);
}

// --- unaligned checkpoints ---------------------------------------------------------------------

std::optional<CheckpointFailureReason> RemoteInputChannel120::checkpoint_started(
    const CheckpointBarrier& barrier) {
  if (barrier.id < last_barrier_id_) return CheckpointFailureReason::CHECKPOINT_SUBSUMED;
  if (barrier.id > last_barrier_id_) reset_last_barrier();
  return persister_.start_persisting(barrier.id, inflight_buffers(),
                                     gate().channel_state_target(index()));
}

void RemoteInputChannel120::checkpoint_stopped(CheckpointId id) {
  persister_.stop_persisting(id);
  if (last_barrier_id_ == id) reset_last_barrier();
}

std::vector<Buffer> RemoteInputChannel120::inflight_buffers() const {
  std::vector<Buffer> buffers;
  for (std::size_t i = received_.num_priority_elements(); i < received_.size(); ++i) {
    const SequenceBuffer& one = received_[i];
    if (!one.item.is_buffer()) continue;
    if (!should_be_spilled(one.sequence_number)) break;
    buffers.push_back(one.item.buffer);
  }
  return buffers;
}

// Signed numbers that wrap cannot be compared as such: near the border a number of the other sign
// is from the other side of it.
bool RemoteInputChannel120::should_be_spilled(std::int32_t sequence_number) const {
  constexpr std::int32_t kHalf = std::numeric_limits<std::int32_t>::max() / 2;
  const std::int32_t barrier = last_barrier_sequence_number_;
  if (barrier == -1) return true;
  if (barrier > kHalf) return 0 < sequence_number && sequence_number < barrier;
  if (barrier < -kHalf) return sequence_number < barrier || sequence_number > 0;
  return sequence_number < barrier;
}

void RemoteInputChannel120::reset_last_barrier() {
  last_barrier_id_ = kNoCheckpoint;
  last_barrier_sequence_number_ = -1;
}

// --- credit ------------------------------------------------------------------------------------

void RemoteInputChannel120::on_sender_backlog(std::int32_t backlog) {
  on_buffers_gained(request_floating_buffers(backlog + initial_credit_));
}

void RemoteInputChannel120::on_buffers_gained(std::int32_t count) {
  if (count == 0) return;
  const bool tell = gain_unannounced_credit(count);
  if (tell && client_ != nullptr) client_->notify_credit_available(*this);
}

void RemoteInputChannel120::resume_consumption() {
  TAILRACE_ASSERT(!released_ && client_ != nullptr);
  if (initial_credit_ == 0) take_unannounced_credit();
  client_->resume_consumption(*this);
}

void RemoteInputChannel120::acknowledge_all_records_processed() {
  TAILRACE_ASSERT(!released_ && client_ != nullptr);
  client_->acknowledge_all_records_processed(*this);
}

void RemoteInputChannel120::announce_buffer_size(std::int32_t bytes) {
  TAILRACE_ASSERT(!released_);
  if (client_ != nullptr) client_->notify_new_buffer_size(*this, bytes);
}

std::int32_t RemoteInputChannel120::buffers_in_use() const {
  const std::int32_t expected = required() - initial_credit_;
  return queued_buffers() + (expected > 0 ? expected : 0);
}

void RemoteInputChannel120::release_all_resources() {
  if (std::exchange(released_, true)) return;
  // First: what is given back below may be announced as credit of other channels.
  if (client_ != nullptr) {
    gate().connections().close_channel(*std::exchange(client_, nullptr), *this);
  }
  release_all_buffers([this] { received_.clear(); });
  received_bytes_ = 0;
}

}  // namespace tailrace::engine
