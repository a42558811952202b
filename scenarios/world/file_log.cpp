#include "scenarios/world/file_log.hpp"

#include <algorithm>
#include <utility>

#include "scenarios/record_text.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::scenarios {
namespace {

// a * b / c rounded down, without overflow in between. Requires: the result fits.
std::int64_t mul_div(std::int64_t a, std::int64_t b, std::int64_t c) {
  __extension__ using Wide = __int128;
  return static_cast<std::int64_t>(static_cast<Wide>(a) * b / c);
}

}  // namespace

std::string made_up_text(std::int64_t wire_bytes, std::int32_t number) {
  TAILRACE_ASSERT(number >= 0 && number < kMadeUpTexts);
  std::string text = filled_text(wire_bytes, 'a');
  // A letter of two bytes comes first, because the number is at the end.
  if ((text.back() & 0x80) != 0) std::rotate(text.begin(), text.end() - 2, text.end());
  for (std::size_t at = text.size(); at > 0 && number > 0; number /= 26) {
    text[--at] = static_cast<char>('a' + number % 26);
  }
  return text;
}

FileLog::FileLog(std::string text, std::int32_t partitions, OfferedLoad load, bool finite,
                 const engine::Clock& clock)
    : text_(std::move(text)), load_(std::move(load)), finite_(finite), clock_(&clock) {
  TAILRACE_ASSERT(partitions > 0);
  const auto size = static_cast<std::int64_t>(text_.size());
  std::int64_t begin = 0;
  for (std::int32_t i = 0; i < partitions; ++i) {
    Partition partition;
    partition.begin = begin;
    // The first line end at or behind the even cut closes the partition.
    std::int64_t end = std::max(begin, mul_div(size, i + 1, partitions));
    while (end < size && end > 0 && text_[static_cast<std::size_t>(end - 1)] != '\n') ++end;
    partition.end = end;
    for (std::int64_t at = begin; at < end;) {
      partition.line_starts.push_back(at);
      const std::size_t line_end = text_.find('\n', static_cast<std::size_t>(at));
      at = line_end == std::string::npos ? end : static_cast<std::int64_t>(line_end) + 1;
    }
    partition.lines = static_cast<std::int64_t>(partition.line_starts.size());
    lines_ += partition.lines;
    partitions_.push_back(std::move(partition));
    begin = end;
  }
  if (load_.kind != OfferedLoad::Kind::kMax) rank_lines();
}

FileLog::FileLog(const MadeUpRecords& records, std::int32_t partitions, OfferedLoad load,
                 bool finite, const engine::Clock& clock)
    : load_(std::move(load)), finite_(finite), clock_(&clock), lines_(records.count) {
  TAILRACE_ASSERT(partitions > 0 && records.count > 0);
  for (std::int32_t i = 0; i < std::min<std::int64_t>(kMadeUpTexts, records.count); ++i) {
    made_up_.push_back(made_up_text(records.wire_bytes, i));
  }
  std::int64_t begin = 0;
  for (std::int32_t i = 0; i < partitions; ++i) {
    Partition partition;
    partition.begin = begin;
    // The first ones have one more, which `rank_of` counts on.
    partition.lines = records.count / partitions + (i < records.count % partitions ? 1 : 0);
    begin += partition.lines;
    partition.end = begin;
    partitions_.push_back(std::move(partition));
  }
}

void FileLog::rank_lines() {
  std::int64_t next = 0;
  for (std::int64_t line = 0; next < lines_; ++line) {
    for (Partition& partition : partitions_) {
      if (line < partition.lines) partition.ranks.push_back(next++);
    }
  }
}

std::int64_t FileLog::rank_of(const Partition& partition, std::int64_t index) const {
  if (made_up_.empty()) return partition.ranks[static_cast<std::size_t>(index)];
  return index * partition_count() + (&partition - partitions_.data());
}

std::int64_t FileLog::line_at(const Partition& partition, std::int64_t position) const {
  if (!made_up_.empty()) {
    return std::clamp(position, partition.begin, partition.end) - partition.begin;
  }
  const auto& starts = partition.line_starts;
  return std::lower_bound(starts.begin(), starts.end(), position) - starts.begin();
}

std::int64_t FileLog::position_of(const Partition& partition, std::int64_t index) const {
  if (index == partition.lines) return partition.end;
  return made_up_.empty() ? partition.line_starts[static_cast<std::size_t>(index)]
                          : partition.begin + index;
}

std::int64_t FileLog::begin(std::int32_t partition) const {
  return partitions_.at(static_cast<std::size_t>(partition)).begin;
}

