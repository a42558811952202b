// What operators need around them, by hand: an output that remembers, a clock that is set, a log in
// memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/ports.hpp"
#include "engine/record.hpp"

namespace tailrace::engine {

class FakeClock final : public Clock {
 public:
  [[nodiscard]] Time now() const override { return now_; }
  void set(Time now) { now_ = now; }

 private:
  Time now_;
};

class CollectedOutput final : public Output {
 public:
  struct Row {
    std::string text;
    std::int64_t number = 0;
    Time created;

    friend bool operator==(const Row&, const Row&) = default;
  };
  void collect(const Record& record) override {
    rows.push_back({std::string(record.text), record.number, record.created});
  }
  [[nodiscard]] std::vector<std::string> texts() const {
    std::vector<std::string> texts;
    for (const Row& row : rows) texts.push_back(row.text);
    return texts;
  }

  std::vector<Row> rows;
};

// Partitions of lines; the position of a line is its number times 10, so that positions are not
// numbers of lines by accident.
class FakeLog final : public ReplayableLog {
 public:
  using Lines = std::vector<std::pair<std::string, std::optional<Time>>>;

  explicit FakeLog(std::vector<Lines> partitions, bool finite = false)
      : partitions_(std::move(partitions)), finite_(finite) {}

  [[nodiscard]] std::int32_t partition_count() const override {
    return static_cast<std::int32_t>(partitions_.size());
  }
  [[nodiscard]] std::int64_t begin(std::int32_t) const override { return 0; }
  [[nodiscard]] std::int64_t end(std::int32_t partition) const override {
    return 10 * static_cast<std::int64_t>(partitions_[static_cast<std::size_t>(partition)].size());
  }
  [[nodiscard]] std::optional<Line> read(std::int32_t partition,
                                         std::int64_t position) const override {
    const Lines& lines = partitions_[static_cast<std::size_t>(partition)];
    const auto index = static_cast<std::size_t>((position + 9) / 10);
    if (index >= lines.size()) return std::nullopt;
    return Line{lines[index].first, lines[index].second,
                10 * (static_cast<std::int64_t>(index) + 1)};
  }
  [[nodiscard]] bool finite() const override { return finite_; }

 private:
  std::vector<Lines> partitions_;
  bool finite_;
};

}  // namespace tailrace::engine
