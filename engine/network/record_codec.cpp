#include "engine/network/record_codec.hpp"

#include <utility>

#include "sim/base/assert.hpp"
#include "sim/base/utf8.hpp"

namespace tailrace::engine {

namespace {

void append_varint(std::vector<std::byte>& out, std::uint32_t value) {
  std::byte bytes[5];
  out.insert(out.end(), bytes, put_varint(bytes, value));
}

void append_string(std::vector<std::byte>& out, std::string_view text) {
  std::uint32_t units = 0;
  base::for_each_utf16_unit(text, [&units](std::uint32_t) { ++units; });
  append_varint(out, units + 1);
  base::for_each_utf16_unit(text, [&out](std::uint32_t unit) { append_varint(out, unit); });
}

class RecordReader {
 public:
  explicit RecordReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::uint32_t varint() {
    std::uint32_t value = 0;
    for (std::uint32_t shift = 0;; shift += 7) {
      TAILRACE_ASSERT(at_ < bytes_.size() && shift < 32);
      const auto byte = static_cast<std::uint32_t>(bytes_[at_++]);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }
  std::string_view take(std::size_t size) {
    TAILRACE_ASSERT(size <= bytes_.size() - at_);
    const std::string_view view(reinterpret_cast<const char*>(bytes_.data()) + at_, size);
    at_ += size;
    return view;
  }
  [[nodiscard]] std::string_view rest() const {
    return {reinterpret_cast<const char*>(bytes_.data()) + at_, bytes_.size() - at_};
  }
  std::int64_t int64() {
    TAILRACE_ASSERT(bytes_.size() - at_ >= 8);
    const std::uint64_t value = get_int64(bytes_.data() + at_);
    at_ += 8;
    return static_cast<std::int64_t>(value);
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

}  // namespace

void append_record(std::vector<std::byte>& out, const Record& record, RecordType type) {
  const std::size_t start = out.size();
  if (is_ascii(record.text.data(), record.text.size())) {
    out.resize(start + record.text.size() + kRecordOverheadMax);
    const std::byte* end = put_ascii_record(out.data() + start, record, type);
    out.resize(static_cast<std::size_t>(end - out.data()));
    return;
  }
  out.resize(start + kLengthBytes + 1 + 8);
  out[start + kLengthBytes] = kTagRecordWithTimestamp;
  put_int64(out.data() + start + kLengthBytes + 1, static_cast<std::uint64_t>(record.created.ns));
  append_string(out, record.text);
  if (type == RecordType::kStringLong) {
    const std::size_t at = out.size();
    out.resize(at + 8);
    put_int64(out.data() + at, static_cast<std::uint64_t>(record.number));
  }
  put_int32(out.data() + start, static_cast<std::uint32_t>(out.size() - start - kLengthBytes));
}

Record parse_record(std::span<const std::byte> payload, RecordType type, std::string& scratch) {
  TAILRACE_ASSERT(payload.size() > 9 && payload[0] == kTagRecordWithTimestamp);
  Record record;
  record.created = base::Time{static_cast<std::int64_t>(get_int64(payload.data() + 1))};
  RecordReader reader(payload.subspan(9));
  std::uint32_t units = reader.varint();
  TAILRACE_ASSERT_MSG(units > 0, "a null string on the wire");
  --units;
  const std::string_view rest = reader.rest();
  if (units <= rest.size() && is_ascii(rest.data(), units)) {
    record.text = reader.take(units);
  } else {
    scratch.clear();
    std::uint32_t high = 0;  // a high surrogate that waits for its other half
    for (; units > 0; --units) {
      const std::uint32_t unit = reader.varint();
      if (high != 0 && unit >= 0xdc00 && unit <= 0xdfff) {
        base::append_utf8(scratch, 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00));
        high = 0;
        continue;
      }
      if (high != 0) base::append_utf8(scratch, std::exchange(high, 0));
      if (unit >= 0xd800 && unit <= 0xdbff) {
        high = unit;
      } else {
        base::append_utf8(scratch, unit);
      }
    }
    if (high != 0) base::append_utf8(scratch, high);
    record.text = scratch;
  }
  if (type == RecordType::kStringLong) record.number = reader.int64();
  return record;
}

}  // namespace tailrace::engine
