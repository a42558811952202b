// Where the checkpoints of one task cut its channels: checked as far as the task can see, and told to
// the observer, who sees both ends.
//
// Reads counters and changes nothing. Exactly-once mode alone: with at-least-once a task goes on
// behind a barrier, and its cuts are none.
//
// Invariants
//   N2  An aligned snapshot is taken where its barriers are: from a channel that has delivered the
//       barrier nothing comes before the snapshot, and no record is half read. Broken, it stops the
//       run (sim/base/assert.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/ids.hpp"
#include "engine/network/channel_info.hpp"
#include "engine/network/channel_state_writer.hpp"

namespace tailrace::engine {

class ChannelReader;
class Observer;
class ResultPartition;
struct TaskDeploymentDescriptor;

class TaskCuts {
 public:
  // Both outlive this.
  TaskCuts(Observer& observer, const TaskDeploymentDescriptor& descriptor);

  // A barrier of the channel (over all gates, in order) has come; so many bytes came before it.
  void on_barrier(ChannelIndex channel, CheckpointId id, std::int64_t bytes);
  // The task takes its snapshot. `unaligned`: barriers have overtaken data.
  void on_snapshot(CheckpointId id, bool unaligned, std::span<const ChannelReader> readers);
  // The barrier is out, or what it overtakes has been given to the channel state since.
  void on_barrier_emitted(CheckpointId id,
                          std::span<const std::unique_ptr<ResultPartition>> partitions);
  // The same writer, whose input data the observer hears of.
  [[nodiscard]] std::unique_ptr<ChannelStateWriter> watch(
      std::unique_ptr<ChannelStateWriter> writer);
  void on_input_state(InputChannelInfo channel, CheckpointId id, std::int64_t bytes);

 private:
  void check_aligned(std::size_t channel, const ChannelReader& reader) const;

  struct Channel {
    CheckpointId barrier = kNoCheckpoint;
    std::int64_t bytes_before_barrier = 0;
  };

  Observer* observer_;
  const TaskDeploymentDescriptor* descriptor_;
  bool exactly_once_;
  std::vector<Channel> channels_;  // over all gates, in order
};

}  // namespace tailrace::engine
