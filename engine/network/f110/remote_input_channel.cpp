#include "engine/network/f110/remote_input_channel.hpp"

#include <cstring>
#include <memory>
#include <utility>

#include "engine/network/network_buffer_pool.hpp"
#include "engine/network/single_input_gate.hpp"

namespace tailrace::engine {

RemoteInputChannel110::~RemoteInputChannel110() {
  release_all_resources();
  // Buffers that the task still holds find their way home without this channel.
  buffers_.hand_over(gate().global_pool());
}

void RemoteInputChannel110::assign_exclusive_segment(NetworkBuffer& segment) {
  TAILRACE_ASSERT(client_ == nullptr);
  buffers_.add_exclusive(segment);
  ++initial_credit_;
  ++required_;
}

void RemoteInputChannel110::request_subpartition() {
  if (released_) return;
  if (client_ == nullptr) {
    client_ = &gate().connections().create_partition_request_client(
        descriptor().producer, descriptor().partition.data_set);
    client_->add_channel(*this);
  }
  client_->request_subpartition(*this);
}

void RemoteInputChannel110::on_failed_partition_request() {
  if (released_) return;
  if (!increase_backoff(backoff_)) {
    on_error(partition_not_found_message(descriptor().partition));
    return;
  }
  gate().schedule(backoff_, [this] { request_subpartition(); });
}

void RemoteInputChannel110::on_error(const std::string& reason) {
  gate().fail(reason);
}

std::optional<InputChannel::BufferAndAvailability> RemoteInputChannel110::get_next_buffer() {
  if (received_.empty()) return std::nullopt;
  NetworkItem item = received_.pop_front();
  received_bytes_ -= item.size();
  return BufferAndAvailability{std::move(item), !received_.empty()};
}

void RemoteInputChannel110::resume_consumption() {
  TAILRACE_ASSERT(!released_ && client_ != nullptr);
  client_->resume_consumption(*this);
}

void RemoteInputChannel110::acknowledge_all_records_processed() {
  TAILRACE_ASSERT(!released_ && client_ != nullptr);
  client_->acknowledge_all_records_processed(*this);
}

void RemoteInputChannel110::release_all_resources() {
  if (std::exchange(released_, true)) return;
  // First: what is given back below may be announced as credit of other channels.
  if (client_ != nullptr) {
    gate().connections().close_channel(*std::exchange(client_, nullptr), *this);
  }
  // Returns the received segments through `recycle`, exclusive ones straight to the global pool.
  received_.clear();
  received_bytes_ = 0;
  LocalBufferPool* const pool = gate().buffer_pool();
  if (std::exchange(waiting_for_floating_, false)) pool->remove_buffer_listener(*this);
  while (NetworkBuffer* const segment = buffers_.remove_floating()) pool->recycle(*segment);
  std::int32_t exclusive = 0;
  while (NetworkBuffer* const segment = buffers_.remove_exclusive()) {
    gate().global_pool().return_segment(*segment);
    ++exclusive;
  }
  if (exclusive > 0) gate().global_pool().release_unpooled(exclusive);
}

NetworkBuffer* RemoteInputChannel110::request_buffer() {
  if (NetworkBuffer* const floating = buffers_.take_floating()) return floating;
  NetworkBuffer* const segment = buffers_.take_exclusive();
  if (segment != nullptr) segment->lend(*this);
  return segment;
}

void RemoteInputChannel110::on_buffer_response(const BufferResponse& response) {
  if (released_) return;
  TAILRACE_ASSERT_MSG(response.sequence_number == expected_sequence_number_,
                      "Buffer re-ordering: expected buffer with sequence number " +
                          std::to_string(expected_sequence_number_) + ", but received " +
                          std::to_string(response.sequence_number));
  ++expected_sequence_number_;
  const std::span<const std::byte> payload = response.payload;
  if (response.is_buffer() && payload.empty()) {
    on_sender_backlog(response.backlog);
    return;
  }
  NetworkItem item;
  if (response.is_buffer()) {
    NetworkBuffer* segment = request_buffer();
    if (segment == nullptr) {
      client_->fail("No buffer available in credit-based input channel.");
      return;
    }
    item.buffer = take_payload(response, *segment);
    data_number_ = next_sequence_number(data_number_);
    item.buffer.set_sequence_number(data_number_);
  } else {
    item.event = std::make_shared<const std::vector<std::byte>>(payload.begin(), payload.end());
    item.type = response.type;
  }
  const bool was_empty = received_.empty();
  received_bytes_ += item.size();
  received_.push_back(std::move(item));
  if (was_empty) gate().queue_channel(*this);
  on_sender_backlog(response.backlog);
}

void RemoteInputChannel110::on_sender_backlog(std::int32_t backlog) {
  required_ = backlog + initial_credit_;
  std::int32_t gained = 0;
  while (available_buffers() < required_ && !waiting_for_floating_) {
    LocalBufferPool& pool = *gate().buffer_pool();
    NetworkBuffer* segment = pool.request_buffer();
    if (segment != nullptr) {
      buffers_.add_floating(*segment);
      ++gained;
    } else {
      waiting_for_floating_ = pool.add_buffer_listener(*this);
      TAILRACE_ASSERT(waiting_for_floating_);
    }
  }
  gain_credit(gained);
}

void RemoteInputChannel110::gain_credit(std::int32_t credit) {
  if (credit == 0) return;
  const bool tell = gain_unannounced_credit(credit);
  if (tell && client_ != nullptr) client_->notify_credit_available(*this);
}

void RemoteInputChannel110::recycle(NetworkBuffer& segment) {
  if (released_) {
    buffers_.forget_exclusive(segment);
    gate().global_pool().recycle(segment);
    return;
  }
  buffers_.return_exclusive(segment);
  if (available_buffers() > required_) {
    NetworkBuffer* const floating = buffers_.take_floating();
    TAILRACE_ASSERT(floating != nullptr);
    gate().buffer_pool()->recycle(*floating);
    return;
  }
  gain_credit(1);
}

BufferListener::Answer RemoteInputChannel110::notify_buffer_available(NetworkBuffer& segment) {
  TAILRACE_ASSERT(waiting_for_floating_);
  if (released_ || available_buffers() >= required_) {
    waiting_for_floating_ = false;
    return Answer::kNotUsed;
  }
  buffers_.add_floating(segment);
  waiting_for_floating_ = available_buffers() < required_;
  gain_credit(1);
  return waiting_for_floating_ ? Answer::kUsedNeedMore : Answer::kUsedNoNeedMore;
}

}  // namespace tailrace::engine