std::int64_t FileLog::end(std::int32_t partition) const {
  return partitions_.at(static_cast<std::size_t>(partition)).end;
}

std::optional<engine::ReplayableLog::Line> FileLog::read(std::int32_t partition,
                                                         std::int64_t position) const {
  Partition& part = partitions_.at(static_cast<std::size_t>(partition));
  const std::int64_t index = line_at(part, position);
  note_read(part, index);
  if (index == part.lines) return std::nullopt;
  const std::int64_t next = position_of(part, index + 1);
  const std::string_view line = line_text(part, index);
  if (load_.kind == OfferedLoad::Kind::kMax) return Line{line, std::nullopt, next};
  return Line{line, offered_at(rank_of(part, index)), next};
}

std::string_view FileLog::line_text(const Partition& partition, std::int64_t index) const {
  if (!made_up_.empty()) {
    return made_up_[static_cast<std::size_t>(partition.begin + index) % made_up_.size()];
  }
  const std::int64_t start = position_of(partition, index);
  std::string_view line = std::string_view(text_).substr(
      static_cast<std::size_t>(start),
      static_cast<std::size_t>(position_of(partition, index + 1) - start));
  if (line.ends_with('\n')) line.remove_suffix(1);
  return line;
}

std::int64_t FileLog::lines_in(std::int32_t partition) const {
  return partitions_.at(static_cast<std::size_t>(partition)).lines;
}

std::int64_t FileLog::lines_read(std::int32_t partition) const {
  return partitions_.at(static_cast<std::size_t>(partition)).passed;
}

void FileLog::for_each_line(std::int32_t partition, std::int64_t count,
                            const std::function<void(std::string_view line)>& visit) const {
  const Partition& part = partitions_.at(static_cast<std::size_t>(partition));
  for (std::int64_t i = 0; i < count; ++i) visit(line_text(part, i));
}

void FileLog::note_read(Partition& partition, std::int64_t index) const {
  if (index < partition.passed) ++replayed_;
  partition.passed = std::max(partition.passed, index);
  if (!partition.exhausted && index == partition.lines) {
    partition.exhausted = true;
    ++exhausted_partitions_;
    if (exhausted() && on_exhausted_) on_exhausted_();
  }
}

Time FileLog::offered_at(std::int64_t rank) const {
  switch (load_.kind) {
    case OfferedLoad::Kind::kMax:
      return Time{};
    case OfferedLoad::Kind::kOver:
      return Time{mul_div(rank, load_.over.ns, lines_)};
    case OfferedLoad::Kind::kSteps:
      break;
  }
  // Walk the steps: how many lines does each of them bring before the next one begins?
  std::int64_t before = 0;
  for (std::size_t i = 0; i < load_.steps.size(); ++i) {
    const OfferedLoad::Step& step = load_.steps[i];
    if (step.records > 0) {
      const Time due = step.from + Duration{mul_div(rank - before, step.per.ns, step.records)};
      if (i + 1 == load_.steps.size() || due < load_.steps[i + 1].from) return due;
    }
    if (i + 1 == load_.steps.size()) return Time::max();
    if (step.records > 0) {
      // Lines due before the next step: ranks with due time < its start.
      __extension__ using Wide = __int128;
      const Duration length = load_.steps[i + 1].from - step.from;
      before += static_cast<std::int64_t>(
          (static_cast<Wide>(length.ns) * step.records + step.per.ns - 1) / step.per.ns);
    }
  }
  return Time::max();
}

std::int64_t FileLog::lines_offered() const {
  std::int64_t count = 0;
  const Time now = clock_->now();
  for (std::int32_t p = 0; p < partition_count(); ++p) {
    const Partition& part = partitions_[static_cast<std::size_t>(p)];
    if (load_.kind == OfferedLoad::Kind::kMax) {
      count += part.passed;
      continue;
    }
    // Offer times ascend with the rank, so the offered lines are a prefix.
    std::int64_t low = 0;
    std::int64_t high = part.lines;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (offered_at(rank_of(part, middle)) <= now) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    count += low;
  }
  return count;
}

std::int64_t FileLog::lines_before(std::int32_t partition, std::int64_t position) const {
  return line_at(partitions_.at(static_cast<std::size_t>(partition)), position);
}

std::optional<Time> FileLog::offered_until() const {
  if (load_.kind == OfferedLoad::Kind::kMax) return std::nullopt;
  return lines_ == 0 ? Time{} : offered_at(lines_ - 1);
}

}  // namespace tailrace::scenarios
