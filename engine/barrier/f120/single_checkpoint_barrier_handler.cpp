#include "engine/barrier/f120/single_checkpoint_barrier_handler.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::engine::f120 {
namespace {

const BarrierHandlerState* first_state(SingleCheckpointBarrierHandler::Kind kind) {
  switch (kind) {
    case SingleCheckpointBarrierHandler::Kind::kAligned:
      return waiting_for_first_barrier();
    case SingleCheckpointBarrierHandler::Kind::kUnaligned:
      return strictly_unaligned_waiting_for_first_barrier();
    case SingleCheckpointBarrierHandler::Kind::kAlternating:
      return alternating_waiting_for_first_barrier();
  }
  base::fail_assertion("Kind", __FILE__, __LINE__);
}

}  // namespace

SingleCheckpointBarrierHandler::SingleCheckpointBarrierHandler(Kind kind,
                                                               const Environment& environment,
                                                               CheckpointableInputs& inputs,
                                                               bool checkpoints_after_tasks_finish)
    : CheckpointBarrierHandler(environment.listener, environment.clock,
                               checkpoints_after_tasks_finish),
      kind_(kind),
      initializer_(environment.initializer),
      timers_(environment.timers),
      channels_(inputs),
      state_(first_state(kind)),
      aligned_(static_cast<std::size_t>(inputs.channel_count())),
      open_channels_(inputs.channel_count()) {
  TAILRACE_ASSERT(kind == Kind::kAligned || initializer_ != nullptr);
  TAILRACE_ASSERT(kind != Kind::kAlternating || timers_ != nullptr);
}

void SingleCheckpointBarrierHandler::process_barrier(const CheckpointBarrier& barrier,
                                                     ChannelIndex channel, bool rpc) {
  if (is_obsolete(barrier.id)) {
    if (!barrier.options.is_unaligned()) channels_.inputs().resume_consumption(channel);
    return;
  }
  check_new_checkpoint(barrier);
  mark_aligned(channel, barrier);
  finish_transition(state_->barrier_received(*this, channel, barrier, !rpc));
}

void SingleCheckpointBarrierHandler::process_barrier_announcement(const CheckpointBarrier& barrier,
                                                                  std::int32_t sequence_number,
                                                                  ChannelIndex channel) {
  check_new_checkpoint(barrier);
  if (is_obsolete(barrier.id)) return;
  const auto next = state_->announcement_received(*this, channel, sequence_number);
  state_ = next.value();  // an announcement never fails a checkpoint
}

void SingleCheckpointBarrierHandler::process_cancellation_barrier(
    const CancelCheckpointMarker& marker, ChannelIndex /*channel*/) {
  // As Flink: an id that is known by announcement alone is not cancelled.
  if (marker.id > current_id_ || (marker.id == current_id_ && aligned_count_ > 0)) {
    abort_internal(marker.id, CheckpointFailureReason::CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER);
  }
}

void SingleCheckpointBarrierHandler::process_end_of_partition(ChannelIndex channel) {
  --open_channels_;
  if (!is_checkpoint_pending()) return;
  if (!checkpoints_after_tasks_finish()) {
    abort_internal(current_id_, CheckpointFailureReason::CHECKPOINT_DECLINED_INPUT_END_OF_STREAM);
    return;
  }
  TAILRACE_ASSERT(pending_barrier_.has_value());
  mark_aligned(channel, *pending_barrier_);
  finish_transition(state_->end_of_partition_received(*this, channel));
}

void SingleCheckpointBarrierHandler::close() {
  cancel_timer();
  end_all_received(AllBarriers::kFailed);
}

SingleCheckpointBarrierHandler::AllBarriers SingleCheckpointBarrierHandler::all_barriers(
    CheckpointId id) const {
  if (id < current_id_ || open_channels_ == 0) return AllBarriers::kReceived;
  TAILRACE_ASSERT_MSG(id == current_id_, "a checkpoint that has not been started at all");
  return all_received_;
}

void SingleCheckpointBarrierHandler::when_all_barriers(CheckpointId id,
                                                       base::InplaceFunction<void(bool)> done) {
  const AllBarriers now = all_barriers(id);
  if (now != AllBarriers::kOpen) {
    done(now == AllBarriers::kReceived);
    return;
  }
  TAILRACE_ASSERT(!on_all_received_);
  on_all_received_ = std::move(done);
}

