#include "engine/network/f110/local_buffer_pool.hpp"

#include "engine/network/network_buffer_pool.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {

std::unique_ptr<LocalBufferPool> LocalBufferPool110::make(NetworkBufferPool& global,
                                                          const BufferPoolSpec& spec,
                                                          std::string* error) {
  std::string refusal;
  if (spec.max < spec.required) {
    refusal = "Maximum number of memory segments (" + std::to_string(spec.max) +
              ") should not be smaller than minimum (" + std::to_string(spec.required) + ").";
  } else if (spec.max <= 0) {
    refusal = "Maximum number of memory segments (" + std::to_string(spec.max) +
              ") should be larger than 0.";
  } else {
    return std::make_unique<LocalBufferPool110>(global, spec);
  }
  if (error != nullptr) *error = refusal;
  return nullptr;
}

NetworkBuffer* LocalBufferPool110::request_buffer(std::int32_t /*subpartition*/) {
  return_excess();
  NetworkBuffer* segment = nullptr;
  if (free_.empty()) {
    TAILRACE_ASSERT(!destroyed_);
    if (requested_ < size_) segment = take_from_global();
  } else {
    segment = take_free();
  }
  if (segment == nullptr) {
    flag_ = false;
    return nullptr;
  }
  segment->lend(*this);
  return segment;
}

void LocalBufferPool110::recycle(NetworkBuffer& segment) {
  if (!pass_on(segment)) return;  // *this may be gone
  if (free_.size() > 1) return;
  flag_ = true;
  tell_available();
}

bool LocalBufferPool110::reserve_segments(std::int32_t count) {
  TAILRACE_ASSERT(count == 0);
  return true;
}

bool LocalBufferPool110::is_available() const {
  return flag_ || (requested_ < size_ && global_.is_available());
}

void LocalBufferPool110::set_num_buffers(std::int32_t size) {
  resize(size);
  if (requested_ < size_ && free_.empty() && global_.is_available()) {
    // Flink wakes the waiting writer and leaves the flag unset: it tries the global pool.
    flag_ = false;
    tell_available();
  }
}

void LocalBufferPool110::on_global_available() {
  if (requested_ < size_ && !flag_) tell_available();
}

}  // namespace tailrace::engine
