#include "scenarios/diagnostics.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::scenarios {

Diagnostics::Diagnostics(std::vector<std::string> sources) : sources_(std::move(sources)) {
  TAILRACE_ASSERT(!sources_.empty());
}

void Diagnostics::error(Position where, std::string message) {
  errors_.push_back({where, std::move(message)});
}

void Diagnostics::throw_if_any() const {
  if (errors_.empty()) return;
  std::vector<const Entry*> order;
  order.reserve(errors_.size());
  for (const Entry& entry : errors_) order.push_back(&entry);
  // Checks run section by section; a reader goes through the file from the top.
  std::stable_sort(order.begin(), order.end(), [](const Entry* a, const Entry* b) {
    return std::tie(a->where.source, a->where.line, a->where.column) <
           std::tie(b->where.source, b->where.line, b->where.column);
  });
  std::string text;
  for (const Entry* entry : order) {
    if (!text.empty()) text += '\n';
    text += describe(sources_, entry->where) + ": " + entry->message;
  }
  throw ScenarioError(text);
}

std::string describe(const std::vector<std::string>& sources, Position where) {
  TAILRACE_ASSERT(where.source >= 0 && static_cast<std::size_t>(where.source) < sources.size());
  std::string text = sources[static_cast<std::size_t>(where.source)];
  if (where.line > 0) {
    text += ':' + std::to_string(where.line) + ':' + std::to_string(where.column);
  }
  return text;
}

std::string in_quotes(std::string_view value) {
  constexpr std::size_t kLongest = 60;
  const bool cut = value.size() > kLongest;
  std::string text = "\"";
  for (const char c : value.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    text += byte < 0x20 || byte == 0x7f ? '?' : c;
  }
  if (cut) {
    // Not in the middle of a character.
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0U) == 0x80U) {
      text.pop_back();
    }
    if (!text.empty() && (static_cast<unsigned char>(text.back()) & 0x80U) != 0) text.pop_back();
    text += "...";
  }
  return text + '"';
}

}  // namespace tailrace::scenarios
