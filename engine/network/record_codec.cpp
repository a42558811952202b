#include "engine/network/record_codec.hpp"

#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::engine {

namespace {

constexpr std::uint32_t kReplacement = 0xfffd;

// Decodes one code point at `at` and advances. Takes the same bytes for the same units as
// java_string_hash does, or a key would change its group on the way: surrogates that are encoded
// one by one stay units, C0 80 is U+0000, any other byte that starts nothing well-formed is one
// U+FFFD.
std::uint32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto byte = [&text, at](std::size_t i) -> std::uint32_t {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  const auto continues = [&byte](std::size_t i) { return (byte(i) & 0xc0U) == 0x80U; };
  const std::uint32_t first = byte(0);
  if (first < 0x80) {
    ++at;
    return first;
  }
  if (first == 0xc0 && byte(1) == 0x80) {
    at += 2;
    return 0;
  }
  if (first >= 0xc2 && first <= 0xdf && continues(1)) {
    const std::uint32_t code = (first & 0x1fU) << 6 | (byte(1) & 0x3fU);
    at += 2;
    return code;
  }
  if (first >= 0xe0 && first <= 0xef && continues(1) && continues(2)) {
    const std::uint32_t code = (first & 0x0fU) << 12 | (byte(1) & 0x3fU) << 6 | (byte(2) & 0x3fU);
    if (code >= 0x800) {
      at += 3;
      return code;
    }
  }
  if (first >= 0xf0 && first <= 0xf4 && continues(1) && continues(2) && continues(3)) {
    const std::uint32_t code = (first & 0x07U) << 18 | (byte(1) & 0x3fU) << 12 |
                               (byte(2) & 0x3fU) << 6 | (byte(3) & 0x3fU);
    if (code >= 0x10000 && code <= 0x10ffff) {
      at += 4;
      return code;
    }
  }
  ++at;
  return kReplacement;
}

void append_varint(std::vector<std::byte>& out, std::uint32_t value) {
  std::byte bytes[5];
  out.insert(out.end(), bytes, put_varint(bytes, value));
}

void append_string(std::vector<std::byte>& out, std::string_view text) {
  std::uint32_t units = 0;
  for (std::size_t at = 0; at < text.size();)
    units += next_code_point(text, at) >= 0x10000 ? 2U : 1U;
  append_varint(out, units + 1);
  for (std::size_t at = 0; at < text.size();) {
    const std::uint32_t code = next_code_point(text, at);
    if (code < 0x10000) {
      append_varint(out, code);
    } else {
      append_varint(out, 0xd800 + ((code - 0x10000) >> 10));
      append_varint(out, 0xdc00 + ((code - 0x10000) & 0x3ff));
    }
  }
}

void append_utf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
    return;
  }
  if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | code >> 18);
    out += static_cast<char>(0x80 | (code >> 12 & 0x3f));
    out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
  }
  out += static_cast<char>(0x80 | (code & 0x3f));
}

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

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
  Reader reader(payload.subspan(9));
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
        append_utf8(scratch, 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00));
        high = 0;
        continue;
      }
      if (high != 0) append_utf8(scratch, std::exchange(high, 0));
      if (unit >= 0xd800 && unit <= 0xdbff) {
        high = unit;
      } else {
        append_utf8(scratch, unit);
      }
    }
    if (high != 0) append_utf8(scratch, high);
    record.text = scratch;
  }
  if (type == RecordType::kStringLong) record.number = reader.int64();
  return record;
}

}  // namespace tailrace::engine
