#include "engine/checkpoint/metadata/metadata_input.hpp"

#include <utility>

#include "engine/checkpoint/metadata/metadata_format.hpp"
#include "engine/checkpoint/metadata/modified_utf8.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine::metadata {

void MetadataInput::fail(std::size_t offset, std::string message) {
  if (ok()) error_ = {offset, std::move(message)};
}

bool MetadataInput::need(std::size_t length) {
  if (ok() && length <= remaining()) return true;
  fail(position_, "the bytes end too early");
  return false;
}

std::int32_t MetadataInput::i32_from(std::int32_t lowest, const char* what) {
  const std::size_t start = position_;
  const std::int32_t value = i32();
  if (value < lowest) fail(start, std::string("impossible ") + what + ": " + std::to_string(value));
  return value;
}

std::int64_t MetadataInput::i64_from(std::int64_t lowest, const char* what) {
  const std::size_t start = position_;
  const std::int64_t value = i64();
  if (value < lowest) fail(start, std::string("impossible ") + what + ": " + std::to_string(value));
  return value;
}

bool MetadataInput::bool8(const char* what) {
  const std::size_t start = position_;
  const std::uint8_t value = u8();
  if (value > 1) fail(start, std::string(what) + " that is neither 0 nor 1");
  return value == 1;
}

bool MetadataInput::flag32(const char* what) {
  const std::size_t start = position_;
  const std::int32_t value = i32();
  if (value != 0 && value != 1) fail(start, std::string(what) + " that is neither 0 nor 1");
  return value == 1;
}

std::size_t MetadataInput::count(std::size_t smallest, const char* what) {
  const std::size_t start = position_;
  const std::int32_t value = i32();
  if (value < 0 || static_cast<std::uint64_t>(value) * smallest > remaining()) {
    fail(start, std::string("impossible number of ") + what + ": " + std::to_string(value));
    return 0;
  }
  return static_cast<std::size_t>(value);
}

std::span<const std::byte> MetadataInput::raw(std::size_t length) {
  if (!need(length)) return {};
  const auto result = bytes_.subspan(position_, length);
  position_ += length;
  return result;
}

std::vector<std::byte> MetadataInput::bytes32(const char* what) {
  const auto data = raw(count(1, what));
  return {data.begin(), data.end()};
}

std::string MetadataInput::utf() {
  const std::size_t start = position_;
  const auto data = raw(u16());
  auto text = from_modified_utf8({reinterpret_cast<const char*>(data.data()), data.size()});
  if (!text.has_value()) fail(start, "malformed string");
  return ok() ? std::move(*text) : std::string();
}

std::vector<std::int64_t> MetadataInput::offsets(std::size_t number, std::int64_t lowest) {
  std::vector<std::int64_t> result;
  if (!ok()) return result;
  result.reserve(number);  // `number` was a count: that many are there
  for (std::size_t i = 0; i < number && ok(); ++i) result.push_back(i64_from(lowest, "offset"));
  return result;
}

std::size_t MetadataInput::enter(std::size_t length) {
  TAILRACE_ASSERT(length <= remaining());
  return std::exchange(end_, position_ + length);
}

}  // namespace tailrace::engine::metadata
