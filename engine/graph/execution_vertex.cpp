#include "engine/graph/execution_vertex.hpp"

#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::engine {

void ExecutionVertex::reset(ExecutionAttemptId attempt) {
  TAILRACE_ASSERT(!had_attempt_ || is_terminal(execution_.state));
  TAILRACE_ASSERT(!execution_.slot.has_value() && execution_.call_timeout == TimerId{});
  const std::int32_t number = had_attempt_ ? execution_.attempt_number + 1 : 0;
  had_attempt_ = true;
  execution_ = Execution{};
  execution_.id = attempt;
  execution_.attempt_number = number;
}

std::optional<LogicalSlot> ExecutionVertex::take_slot() {
  if (execution_.slot.has_value()) prior_location_ = execution_.slot->task_manager.process;
  return std::exchange(execution_.slot, std::nullopt);
}

void ExecutionVertex::trigger_checkpoint(const CheckpointMetaData& meta,
                                         const CheckpointOptions& options,
                                         bool advance_to_end_of_event_time,
                                         TriggerAnswered answered) {
  if (!execution_.task_manager) return;
  struct Call {
    CheckpointOptions options;
    TriggerAnswered answered;  // empty: nobody waits, or it has been told
    TimerId timeout = TimerId{};
  };
  auto call = std::make_shared<Call>(Call{options, std::move(answered)});
  if (call->answered) {
    call->timeout = timers_.schedule(ask_timeout_, [call] {
      std::exchange(call->answered, {})(CheckpointFailureReason::TRIGGER_CHECKPOINT_FAILURE);
    });
  }
  execution_.task_manager.tell(
      calls_, kRpcBytes,
      [attempt = execution_.id, meta, advance_to_end_of_event_time, self = self_, &timers = timers_,
       call = std::move(call)](TaskExecutorGateway& gateway) mutable {
        const auto failure = gateway.trigger_checkpoint(attempt, meta, std::move(call->options),
                                                        advance_to_end_of_event_time);
        if (!call->answered) return;
        gateway.calls().send(self, kRpcBytes, [failure, &timers, call = std::move(call)] {
          if (!call->answered) return;  // too late
          timers.cancel(call->timeout);
          std::exchange(call->answered, {})(failure);
        });
      });
}

void ExecutionVertex::notify_checkpoint_complete(const CheckpointMetaData& meta,
                                                 CheckpointId last_subsumed) {
  if (!execution_.task_manager) return;
  execution_.task_manager.tell(
      calls_, kRpcBytes,
      [attempt = execution_.id, meta, last_subsumed](TaskExecutorGateway& gateway) {
        gateway.confirm_checkpoint(attempt, meta, last_subsumed);
      });
}

void ExecutionVertex::notify_checkpoint_aborted(const CheckpointMetaData& meta,
                                                CheckpointId latest_completed) {
  if (!execution_.task_manager) return;
  execution_.task_manager.tell(
      calls_, kRpcBytes,
      [attempt = execution_.id, meta, latest_completed](TaskExecutorGateway& gateway) {
        gateway.abort_checkpoint(attempt, meta, latest_completed);
      });
}

}  // namespace tailrace::engine