void SingleCheckpointBarrierHandler::end_all_received(AllBarriers how) {
  if (all_received_ != AllBarriers::kOpen) return;
  all_received_ = how;
  if (auto done = std::exchange(on_all_received_, {})) done(how == AllBarriers::kReceived);
}

void SingleCheckpointBarrierHandler::check_new_checkpoint(const CheckpointBarrier& barrier) {
  if (current_id_ >= barrier.id) return;
  if (is_checkpoint_pending()) {
    abort_internal(current_id_, CheckpointFailureReason::CHECKPOINT_DECLINED_SUBSUMED);
  }
  current_id_ = barrier.id;
  pending_barrier_ = barrier;
  clear_aligned();
  target_ = open_channels_;
  end_all_received(AllBarriers::kFailed);  // of one that was dropped without a word
  all_received_ = AllBarriers::kOpen;
  if (kind_ == Kind::kAlternating && barrier.options.is_timeoutable()) register_alignment_timer();
}

// Before the state hears of it: the trigger reports an alignment that has ended as such.
void SingleCheckpointBarrierHandler::mark_aligned(ChannelIndex channel,
                                                  const CheckpointBarrier& barrier) {
  const auto index = static_cast<std::size_t>(channel);
  TAILRACE_ASSERT(index < aligned_.size());
  if (std::exchange(aligned_[index], std::uint8_t{1}) == 0) ++aligned_count_;
  if (aligned_count_ == 1) {
    if (target_ == 1) {
      mark_alignment_start_and_end(barrier);
    } else {
      mark_alignment_start(barrier);
    }
  }
  if (aligned_count_ == target_ && target_ > 1) mark_alignment_end();
}

void SingleCheckpointBarrierHandler::finish_transition(BarrierHandlerState::Next next) {
  if (next) {
    state_ = next.value();
  } else {
    abort_internal(current_id_, next.error());
  }
  if (aligned_count_ != target_) return;
  clear_aligned();
  last_done_id_ = current_id_;
  cancel_timer();
  end_all_received(AllBarriers::kReceived);
}

void SingleCheckpointBarrierHandler::abort_internal(CheckpointId id,
                                                    CheckpointFailureReason reason) {
  current_id_ = std::max(id, current_id_);
  last_done_id_ = std::max(last_done_id_, id);
  pending_barrier_.reset();
  clear_aligned();
  target_ = 0;
  cancel_timer();
  state_ = state_->abort(*this, id);
  if (id == current_id_) reset_alignment();
  notify_abort(id, reason);
  end_all_received(AllBarriers::kFailed);
}

void SingleCheckpointBarrierHandler::clear_aligned() {
  if (aligned_count_ == 0) return;
  std::fill(aligned_.begin(), aligned_.end(), std::uint8_t{0});
  aligned_count_ = 0;
}

void SingleCheckpointBarrierHandler::register_alignment_timer() {
  const CheckpointBarrier& barrier = *pending_barrier_;
  const base::Duration passed = base::Duration::millis(now_ms() - barrier.timestamp_ms);
  const base::Duration left = barrier.options.aligned_checkpoint_timeout - passed;
  timer_ = timers_->schedule(std::max(left, base::Duration{}),
                             [this, id = barrier.id] { alignment_timed_out(id); });
}

void SingleCheckpointBarrierHandler::alignment_timed_out(CheckpointId id) {
  timer_ = {};
  if (current_id_ != id || all_barriers(id) != AllBarriers::kOpen) return;
  const CheckpointBarrier barrier = *pending_barrier_;  // which an abort forgets
  const auto next = state_->aligned_checkpoint_timeout(*this, barrier);
  if (next) {
    state_ = next.value();
  } else {
    abort_internal(id, next.error());
  }
}

void SingleCheckpointBarrierHandler::cancel_timer() {
  if (timer_ == TimerId{}) return;
  timers_->cancel(std::exchange(timer_, TimerId{}));
}

std::optional<CheckpointFailureReason> SingleCheckpointBarrierHandler::init_inputs_checkpoint(
    const CheckpointBarrier& barrier) {
  TAILRACE_ASSERT(initializer_ != nullptr);
  return initializer_->init_inputs_checkpoint(barrier.id, barrier.options);
}

bool SingleCheckpointBarrierHandler::is_timed_out(const CheckpointBarrier& barrier) const {
  return barrier.options.is_timeoutable() && barrier.id <= current_id_ &&
         barrier.options.aligned_checkpoint_timeout <
             base::Duration::millis(now_ms() - barrier.timestamp_ms);
}

}  // namespace tailrace::engine::f120
