// What the checkpoints of a run hold of each channel, as whoever sees both of its ends adds it up.
//
// Like CheckpointInvariants a second opinion: the producer's task says what it has sent, the
// consumer's what it has taken in, and both what they have given to the channel state. None of them
// knows the other's numbers. At-least-once jobs have no cuts and say nothing.
//
// Invariants
//   K6  Of a completed checkpoint, for every channel with a barrier: bytes sent before the barrier =
//       bytes consumed before the snapshot + bytes in the channel state of either end. Aligned, the
//       channel state is empty and all that was sent is consumed. A channel whose producer has ended
//       has no barrier.
//   K7  Whoever reads a channel with such a barrier is part of the checkpoint.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "engine/ids.hpp"
#include "engine/network/channel_cut.hpp"

namespace tailrace::scenarios {

class ChannelCuts {
 public:
  void on_triggered(engine::JobId job, engine::CheckpointId id);
  // What was cut for it is settled, or of no interest any more; what comes later is ignored.
  void on_completed(engine::JobId job, engine::CheckpointId id);
  void on_failed(engine::JobId job, engine::CheckpointId id);
  // Nobody will hear of what is pending.
  void on_job_manager_lost() {
    pending_.clear();
    last_ = {};
  }

  void on_output_cut(engine::JobId job, const engine::ResultPartitionId& partition,
                     std::int32_t subpartition, const engine::SubpartitionCut& cut);
  void on_input_cut(engine::JobId job, const engine::ResultPartitionId& partition,
                    std::int32_t subpartition, const engine::InputCut& cut);
  void on_input_state(engine::JobId job, const engine::ResultPartitionId& partition,
                      std::int32_t subpartition, engine::CheckpointId id, std::int64_t bytes);

  // Channels of which both ends were compared, over all completed checkpoints.
  [[nodiscard]] std::int64_t channels_checked() const { return channels_checked_; }

 private:
  struct Channel {
    engine::SubpartitionCut output;
    engine::InputCut input;
    std::int64_t input_state = 0;
  };
  // Vectors: subpartitions in their order.
  using Checkpoint = std::map<engine::ResultPartitionId, std::vector<Channel>>;
  using Key = std::pair<engine::JobId, engine::CheckpointId>;

  // Null: the checkpoint is not pending.
  [[nodiscard]] Channel* find(engine::JobId job, engine::CheckpointId id,
                              const engine::ResultPartitionId& partition,
                              std::int32_t subpartition);
  void check(engine::CheckpointId id, const engine::ResultPartitionId& partition,
             std::size_t subpartition, const Channel& channel);

  std::map<Key, Checkpoint> pending_;
  // Where the last report went: the ends of a checkpoint report their channels in one go.
  struct {
    Key key;
    Checkpoint* checkpoint = nullptr;  // null: nowhere
    engine::ResultPartitionId partition;
    std::vector<Channel>* channels = nullptr;
  } last_;
  std::int64_t channels_checked_ = 0;
};

}  // namespace tailrace::scenarios
