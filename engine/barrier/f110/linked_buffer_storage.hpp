// The storage of one gate of a task with several, which share one barrier handler.
//
// Flink 1.10 LinkedBufferStorage (spec barriers.md 2.3). Adds to, polls and asks its own storage,
// but counts and rolls over all of them: the barrier that completes a checkpoint on one input
// releases what was stored for the others.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/barrier/f110/buffer_storage.hpp"

namespace tailrace::engine::f110 {

class LinkedBufferStorage final : public BufferStorage {
 public:
  // Owns none of them: all outlive this object. `others` are rolled over after `own`, in order.
  LinkedBufferStorage(BufferStorage& own, std::vector<BufferStorage*> others,
                      std::int64_t max_buffered_bytes);

  void add(BufferOrEvent item) override;
  void roll_over() override;
  std::optional<BufferOrEvent> poll_next() override { return own_.poll_next(); }
  void close() override;

  [[nodiscard]] bool is_empty() const override { return own_.is_empty(); }
  [[nodiscard]] std::int64_t pending_bytes() const override;
  [[nodiscard]] std::int64_t rolled_bytes() const override;
  [[nodiscard]] std::int64_t max_buffered_bytes() const override { return max_buffered_bytes_; }

 private:
  BufferStorage& own_;
  std::vector<BufferStorage*> others_;
  std::int64_t max_buffered_bytes_;
};

}  // namespace tailrace::engine::f110
