// Which buffers of a channel belong to the channel state of which checkpoint.
//
// Flink 1.20 ChannelStatePersister (spec barriers.md 5.7). Between the start of an unaligned
// checkpoint and its barrier every data buffer of the channel is channel state.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/checkpoint/checkpoint_failure_reason.hpp"
#include "engine/network/buffer_consumer.hpp"
#include "engine/network/channel_state_writer.hpp"

namespace tailrace::engine {

class ChannelStatePersister {
 public:
  // The writer outlives the persister. Without one nothing is written.
  void set_writer(ChannelStateWriter& writer, InputChannelInfo channel) {
    writer_ = &writer;
    channel_ = channel;
  }

  // The checkpoint has begun; `known` had arrived before its barrier.
  // Returns: CHECKPOINT_SUBSUMED if a newer barrier is in already.
  [[nodiscard]] std::optional<CheckpointFailureReason> start_persisting(CheckpointId id,
                                                                        std::vector<Buffer> known);
  void stop_persisting(CheckpointId id);
  // A buffer has come; it is written if its checkpoint waits for the barrier.
  void maybe_persist(const NetworkItem& item);
  // A barrier has come. Returns: whether it counts; a late one does not.
  bool check_for_barrier(CheckpointId id);

  [[nodiscard]] bool has_barrier_received() const { return status_ == Status::kBarrierReceived; }

 private:
  enum class Status : std::uint8_t { kCompleted, kBarrierPending, kBarrierReceived };

  Status status_ = Status::kCompleted;
  CheckpointId last_seen_ = kNoCheckpoint;
  ChannelStateWriter* writer_ = nullptr;
  InputChannelInfo channel_;
};

}  // namespace tailrace::engine
