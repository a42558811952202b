#include "engine/state/data_view.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/assert.hpp"
#include "sim/base/utf8.hpp"

namespace tailrace::engine {
namespace {

bool is_ascii(std::string_view text) {
  unsigned char all = 0;
  for (const char c : text) all = static_cast<unsigned char>(all | static_cast<unsigned char>(c));
  return all < 0x80;
}

// Turns UTF-16 units that come one by one into UTF-8; surrogates without a partner stay alone.
class Utf8Builder {
 public:
  explicit Utf8Builder(std::string& text) : text_(text) {}
  ~Utf8Builder() { flush(); }
  Utf8Builder(const Utf8Builder&) = delete;
  Utf8Builder& operator=(const Utf8Builder&) = delete;

  void add(std::uint32_t unit) {
    if (high_ != 0 && unit >= 0xDC00 && unit <= 0xDFFF) {
      base::append_utf8(text_, 0x10000U + ((high_ - 0xD800U) << 10) + (unit - 0xDC00U));
      high_ = 0;
      return;
    }
    flush();
    if (unit >= 0xD800 && unit <= 0xDBFF) {
      high_ = unit;
    } else {
      base::append_utf8(text_, unit);
    }
  }

 private:
  void flush() {
    if (high_ != 0) base::append_utf8(text_, std::exchange(high_, 0));
  }

  std::string& text_;
  std::uint32_t high_ = 0;
};

}  // namespace

void DataOutputView::write_utf(std::string_view text) {
  std::string modified;
  base::for_each_utf16_unit(text, [&](std::uint32_t unit) {
    if (unit == 0) {
      modified += "\xC0\x80";
    } else {
      base::append_utf8(modified, unit);
    }
  });
  TAILRACE_ASSERT(modified.size() <= 0xFFFF);
  write_big_endian(static_cast<std::uint16_t>(modified.size()));
  write_bytes(std::as_bytes(std::span(modified)));
}

void DataOutputView::write_string(std::string_view utf8) {
  if (is_ascii(utf8)) {  // one byte a unit: as it stands
    write_variable_length(static_cast<std::uint32_t>(utf8.size() + 1));
    write_bytes(std::as_bytes(std::span(utf8)));
    return;
  }
  std::uint32_t units = 0;
  base::for_each_utf16_unit(utf8, [&](std::uint32_t) { ++units; });
  write_variable_length(units + 1);
  base::for_each_utf16_unit(utf8, [&](std::uint32_t unit) { write_variable_length(unit); });
}

void DataOutputView::write_variable_length(std::uint32_t value) {
  while (value >= 0x80) {
    *grow(1) = static_cast<std::byte>(value | 0x80U);
    value >>= 7;
  }
  *grow(1) = static_cast<std::byte>(value);
}

void DataOutputView::enlarge(std::size_t count) {
  buffer_.resize(std::max({size_ + count, buffer_.size() * 2, std::size_t{256}}));
}

std::vector<std::byte> DataOutputView::take() {
  buffer_.resize(size_);
  size_ = 0;
  return std::exchange(buffer_, {});
}

void DataInputView::seek(std::int64_t position) {
  if (position < 0 || static_cast<std::uint64_t>(position) > bytes_.size()) {
    throw RestoreError("offset " + std::to_string(position) + " lies outside a stream of " +
                       std::to_string(bytes_.size()) + " bytes");
  }
  position_ = static_cast<std::size_t>(position);
}

std::span<const std::byte> DataInputView::read_bytes(std::size_t count) {
  if (count > bytes_.size() - position_) throw RestoreError("the state stream ends too early");
  const auto result = bytes_.subspan(position_, count);
  position_ += count;
  return result;
}

std::string DataInputView::read_utf() {
  const auto length = read_big_endian<std::uint16_t>();
  const auto bytes = read_bytes(length);
  std::string text;
  Utf8Builder builder(text);
  base::for_each_utf16_unit({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                            [&](std::uint32_t unit) { builder.add(unit); });
  return text;
}

void DataInputView::read_string(std::string& text) {
  text.clear();
  const std::uint32_t length = read_variable_length();
  if (length == 0) throw RestoreError("a null string where state has none");
  if (length - 1 > bytes_.size() - position_) throw RestoreError("the state stream ends too early");
  const auto whole = bytes_.subspan(position_, length - 1);
  const std::string_view plain(reinterpret_cast<const char*>(whole.data()), whole.size());
  if (is_ascii(plain)) {
    text = plain;
    position_ += whole.size();
    return;
  }
  Utf8Builder builder(text);
  for (std::uint32_t i = 1; i < length; ++i) builder.add(read_variable_length() & 0xFFFFU);
}

std::uint32_t DataInputView::read_variable_length() {
  std::uint32_t value = 0;
  for (std::uint32_t shift = 0; shift < 35; shift += 7) {
    const auto byte = read_big_endian<std::uint8_t>();
    value |= (byte & 0x7FU) << shift;
    if (byte < 0x80) return value;
  }
  throw RestoreError("a number of more than five groups");
}

}  // namespace tailrace::engine
