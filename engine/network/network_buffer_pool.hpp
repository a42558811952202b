// All segments of one task manager, and how they are dealt out.
//
// Flink NetworkBufferPool (spec barriers.md 6.1); what differs in the generations is in
// NetworkSemantics. Owns the local pools, because segments of a
// destroyed pool may still be out; such a pool goes when the last one has come home. Redistribution
// walks the pools in the order of their creation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/network/buffer.hpp"
#include "engine/network/local_buffer_pool.hpp"
#include "engine/network/network_semantics.hpp"
#include "sim/base/callback.hpp"

namespace tailrace::engine {

class NetworkBufferPool final : public BufferRecycler {
 public:
  NetworkBufferPool(std::int32_t total_segments, std::int32_t segment_bytes,
                    const NetworkSemantics& semantics = network_semantics_110());
  ~NetworkBufferPool();
  NetworkBufferPool(const NetworkBufferPool&) = delete;
  NetworkBufferPool& operator=(const NetworkBufferPool&) = delete;

  // Null if the guarantees of all pools would exceed the total, or Flink refuses such a pool (whose
  // guarantee then stays, as in Flink); `error` says it in its words. The pool lives until its
  // `lazy_destroy` and the return of its last segment.
  LocalBufferPool* create_buffer_pool(const BufferPoolSpec& spec, std::string* error);
  LocalBufferPool* create_buffer_pool(std::int32_t required, std::int32_t max, std::string* error);

  // Guarantees `count` segments outside of any pool (exclusive buffers of a channel).
  // Returns: false if that would exceed the total.
  bool reserve_unpooled(std::int32_t count, std::string* error);
  // Takes one that was guaranteed. Null: none is here at the moment.
  NetworkBuffer* request_memory_segment();
  // Gives back a segment that no reference is out to, without its guarantee.
  void return_segment(NetworkBuffer& segment);
  // The same for several at once: whoever waits for one is told when all are here.
  void return_segments(std::span<NetworkBuffer* const> segments);
  // Gives up guarantees of `reserve_unpooled`, after the segments have been returned.
  void release_unpooled(std::int32_t count);
  // The last reference to an unpooled segment is gone that had been handed over to this pool.
  void recycle(NetworkBuffer& segment) override;

  // Runs once, when a segment comes home to an empty pool.
  void await_segment(base::InplaceFunction<void()> callback);

  // Flink walks its pools in the order of a hash set, which decides who gets the odd segment. A
  // replay puts them into a recorded order here; without it they stay in the order of creation.
  void set_walk_order(base::InplaceFunction<void(std::vector<LocalBufferPool*>&)> reorder) {
    reorder_ = std::move(reorder);
  }

  [[nodiscard]] bool is_available() const { return available_; }
  [[nodiscard]] std::int32_t available_segments() const { return total_ - out_; }
  [[nodiscard]] std::int32_t outstanding_segments() const { return out_; }
  [[nodiscard]] std::int32_t total_segments() const { return total_; }
  [[nodiscard]] std::int32_t segment_bytes() const { return segment_bytes_; }

  // For LocalBufferPool alone.
  void on_pool_destroyed(LocalBufferPool& pool);
  void bury(LocalBufferPool& pool);
  // Runs its on_global_available once, when a segment comes home to an empty pool. Pools that wait
  // are told in the reverse order of registration, as Flink's future runs its dependents.
  void register_waiting(LocalBufferPool& pool) { waiting_pools_.push_back(&pool); }
  void forget_waiting(LocalBufferPool& pool);

 private:
  void tell_available();
  void redistribute_buffers();
  [[nodiscard]] std::string insufficient(std::int32_t required) const;

  const NetworkSemantics& semantics_;
  std::int32_t total_;
  std::int32_t segment_bytes_;
  std::int32_t created_ = 0;
  std::int32_t out_ = 0;
  std::int32_t guaranteed_ = 0;
  bool available_ = true;  // Flink's flag: false from taking the last segment to the next return
  std::vector<std::unique_ptr<NetworkBuffer>> segments_;
  std::vector<NetworkBuffer*> free_;
  std::vector<LocalBufferPool*> pools_;                  // that are dealt to, in order of creation
  std::vector<LocalBufferPool*> waiting_pools_;          // 1.20, in order of registration
  std::vector<LocalBufferPool*> told_pools_;             // those of tell_available
  std::vector<std::unique_ptr<LocalBufferPool>> owned_;  // alive or with segments outside
  std::vector<base::InplaceFunction<void()>> waiting_;
  base::InplaceFunction<void(std::vector<LocalBufferPool*>&)> reorder_;
};

}  // namespace tailrace::engine
