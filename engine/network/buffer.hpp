// Memory segments on loan, and read-only views of them.
//
// Flink 1.10 NetworkBuffer, ReadOnlySlicedNetworkBuffer. A segment belongs to a pool; everybody who
// holds a Buffer of it holds one reference, and with the last one the segment goes back to the
// recycler (a pool or a channel). Single-threaded: references are plain integers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::engine {

class NetworkBuffer;

// A segment that counts for no subpartition.
inline constexpr std::int32_t kUnknownSubpartition = -1;

class BufferRecycler {
 public:
  // The last reference is gone. The recycler owns the segment again.
  virtual void recycle(NetworkBuffer& segment) = 0;

 protected:
  ~BufferRecycler() = default;
};

// The bytes of a segment, with room in front of them for the header of a message: a full buffer
// travels by exchange of its memory, not by copies of it.
class SegmentMemory {
 public:
  static constexpr std::size_t kHeaderRoom = 64;

  SegmentMemory() = default;
  // Left uninitialised: pages that nobody writes to are never touched.
  explicit SegmentMemory(std::uint32_t capacity)
      : memory_(new std::byte[kHeaderRoom + capacity]), capacity_(capacity) {}

  [[nodiscard]] bool exists() const { return memory_ != nullptr; }
  // Requires: exists().
  [[nodiscard]] std::byte* data() { return memory_.get() + kHeaderRoom; }
  [[nodiscard]] std::uint32_t capacity() const { return capacity_; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::uint32_t capacity_ = 0;
};

// One segment while it is out of its pool. Owned by its pool; never moves.
class NetworkBuffer {
 public:
  explicit NetworkBuffer(std::uint32_t capacity)
      : memory_(capacity), data_(memory_.data()), capacity_(capacity) {}
  // Of memory that belongs to somebody else and stays.
  NetworkBuffer(std::byte* data, std::uint32_t capacity) : data_(data), capacity_(capacity) {}
  NetworkBuffer(const NetworkBuffer&) = delete;
  NetworkBuffer& operator=(const NetworkBuffer&) = delete;

  [[nodiscard]] std::byte* data() { return data_; }
  [[nodiscard]] const std::byte* data() const { return data_; }
  [[nodiscard]] std::uint32_t capacity() const { return capacity_; }

  // Whether its memory may be exchanged for another of the same capacity.
  [[nodiscard]] bool fits(const SegmentMemory& other) const {
    return memory_.exists() && other.exists() && other.capacity() == capacity_;
  }
  // Every view of the segment sees the other bytes from now on. Requires: fits(other).
  void exchange_memory(SegmentMemory& other) {
    TAILRACE_ASSERT(fits(other));
    std::swap(memory_, other);
    data_ = memory_.data();
  }

  // Who gets it back, and which of its subpartitions it counts for until then. Requires: no reference
  // is out.
  void lend(BufferRecycler& recycler, std::int32_t subpartition = kUnknownSubpartition) {
    TAILRACE_ASSERT(references_ == 0);
    recycler_ = &recycler;
    subpartition_ = subpartition;
    written_ = 0;
    finished_ = false;
  }
  // Changes who gets it back while it may be out: the owner goes before the last reader does.
  void hand_over(BufferRecycler& recycler) { recycler_ = &recycler; }
  void retain() { ++references_; }
  void release() {
    TAILRACE_ASSERT(references_ > 0);
    if (--references_ == 0) recycler_->recycle(*this);
  }
  [[nodiscard]] std::uint32_t references() const { return references_; }
  [[nodiscard]] std::int32_t subpartition() const { return subpartition_; }

  // How far its writer has come, for all readers of an open buffer (Flink 1.10
  // BufferBuilder.PositionMarker).
  void commit(std::uint32_t written) { written_ = written; }
  void finish() { finished_ = true; }
  [[nodiscard]] std::uint32_t written() const { return written_; }
  [[nodiscard]] bool finished() const { return finished_; }

 private:
  SegmentMemory memory_;  // none: it belongs to somebody else
  std::byte* data_;
  std::uint32_t capacity_;
  std::uint32_t written_ = 0;
  bool finished_ = false;
  std::uint32_t references_ = 0;
  std::int32_t subpartition_ = kUnknownSubpartition;
  BufferRecycler* recycler_ = nullptr;
};

// Bytes [begin, end) of a segment, and one reference to it.
//
// On its way through a channel it has a number: 1 for the first buffer with data that the channel has
// handed out, and so on. The reader at the end checks that none is missing, twice or too early. 0: a
// buffer that belongs to no channel, as those of restored channel state.
[[nodiscard]] constexpr std::uint32_t next_sequence_number(std::uint32_t number) {
  return number == std::numeric_limits<std::uint32_t>::max() ? 1 : number + 1;
}

class Buffer {
 public:
  Buffer() = default;
  Buffer(NetworkBuffer& segment, std::uint32_t begin, std::uint32_t end)
      : segment_(&segment), begin_(begin), end_(end) {
    TAILRACE_ASSERT(begin <= end && end <= segment.capacity());
    segment_->retain();
  }
  Buffer(const Buffer& other)
      : segment_(other.segment_),
        begin_(other.begin_),
        end_(other.end_),
        sequence_number_(other.sequence_number_) {
    if (segment_ != nullptr) segment_->retain();
  }
  Buffer(Buffer&& other) noexcept
      : segment_(std::exchange(other.segment_, nullptr)),
        begin_(other.begin_),
        end_(other.end_),
        sequence_number_(other.sequence_number_) {}
  Buffer& operator=(Buffer other) noexcept {
    std::swap(segment_, other.segment_);
    begin_ = other.begin_;
    end_ = other.end_;
    sequence_number_ = other.sequence_number_;
    return *this;
  }
  ~Buffer() { reset(); }

  // Gives the reference back early.
  void reset() {
    if (segment_ != nullptr) std::exchange(segment_, nullptr)->release();
  }

  explicit operator bool() const { return segment_ != nullptr; }
  // The segment, if nobody else has a reference to it, its writer included; else null.
  [[nodiscard]] NetworkBuffer* sole_segment() const {
    return segment_ != nullptr && segment_->references() == 1 ? segment_ : nullptr;
  }
  [[nodiscard]] std::uint32_t begin() const { return begin_; }
  [[nodiscard]] std::uint32_t size() const { return end_ - begin_; }
  [[nodiscard]] std::uint32_t sequence_number() const { return sequence_number_; }
  void set_sequence_number(std::uint32_t number) { sequence_number_ = number; }
  [[nodiscard]] std::span<const std::byte> bytes() const {
    return segment_ == nullptr ? std::span<const std::byte>{}
                               : std::span<const std::byte>(segment_->data() + begin_, size());
  }

 private:
  NetworkBuffer* segment_ = nullptr;
  std::uint32_t begin_ = 0;
  std::uint32_t end_ = 0;
  std::uint32_t sequence_number_ = 0;
};

}  // namespace tailrace::engine
