#include "engine/network/record_deserializer.hpp"

#include <algorithm>
#include <utility>

#include "engine/network/big_endian.hpp"
#include "engine/network/record_codec.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {

void RecordDeserializer::set_next_buffer(Buffer buffer) {
  TAILRACE_ASSERT(buffer_consumed());
  buffer_ = std::move(buffer);
  at_ = 0;
  if (buffer_.size() == 0) consumed();
}

bool RecordDeserializer::fill_spanning(std::size_t size) {
  const std::span<const std::byte> from = rest();
  const std::size_t count = std::min(from.size(), size - spanning_.size());
  spanning_.insert(spanning_.end(), from.begin(),
                   from.begin() + static_cast<std::ptrdiff_t>(count));
  at_ += count;
  return spanning_.size() == size;
}

bool RecordDeserializer::next_payload(std::span<const std::byte>& payload) {
  if (spanning_complete_) {
    spanning_complete_ = false;
    spanning_.clear();
  }
  if (!buffer_) return false;
  if (spanning_.empty()) {
    const std::span<const std::byte> from = rest();
    if (from.size() >= kLengthBytes) {
      const std::size_t length = get_int32(from.data());
      if (from.size() - kLengthBytes > length) {
        payload = from.subspan(kLengthBytes, length);
        at_ += kLengthBytes + length;
        bytes_read_ += static_cast<std::int64_t>(kLengthBytes + length);
        return true;
      }
    }
  }
  // The record ends with the buffer or behind it: it is copied, so that the buffer can go.
  std::size_t size = kLengthBytes;
  if (spanning_.size() >= size || fill_spanning(size)) {
    size += get_int32(spanning_.data());
    if (fill_spanning(size)) {
      spanning_complete_ = true;
      bytes_read_ += static_cast<std::int64_t>(size);
      payload = std::span<const std::byte>(spanning_).subspan(kLengthBytes);
    }
  }
  if (at_ == buffer_.size()) consumed();
  return spanning_complete_;
}

bool RecordDeserializer::next(Record& record) {
  std::span<const std::byte> payload;
  if (!next_payload(payload)) return false;
  record = parse_record(payload, type_, text_);
  ++records_read_;
  return true;
}

void RecordDeserializer::append_unconsumed(std::vector<std::byte>& out) const {
  if (!spanning_complete_) out.insert(out.end(), spanning_.begin(), spanning_.end());
  if (!buffer_) return;
  const std::span<const std::byte> left = rest();
  out.insert(out.end(), left.begin(), left.end());
}

void RecordDeserializer::clear() {
  consumed();
  spanning_.clear();
  spanning_complete_ = false;
}

}  // namespace tailrace::engine
