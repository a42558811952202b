// What the world asks of whatever a source reads, once and while the job runs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/state/operator_state_backend.hpp"
#include "engine/task/operators/line_source.hpp"
#include "engine/task/stream_operator.hpp"
#include "sim/base/callback.hpp"

namespace tailrace::scenarios {

class SourceLog {
 public:
  virtual ~SourceLog() = default;

  // The source that reads it. The log outlives the factory.
  [[nodiscard]] virtual std::shared_ptr<const engine::StreamOperatorFactory> source() = 0;
  // Where that source stood, by its operator state.
  [[nodiscard]] virtual std::vector<engine::PartitionPosition> positions(
      engine::OperatorStateBackend& state) const = 0;

  [[nodiscard]] virtual std::int32_t partition_count() const = 0;
  // Whether a source of it ends after the last line.
  [[nodiscard]] virtual bool finite() const = 0;

  // Lines that have come into being until now. With a load of `max` a line comes into being when it
  // is read.
  [[nodiscard]] virtual std::int64_t lines_offered() const = 0;
  // Lines read again after somebody had read on behind them: what failures made the sources replay.
  [[nodiscard]] virtual std::int64_t lines_replayed() const = 0;
  // Somebody has read on behind the last line of every partition.
  [[nodiscard]] virtual bool exhausted() const = 0;
  // Runs once, when that happens; inside a read.
  virtual void on_exhausted(base::Callback callback) = 0;
  // Lines of a partition before a position.
  [[nodiscard]] virtual std::int64_t lines_before(std::int32_t partition,
                                                  std::int64_t position) const = 0;
  // All lines of a partition; of one without an end, those that were read.
  [[nodiscard]] virtual std::int64_t lines_in(std::int32_t partition) const = 0;
  // Lines of a partition that somebody has read on behind.
  [[nodiscard]] virtual std::int64_t lines_read(std::int32_t partition) const = 0;
  // The first `count` lines of a partition. Nobody reads them thereby.
  virtual void for_each_line(std::int32_t partition, std::int64_t count,
                             const std::function<void(std::string_view line)>& visit) const = 0;
};

}  // namespace tailrace::scenarios
