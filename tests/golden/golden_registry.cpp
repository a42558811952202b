#include "tests/golden/golden_registry.hpp"

#include <utility>
#include <vector>

namespace tailrace::golden {
namespace {

struct Entry {
  std::string pattern;
  MakeReplayer make;
};

std::vector<Entry>& entries() {
  static std::vector<Entry> all;
  return all;
}

bool matches(std::string_view pattern, std::string_view path) {
  if (pattern.empty()) return path.empty();
  if (pattern.front() == '*') {
    for (std::size_t taken = 0;; ++taken) {
      if (matches(pattern.substr(1), path.substr(taken))) return true;
      if (taken == path.size() || path[taken] == '/') return false;
    }
  }
  return !path.empty() && path.front() == pattern.front() &&
         matches(pattern.substr(1), path.substr(1));
}

class LineReplayer final : public Replayer {
 public:
  explicit LineReplayer(ReplayLine replay_line) : replay_(replay_line) {}
  void replay(const Json& line) override { replay_(line); }

 private:
  ReplayLine replay_;
};

}  // namespace

void expect_equal(std::string_view where, const Json& expected, const Json& got) {
  if (expected == got) return;
  // Bytes that are no UTF-8 must not make the message itself fail.
  const auto text = [](const Json& value) {
    return value.dump(-1, ' ', true, Json::error_handler_t::replace);
  };
  throw Difference(std::string(where), text(expected), text(got));
}

void register_replayer(std::string pattern, MakeReplayer make) {
  entries().push_back({std::move(pattern), std::move(make)});
}

void register_replayer(std::string pattern, ReplayLine replay) {
  register_replayer(std::move(pattern),
                    MakeReplayer([replay] { return std::make_unique<LineReplayer>(replay); }));
}

std::unique_ptr<Replayer> make_replayer(std::string_view path) {
  const Entry* best = nullptr;
  for (const Entry& entry : entries()) {
    if (!matches(entry.pattern, path)) continue;
    if (best == nullptr || entry.pattern.size() > best->pattern.size()) best = &entry;
  }
  return best == nullptr ? nullptr : best->make();
}

}  // namespace tailrace::golden
