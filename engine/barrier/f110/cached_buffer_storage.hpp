// Keeps what arrives on blocked channels in memory, in the network buffers that it came in.
//
// Flink 1.10 CachedBufferStorage. A remote channel whose buffers are all held here announces no
// more credit: a long alignment stops its sender.
//
// Invariants
//   C1  pending_bytes() is page_bytes times the number of pending items.
//   C2  rolled_bytes() is the sum of the original sizes of the sequences pushed back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/barrier/f110/buffer_storage.hpp"

namespace tailrace::engine::f110 {

class CachedBufferStorage final : public BufferStorage {
 public:
  // Requires: page_bytes > 0; max_buffered_bytes is -1 (no limit) or > 0.
  CachedBufferStorage(std::int64_t page_bytes, std::int64_t max_buffered_bytes);

  // Cost: O(1), no allocation once the list has had its longest length.
  void add(BufferOrEvent item) override;
  // Cost: O(1); the lists change hands, no item moves.
  void roll_over() override;
  std::optional<BufferOrEvent> poll_next() override;
  void close() override;

  [[nodiscard]] bool is_empty() const override { return !replaying_; }
  [[nodiscard]] std::int64_t pending_bytes() const override {
    return page_bytes_ * static_cast<std::int64_t>(pending_.size());
  }
  [[nodiscard]] std::int64_t rolled_bytes() const override { return rolled_bytes_; }
  [[nodiscard]] std::int64_t max_buffered_bytes() const override { return max_buffered_bytes_; }

 private:
  using Items = std::vector<BufferOrEvent>;
  struct Sequence {
    Items items;
    std::size_t next = 0;  // items before it have been handed out
  };

  [[nodiscard]] std::int64_t original_bytes(const Sequence& sequence) const {
    return page_bytes_ * static_cast<std::int64_t>(sequence.items.size());
  }
  [[nodiscard]] Items take_spare();
  void keep_spare(Items items);

  std::int64_t page_bytes_;
  std::int64_t max_buffered_bytes_;
  Items pending_;
  bool replaying_ = false;
  Sequence current_;                   // meaningful while replaying_
  std::vector<Sequence> pushed_back_;  // the last one is replayed first
  std::int64_t rolled_bytes_ = 0;
  std::vector<Items> spares_;  // empty lists that keep their capacity
};

}  // namespace tailrace::engine::f110
