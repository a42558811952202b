#include "engine/network/f120/local_buffer_pool.hpp"

#include <string>
#include <utility>

#include "engine/network/network_buffer_pool.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {

std::unique_ptr<LocalBufferPool> LocalBufferPool120::make(NetworkBufferPool& global,
                                                          const BufferPoolSpec& spec,
                                                          std::string* error) {
  std::string refusal;
  if (spec.required <= 0) {
    refusal = "Required number of memory segments (" + std::to_string(spec.required) +
              ") should be larger than 0.";
  } else if (spec.max < spec.required) {
    refusal = "Maximum number of memory segments (" + std::to_string(spec.max) +
              ") should not be smaller than minimum (" + std::to_string(spec.required) + ").";
  } else if (spec.subpartitions > 0 && spec.max_buffers_per_channel <= 0) {
    refusal = "Maximum number of buffers for each channel (" +
              std::to_string(spec.max_buffers_per_channel) + ") should be larger than 0.";
  } else if (spec.subpartitions > 0 && spec.max_overdraft_buffers < 0) {
    refusal = "Maximum number of overdraft buffers for each gate (" +
              std::to_string(spec.max_overdraft_buffers) + ") should not be less than 0.";
  } else {
    return std::make_unique<LocalBufferPool120>(global, spec);
  }
  if (error != nullptr) *error = refusal;
  return nullptr;
}

LocalBufferPool120::LocalBufferPool120(NetworkBufferPool& global, const BufferPoolSpec& spec)
    : LocalBufferPool(global, spec),
      max_per_channel_(spec.max_buffers_per_channel),
      max_overdraft_(spec.max_overdraft_buffers),
      lent_to_(static_cast<std::size_t>(spec.subpartitions)) {
  TAILRACE_ASSERT(required_ > 0);
  TAILRACE_ASSERT(lent_to_.empty() || (max_per_channel_ > 0 && max_overdraft_ >= 0));
  check_and_update_availability();
}

NetworkBuffer* LocalBufferPool120::request_buffer(std::int32_t subpartition) {
  TAILRACE_ASSERT(!destroyed_);
  NetworkBuffer* segment = nullptr;
  if (!free_.empty()) {
    segment = take_free();
  } else if (is_size_reached() && requested_ - size_ < max_overdraft_) {
    segment = take_from_global();
  }
  if (segment == nullptr) return nullptr;
  segment->lend(*this, subpartition);
  if (subpartition != kUnknownSubpartition) {
    std::int32_t& count = lent_to_[static_cast<std::size_t>(subpartition)];
    if (++count == max_per_channel_) ++unavailable_;
  }
  check_and_update_availability();  // a request makes nothing available
  return segment;
}

void LocalBufferPool120::recycle(NetworkBuffer& segment) {
  if (segment.subpartition() != kUnknownSubpartition) {
    std::int32_t& count = lent_to_[static_cast<std::size_t>(segment.subpartition())];
    if (count-- == max_per_channel_) --unavailable_;
  }
  if (!pass_on(segment)) return;
  if (available_ || unavailable_ > 0) return;
  available_ = true;
  tell_available();
}

bool LocalBufferPool120::reserve_segments(std::int32_t count) {
  TAILRACE_ASSERT(count <= required_ && !destroyed_);
  const std::int32_t missing = count - requested_;
  if (missing <= 0) return true;
  if (global_.available_segments() < missing) return false;
  for (std::int32_t i = 0; i < missing; ++i) free_.push_back(global_.request_memory_segment());
  uncounted_ += missing;
  const bool became_available = !std::exchange(available_, true);
  if (became_available) tell_available();
  return true;
}

void LocalBufferPool120::set_num_buffers(std::int32_t size) {
  resize(size);
  if (check_and_update_availability()) tell_available();
}

void LocalBufferPool120::on_global_available() {
  registered_ = false;
  // One that has become available meanwhile leaves the segment to others.
  if (available_) return;
  if (check_and_update_availability()) tell_available();
}

void LocalBufferPool120::on_destroyed() {
  if (std::exchange(registered_, false)) global_.forget_waiting(*this);
}

bool LocalBufferPool120::check_and_update_availability() {
  if (free_.empty() && !is_size_reached()) {
    NetworkBuffer* segment = take_from_global();
    if (segment != nullptr) {
      free_.push_back(segment);
    } else if (!std::exchange(registered_, true)) {
      global_.register_waiting(*this);
    }
  }
  const bool was_available = available_;
  available_ = !free_.empty() && unavailable_ == 0;
  return available_ && !was_available;
}

}  // namespace tailrace::engine
