// Takes the buffers of one channel apart into records.
//
// Flink 1.10 and 1.20 SpillingAdaptiveSpanningRecordDeserializer, which here never spills: a record that
// spans buffers is put together in memory. A buffer goes back to its owner when its last record is
// handed out, before that record is processed (spec barriers.md 6.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/network/buffer.hpp"
#include "engine/record.hpp"

namespace tailrace::engine {

class RecordDeserializer {
 public:
  explicit RecordDeserializer(RecordType type) : type_(type) {}

  // Requires: buffer_consumed().
  void set_next_buffer(Buffer buffer);
  // Returns: false if the next buffer is needed. The text of `record` stays valid until the next
  // call of any function that is not const.
  bool next(Record& record);
  // The same below the record's own format: what follows a length field.
  bool next_payload(std::span<const std::byte>& payload);

  // Nothing of the last buffer is left (and its reference is given back).
  [[nodiscard]] bool buffer_consumed() const { return !buffer_; }
  // Part of a record is waiting for the next buffer.
  [[nodiscard]] bool has_partial_record() const {
    return !spanning_complete_ && !spanning_.empty();
  }
  [[nodiscard]] std::int64_t records_read() const { return records_read_; }
  // Of the records handed out, their length fields included.
  [[nodiscard]] std::int64_t bytes_read() const { return bytes_read_; }

  // What an unaligned checkpoint must persist of the channel (Flink getUnconsumedBuffer): the bytes
  // that no record has been made of, from the length field of the first such record on.
  [[nodiscard]] std::size_t unconsumed_size() const {
    return (spanning_complete_ ? 0 : spanning_.size()) + (buffer_ ? buffer_.size() - at_ : 0);
  }
  // Appends them.
  void append_unconsumed(std::vector<std::byte>& out) const;
  // Drops everything.
  void clear();

 private:
  [[nodiscard]] std::span<const std::byte> rest() const { return buffer_.bytes().subspan(at_); }
  // Moves up to `size - spanning_.size()` bytes. Returns: whether it has `size` now.
  bool fill_spanning(std::size_t size);
  void consumed() {
    buffer_.reset();
    at_ = 0;
  }

  RecordType type_;
  Buffer buffer_;
  std::size_t at_ = 0;
  // Length field and payload of a record that began in an earlier buffer, or of the last record of
  // a buffer that has been given back.
  std::vector<std::byte> spanning_;
  bool spanning_complete_ = false;  // handed out; to be dropped at the next call
  std::string text_;
  std::int64_t records_read_ = 0;
  std::int64_t bytes_read_ = 0;
};

}  // namespace tailrace::engine
