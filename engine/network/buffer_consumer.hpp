// One item of a sender's queue: a segment that may still be written, or a serialised event.
//
// Flink 1.10 BufferConsumer. Several consumers may read the same segment, each at its own position
// (broadcast). A consumer learns how far the writer has come when it builds a slice; what it knows
// about the end decides availability (spec barriers.md 6.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/network/buffer.hpp"
#include "engine/network/data_type.hpp"

namespace tailrace::engine {

// A serialised event; shared by the subpartitions that it was broadcast to.
using EventBytes = std::shared_ptr<const std::vector<std::byte>>;

// What a subpartition or a channel hands out: bytes of a segment, or an event.
struct NetworkItem {
  Buffer buffer;
  EventBytes event;
  DataType type = DataType::kDataBuffer;

  [[nodiscard]] bool is_buffer() const { return event == nullptr; }
  [[nodiscard]] std::uint32_t size() const {
    return is_buffer() ? buffer.size() : static_cast<std::uint32_t>(event->size());
  }
};

class BufferConsumer {
 public:
  BufferConsumer() = default;
  explicit BufferConsumer(NetworkBuffer& segment) : segment_(&segment), reference_(segment, 0, 0) {}
  explicit BufferConsumer(EventBytes event, DataType type = DataType::kEventBuffer)
      : event_(std::move(event)), known_finished_(true), type_(type) {}

  [[nodiscard]] bool is_buffer() const { return segment_ != nullptr; }
  // Whether the reader knows that the writer has finished. Always true for events.
  [[nodiscard]] bool is_finished() const { return known_finished_; }
  [[nodiscard]] bool has_unread() const { return unread() > 0; }
  [[nodiscard]] std::uint32_t unread() const {
    return segment_ == nullptr
               ? (event_ == nullptr ? 0 : static_cast<std::uint32_t>(event_->size()))
               : segment_->written() - read_;
  }
  [[nodiscard]] std::uint32_t read() const { return read_; }
  [[nodiscard]] DataType type() const { return type_; }
  [[nodiscard]] const NetworkBuffer* segment() const { return segment_; }
  // Null: a buffer, or an event that has been taken.
  [[nodiscard]] const EventBytes& event() const { return event_; }
  // What has been written and not read, without reading it; may be empty. Requires: is_buffer().
  [[nodiscard]] Buffer unread_slice() const {
    TAILRACE_ASSERT(is_buffer());
    return Buffer(*segment_, read_, segment_->written());
  }
  // The reader learns at once that the writer has finished (Flink: a consumer of a buffer that was
  // complete before it was queued, as those of recovered state). Requires: it has.
  void know_finished() {
    TAILRACE_ASSERT(segment_ == nullptr || segment_->finished());
    known_finished_ = true;
  }

  // Takes what has been written since the last call; may be empty.
  NetworkItem build() {
    if (segment_ == nullptr) return {{}, std::exchange(event_, nullptr), type_};
    known_finished_ = segment_->finished();
    const std::uint32_t begin = std::exchange(read_, segment_->written());
    return {Buffer(*segment_, begin, read_), nullptr, DataType::kDataBuffer};
  }

 private:
  NetworkBuffer* segment_ = nullptr;
  Buffer reference_;  // keeps the segment until the consumer is gone
  EventBytes event_;
  std::uint32_t read_ = 0;
  bool known_finished_ = false;
  DataType type_ = DataType::kDataBuffer;
};

}  // namespace tailrace::engine
