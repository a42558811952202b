// A text file as a log that comes into being line by line.
//
// The file is cut into partitions of about equal length at line ends; each has its own position, as
// the partitions of a Kafka topic have. Lines are offered in turn, one of each partition that has
// any left, so that the log as a whole grows at exactly the rate that was asked for, whatever the
// lengths of its lines. The cut does not depend on who reads.
//
// Or a log of made-up lines, all of one size on the wire, that no file holds and that take no
// memory: positions are then numbers of lines.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ports.hpp"
#include "scenarios/model.hpp"
#include "scenarios/world/source_log.hpp"

namespace tailrace::scenarios {

struct MadeUpRecords {
  std::int64_t count = 0;
  std::int64_t wire_bytes = 0;  // of each: length, tag, timestamp, text
};

// Made-up lines have these texts in turn.
inline constexpr std::int32_t kMadeUpTexts = 1000;
// A text that takes so many bytes on the wire, one word of letters that `number` decides as far as
// there is room. Where a string's length takes another byte, one size in between has no text of
// ASCII alone, and gets one letter that takes two.
// Requires: wire_bytes >= 15; 0 <= number < kMadeUpTexts.
[[nodiscard]] std::string made_up_text(std::int64_t wire_bytes, std::int32_t number);

class FileLog final : public engine::ReplayableLog, public SourceLog {
 public:
  // `text` is the whole file; a last line without line end counts. Requires: partitions > 0.
  FileLog(std::string text, std::int32_t partitions, OfferedLoad load, bool finite,
          const engine::Clock& clock);
  // Requires: records.count > 0; partitions > 0.
  FileLog(const MadeUpRecords& records, std::int32_t partitions, OfferedLoad load, bool finite,
          const engine::Clock& clock);

  [[nodiscard]] std::int32_t partition_count() const override {
    return static_cast<std::int32_t>(partitions_.size());
  }
  [[nodiscard]] std::int64_t begin(std::int32_t partition) const override;
  [[nodiscard]] std::int64_t end(std::int32_t partition) const override;
  [[nodiscard]] std::optional<Line> read(std::int32_t partition,
                                         std::int64_t position) const override;
  [[nodiscard]] bool finite() const override { return finite_; }

  [[nodiscard]] std::shared_ptr<const engine::StreamOperatorFactory> source() override {
    return engine::make_line_source_factory(*this);
  }
  [[nodiscard]] std::vector<engine::PartitionPosition> positions(
      engine::OperatorStateBackend& state) const override;
  [[nodiscard]] std::int64_t lines_offered() const override;
  [[nodiscard]] std::int64_t lines_replayed() const override { return replayed_; }
  [[nodiscard]] bool exhausted() const override {
    return exhausted_partitions_ == partition_count();
  }
  void on_exhausted(base::Callback callback) override { on_exhausted_ = std::move(callback); }
  [[nodiscard]] std::int64_t lines_before(std::int32_t partition,
                                          std::int64_t position) const override;
  [[nodiscard]] std::int64_t lines_in(std::int32_t partition) const override;
  [[nodiscard]] std::int64_t lines_read(std::int32_t partition) const override;
  void for_each_line(std::int32_t partition, std::int64_t count,
                     const std::function<void(std::string_view line)>& visit) const override;
  // When the last line comes into being; nothing with a load of `max`.
  [[nodiscard]] std::optional<Time> offered_until() const;

 private:
  struct Partition {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t lines = 0;
    std::vector<std::int64_t> line_starts;  // none of made-up lines
    std::vector<std::int64_t>
        ranks;                // of its lines among all; none with a load of `max`, or made up
    std::int64_t passed = 0;  // lines that somebody has read on behind
    bool exhausted = false;
  };

  // Gives the lines of all partitions their turns.
  void rank_lines();
  [[nodiscard]] Time offered_at(std::int64_t rank) const;
  // The first line at or behind a position; the number of lines if there is none.
  [[nodiscard]] std::int64_t line_at(const Partition& partition, std::int64_t position) const;
  // Where line `index` begins; the end of the partition behind the last one.
  [[nodiscard]] std::int64_t position_of(const Partition& partition, std::int64_t index) const;
  // Of one line of a partition among all lines.
  [[nodiscard]] std::int64_t rank_of(const Partition& partition, std::int64_t index) const;
  [[nodiscard]] std::string_view line_text(const Partition& partition, std::int64_t index) const;
  // Somebody stands before line `index` of a partition, or at its end.
  void note_read(Partition& partition, std::int64_t index) const;

  std::string text_;
  std::vector<std::string> made_up_;  // texts; empty with a file
  OfferedLoad load_;
  bool finite_;
  const engine::Clock* clock_;
  std::int64_t lines_ = 0;  // of all partitions
  // What readers have done; reading does not change the log.
  mutable std::vector<Partition> partitions_;
  mutable std::int64_t replayed_ = 0;
  mutable std::int32_t exhausted_partitions_ = 0;
  mutable base::Callback on_exhausted_;
};

}  // namespace tailrace::scenarios
