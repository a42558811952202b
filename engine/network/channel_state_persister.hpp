// Which buffers of a channel belong to the channel state of which checkpoint.
//
// Flink 1.20 ChannelStatePersister (spec barriers.md 5.7). Between the start of an unaligned
// checkpoint and its barrier every data buffer of the channel is channel state. Who writes it is said
// with every call, because it is the same for all channels of a gate.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/checkpoint/checkpoint_failure_reason.hpp"
#include "engine/network/buffer_consumer.hpp"
#include "engine/network/channel_state_writer.hpp"

namespace tailrace::engine {

// Where the state of a channel goes. Without a writer nothing is written.
struct ChannelStateTarget {
  ChannelStateWriter* writer = nullptr;
  InputChannelInfo channel;
};

class ChannelStatePersister {
 public:
  // The checkpoint has begun; `known` had arrived before its barrier.
  // Returns: CHECKPOINT_SUBSUMED if a newer barrier is in already.
  [[nodiscard]] std::optional<CheckpointFailureReason> start_persisting(
      CheckpointId id, std::vector<Buffer> known, const ChannelStateTarget& target);
  void stop_persisting(CheckpointId id);
  // A buffer has come; it is written if its checkpoint waits for the barrier.
  void maybe_persist(const NetworkItem& item, const ChannelStateTarget& target);
  // A barrier has come. Returns: whether it counts; a late one does not.
  bool check_for_barrier(CheckpointId id);

  [[nodiscard]] bool has_barrier_received() const { return status_ == Status::kBarrierReceived; }

 private:
  enum class Status : std::uint8_t { kCompleted, kBarrierPending, kBarrierReceived };

  CheckpointId last_seen_ = kNoCheckpoint;
  Status status_ = Status::kCompleted;
};

}  // namespace tailrace::engine
