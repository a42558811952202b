// Flink 1.10 LocalBufferPool (spec barriers.md 6.1): takes a segment from the global pool when it is
// asked for one. "Available" is only a hint: it can be true while no segment is free, and the next
// write then blocks inside the record.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/network/local_buffer_pool.hpp"

namespace tailrace::engine {

class LocalBufferPool110 final : public LocalBufferPool {
 public:
  // Null: Flink refuses such a pool; `error` then says it in its words.
  static std::unique_ptr<LocalBufferPool> make(NetworkBufferPool& global,
                                               const BufferPoolSpec& spec, std::string* error);

  using LocalBufferPool::LocalBufferPool;

  NetworkBuffer* request_buffer(std::int32_t subpartition) override;
  void recycle(NetworkBuffer& segment) override;
  bool reserve_segments(std::int32_t count) override;
  [[nodiscard]] bool is_available() const override;
  void set_num_buffers(std::int32_t size) override;
  void on_global_available() override;

 private:
  bool flag_ = false;  // Flink's AvailabilityHelper
};

}  // namespace tailrace::engine
