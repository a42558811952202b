// Flink 1.20 LocalBufferPool (spec barriers.md 6.1): holds one free segment in advance whenever it
// may have one, so that "available" is the truth.
//
// Invariants
//   Q1  is_available() iff a segment is free and no subpartition has reached its limit. A request
//       still succeeds for a subpartition that has.
//   Q2  A request goes to the global pool only for overdraft: nothing is free and the size is
//       reached. Then at most `max_overdraft_buffers` more than the size are taken.
//   Q3  Above its size a pool has no free segment: what is recycled goes home first. A pool that
//       grows by its overdraft owns it from then on.
//   Q4  A pool that found the global one empty is registered there, once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/network/local_buffer_pool.hpp"

namespace tailrace::engine {

class LocalBufferPool120 final : public LocalBufferPool {
 public:
  // Null: Flink refuses such a pool; `error` then says it in its words.
  static std::unique_ptr<LocalBufferPool> make(NetworkBufferPool& global,
                                               const BufferPoolSpec& spec, std::string* error);

  // Requires: spec.required > 0; with subpartitions, limits that are possible.
  LocalBufferPool120(NetworkBufferPool& global, const BufferPoolSpec& spec);

  // Cost: O(1), no allocation.
  NetworkBuffer* request_buffer(std::int32_t subpartition) override;
  void recycle(NetworkBuffer& segment) override;
  // As in Flink, segments that are reserved beyond the one held in advance are missing in
  // requested(): the pool can then have more than its size.
  bool reserve_segments(std::int32_t count) override;
  [[nodiscard]] bool is_available() const override { return available_; }
  void set_num_buffers(std::int32_t size) override;
  void on_global_available() override;

  // Flink LocalBufferPool.setMaxOverdraftBuffersPerGate. Takes effect with the next request.
  void set_max_overdraft_buffers(std::int32_t count) { max_overdraft_ = count; }
  // Those that have reached max-buffers-per-channel.
  [[nodiscard]] std::int32_t unavailable_subpartitions() const { return unavailable_; }

 private:
  void on_destroyed() override;
  [[nodiscard]] bool is_size_reached() const { return requested_ >= size_; }
  // Fetches in advance if it may, and brings available_ up to date.
  // Returns: whether the pool has become available.
  bool check_and_update_availability();

  std::int32_t max_per_channel_;
  std::int32_t max_overdraft_;
  std::int32_t unavailable_ = 0;
  bool available_ = false;             // Flink's AvailabilityHelper
  bool registered_ = false;            // with the global pool
  std::vector<std::int32_t> lent_to_;  // by subpartition
};

}  // namespace tailrace::engine
