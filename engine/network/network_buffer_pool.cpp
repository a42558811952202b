#include "engine/network/network_buffer_pool.hpp"

#include <algorithm>
#include <utility>

namespace tailrace::engine {

NetworkBufferPool::NetworkBufferPool(std::int32_t total_segments, std::int32_t segment_bytes,
                                     const NetworkSemantics& semantics)
    : semantics_(semantics), total_(total_segments), segment_bytes_(segment_bytes) {
  // None at all is a configuration of which every task fails, not one that cannot be.
  TAILRACE_ASSERT(total_segments >= 0 && segment_bytes > 0);
}

NetworkBufferPool::~NetworkBufferPool() = default;

NetworkBuffer* NetworkBufferPool::request_memory_segment() {
  if (out_ == total_) return nullptr;
  if (free_.empty()) {
    segments_.push_back(
        std::make_unique<NetworkBuffer>(static_cast<std::uint32_t>(segment_bytes_)));
    free_.push_back(segments_.back().get());
  }
  NetworkBuffer* segment = free_.back();
  free_.pop_back();
  ++out_;
  if (out_ == total_) available_ = false;
  return segment;
}

void NetworkBufferPool::return_segment(NetworkBuffer& segment) {
  NetworkBuffer* const one = &segment;
  return_segments({&one, 1});
}

void NetworkBufferPool::return_segments(std::span<NetworkBuffer* const> segments) {
  if (segments.empty()) return;
  const bool was_empty = out_ == total_;
  for (NetworkBuffer* segment : segments) {
    TAILRACE_ASSERT(segment->references() == 0 && out_ > 0);
    free_.push_back(segment);
    --out_;
  }
  if (was_empty) tell_available();
}

void NetworkBufferPool::tell_available() {
  available_ = true;
  for (auto& callback : std::exchange(waiting_, {})) callback();
  if (semantics_.tells_every_local_pool) {
    // By index: whoever is told may create or destroy a pool at the end of the list.
    for (std::size_t i = 0; i < pools_.size(); ++i) pools_[i]->on_global_available();
    return;
  }
  // One that finds nothing any more registers again, for the next time.
  TAILRACE_ASSERT(told_pools_.empty());
  told_pools_.swap(waiting_pools_);
  for (std::size_t i = told_pools_.size(); i-- > 0;) {
    if (told_pools_[i] != nullptr) told_pools_[i]->on_global_available();
  }
  told_pools_.clear();
}

void NetworkBufferPool::forget_waiting(LocalBufferPool& pool) {
  std::erase(waiting_pools_, &pool);
  std::replace(told_pools_.begin(), told_pools_.end(), &pool,
               static_cast<LocalBufferPool*>(nullptr));
}

void NetworkBufferPool::recycle(NetworkBuffer& segment) {
  return_segment(segment);
  release_unpooled(1);
}

void NetworkBufferPool::await_segment(base::InplaceFunction<void()> callback) {
  waiting_.push_back(std::move(callback));
}

std::string NetworkBufferPool::insufficient(std::int32_t required) const {
  return "Insufficient number of network buffers: required " + std::to_string(required) +
         ", but only " + std::to_string(total_ - guaranteed_) +
         " available. The total number of network buffers is currently set to " +
         std::to_string(total_) + " of " + std::to_string(segment_bytes_) +
         " bytes each. You can increase this number by setting the configuration keys "
         "'taskmanager.memory.network.fraction', 'taskmanager.memory.network.min', and "
         "'taskmanager.memory.network.max'.";
}

LocalBufferPool* NetworkBufferPool::create_buffer_pool(const BufferPoolSpec& spec,
                                                       std::string* error) {
  if (guaranteed_ + spec.required > total_) {
    if (error != nullptr) *error = insufficient(spec.required);
    return nullptr;
  }
  guaranteed_ += spec.required;
  std::unique_ptr<LocalBufferPool> made = semantics_.make_local_buffer_pool(*this, spec, error);
  if (made == nullptr) return nullptr;
  LocalBufferPool* pool = made.get();
  owned_.push_back(std::move(made));
  if (semantics_.redistributes_fixed_pools || spec.required < spec.max) pools_.push_back(pool);
  redistribute_buffers();
  return pool;
}

LocalBufferPool* NetworkBufferPool::create_buffer_pool(std::int32_t required, std::int32_t max,
                                                       std::string* error) {
  return create_buffer_pool({.required = required, .max = max}, error);
}

bool NetworkBufferPool::reserve_unpooled(std::int32_t count, std::string* error) {
  if (guaranteed_ + count > total_) {
    if (error != nullptr) *error = insufficient(count);
    return false;
  }
  guaranteed_ += count;
  redistribute_buffers();
  return true;
}

void NetworkBufferPool::release_unpooled(std::int32_t count) {
  guaranteed_ -= count;
  redistribute_buffers();
}

void NetworkBufferPool::on_pool_destroyed(LocalBufferPool& pool) {
  std::erase(pools_, &pool);
  guaranteed_ -= pool.required();
  redistribute_buffers();
}

void NetworkBufferPool::bury(LocalBufferPool& pool) {
  std::erase_if(owned_, [&pool](const auto& owned) { return owned.get() == &pool; });
}

void NetworkBufferPool::redistribute_buffers() {
  if (reorder_) reorder_(pools_);
  const std::int64_t available = total_ - guaranteed_;
  if (available == 0) {
    for (std::size_t i = 0; i < pools_.size(); ++i)
      pools_[i]->set_num_buffers(pools_[i]->required());
    return;
  }
  std::int64_t total_capacity = 0;
  for (const LocalBufferPool* pool : pools_) {
    total_capacity += std::min<std::int64_t>(available, pool->max() - pool->required());
  }
  if (total_capacity == 0) return;
  const std::int64_t to_distribute = std::min(available, total_capacity);
  std::int64_t parts_used = 0;
  std::int64_t distributed = 0;
  for (std::size_t i = 0; i < pools_.size(); ++i) {
    LocalBufferPool& pool = *pools_[i];
    const std::int64_t room = pool.max() - pool.required();
    if (room == 0) continue;
    parts_used += std::min(available, room);
    // Rounded down on the running sum, so that the shares add up exactly.
    const std::int64_t share = to_distribute * parts_used / total_capacity - distributed;
    distributed += share;
    pool.set_num_buffers(pool.required() + static_cast<std::int32_t>(share));
  }
}

}  // namespace tailrace::engine
