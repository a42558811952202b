// Exactly-once: one checkpoint at a time, aligned, unaligned, or aligned until its time is up.
//
// Flink 1.20 SingleCheckpointBarrierHandler (spec barriers.md 5.3, 5.4). What a barrier leads to is
// said by the current BarrierHandlerState; here is which checkpoint is the current one.
//
// Invariants
//   S1  current_id_ and last_done_id_ never decrease; last_done_id_ <= current_id_.
//   S2  pending_barrier_ is set if and only if the current checkpoint is pending or has completed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/barrier/f120/barrier_handler_state.hpp"
#include "engine/barrier/f120/checkpoint_barrier_handler.hpp"
#include "engine/barrier/inputs_checkpoint_initializer.hpp"

namespace tailrace::engine::f120 {

using engine::InputsCheckpointInitializer;

class SingleCheckpointBarrierHandler final : public CheckpointBarrierHandler,
                                             private BarrierHandlerState::Controller {
 public:
  enum class Kind : std::uint8_t {
    kAligned,
    kUnaligned,    // strictly; Flink has it for its tests
    kAlternating,  // aligned, unless barriers say otherwise or time out
  };
  struct Environment {
    CheckpointListener& listener;
    const Clock& clock;
    InputsCheckpointInitializer* initializer = nullptr;  // not for kAligned
    Timers* timers = nullptr;  // for kAlternating; callbacks run on the task's mailbox
  };
  // Of Flink's future of all barriers.
  enum class AllBarriers : std::uint8_t { kOpen, kReceived, kFailed };

  // Borrows everything.
  SingleCheckpointBarrierHandler(Kind kind, const Environment& environment,
                                 CheckpointableInputs& inputs, bool checkpoints_after_tasks_finish);
  ~SingleCheckpointBarrierHandler() override { close(); }

  void process_barrier(const CheckpointBarrier& barrier, ChannelIndex channel, bool rpc) override;
  void process_barrier_announcement(const CheckpointBarrier& barrier, std::int32_t sequence_number,
                                    ChannelIndex channel) override;
  void process_cancellation_barrier(const CancelCheckpointMarker& marker,
                                    ChannelIndex channel) override;
  void process_end_of_partition(ChannelIndex channel) override;
  void close() override;

  [[nodiscard]] CheckpointId latest_checkpoint_id() const override { return current_id_; }
  [[nodiscard]] bool is_checkpoint_pending() const override {
    return current_id_ != last_done_id_ && current_id_ >= 0;
  }
  [[nodiscard]] bool is_blocked(ChannelIndex channel) const override {
    return channels_.is_blocked(channel);
  }
  // Requires: the checkpoint has been seen, or every channel has ended.
  [[nodiscard]] AllBarriers all_barriers(CheckpointId id) const;
  void when_all_barriers(CheckpointId id, base::InplaceFunction<void(bool)> done) override;

 private:
  [[nodiscard]] bool all_barriers_received() const override { return aligned_count_ == target_; }
  [[nodiscard]] const CheckpointBarrier* pending_checkpoint_barrier() const override {
    return pending_barrier_ ? &*pending_barrier_ : nullptr;
  }
  void trigger_global_checkpoint(const CheckpointBarrier& barrier) override {
    notify_checkpoint(barrier);
  }
  [[nodiscard]] std::optional<CheckpointFailureReason> init_inputs_checkpoint(
      const CheckpointBarrier& barrier) override;
  [[nodiscard]] bool is_timed_out(const CheckpointBarrier& barrier) const override;
  [[nodiscard]] ChannelState& channels() override { return channels_; }

  [[nodiscard]] bool is_obsolete(CheckpointId id) const {
    return current_id_ > id || (current_id_ == id && !is_checkpoint_pending());
  }
  void check_new_checkpoint(const CheckpointBarrier& barrier);
  void mark_aligned(ChannelIndex channel, const CheckpointBarrier& barrier);
  void finish_transition(BarrierHandlerState::Next next);
  void abort_internal(CheckpointId id, CheckpointFailureReason reason);
  void clear_aligned();
  void register_alignment_timer();
  void alignment_timed_out(CheckpointId id);
  void cancel_timer();
  void end_all_received(AllBarriers how);

  Kind kind_;
  InputsCheckpointInitializer* initializer_;
  Timers* timers_;
  ChannelState channels_;
  const BarrierHandlerState* state_;

  CheckpointId current_id_ = kNoCheckpoint;           // newest seen
  CheckpointId last_done_id_ = kNoCheckpoint;         // newest completed or cancelled
  std::optional<CheckpointBarrier> pending_barrier_;  // the first one, or the first announced one
  std::vector<std::uint8_t> aligned_;                 // by channel, for current_id_
  std::int32_t aligned_count_ = 0;
  std::int32_t target_ = 0;  // open channels when current_id_ became the current one
  std::int32_t open_channels_;
  AllBarriers all_received_ = AllBarriers::kOpen;
  base::InplaceFunction<void(bool)> on_all_received_;
  TimerId timer_{};
};

}  // namespace tailrace::engine::f120
