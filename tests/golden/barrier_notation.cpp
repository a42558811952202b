#include "tests/golden/barrier_notation.hpp"

#include <charconv>

#include "tests/golden/golden_registry.hpp"

namespace tailrace::golden {
namespace {

// Eats a token from its front.
class Reader {
 public:
  explicit Reader(std::string_view token) : token_(token), rest_(token) {}

  char letter() {
    if (rest_.empty()) fail();
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }
  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::int64_t number() {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc{} || value < 0) fail();
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }
  std::int32_t channel() {
    const std::int64_t value = number();
    if (value > 1 << 20) fail();
    return static_cast<std::int32_t>(value);
  }
  // `@0` at the end.
  std::int32_t channel_at_end() {
    const std::int32_t channel_index = take('@') ? channel() : -1;
    end();
    return channel_index;
  }
  void end() const {
    if (!rest_.empty()) fail();
  }
  [[noreturn]] void fail() const { throw MalformedCase("not an item: " + std::string(token_)); }

 private:
  std::string_view token_;
  std::string_view rest_;
};

}  // namespace

NotedItem parse_item(std::string_view token) {
  Reader in(token);
  NotedItem item;
  switch (in.letter()) {
    case 'b':
      item.kind = NotedItem::Kind::kBuffer;
      item.channel = in.channel();
      in.end();
      return item;
    case 'E':
      item.kind = NotedItem::Kind::kEndOfPartition;
      item.channel = in.channel();
      in.end();
      return item;
    case 'x':
      item.kind = NotedItem::Kind::kCancel;
      item.checkpoint = in.number();
      item.channel = in.channel_at_end();
      return item;
    case '#':
      item.kind = NotedItem::Kind::kBarrier;
      break;
    case 'A':
      item.kind = NotedItem::Kind::kAnnouncement;
      break;
    default:
      in.fail();
  }
  item.checkpoint = in.number();
  if (in.take('U')) {
    item.mode = NotedItem::Mode::kUnaligned;
  } else if (in.take('S')) {
    item.mode = NotedItem::Mode::kSavepoint;
  } else if (in.take('T')) {
    item.mode = NotedItem::Mode::kTimeoutable;
    item.timeout_ms = in.number();
  } else if (in.take('F')) {
    item.mode = NotedItem::Mode::kForcedAligned;
    item.timeout_ms = in.number();
  }
  if (in.take('~')) item.age_ms = in.number();
  item.channel = in.channel_at_end();
  return item;
}

}  // namespace tailrace::golden
