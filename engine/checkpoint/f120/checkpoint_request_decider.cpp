#include "engine/checkpoint/f120/checkpoint_request_decider.hpp"

#include <iterator>
#include <tuple>
#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::engine {

bool CheckpointRequestDecider::MoreUrgent::operator()(const Entry& a, const Entry& b) const {
  const auto key = [](const Entry& entry) {
    const CheckpointTriggerRequest& request = *entry.request;
    return std::tuple(!request.properties.is_savepoint(), !request.properties.forced,
                      request.periodic, request.created_ms, entry.sequence);
  };
  return key(a) < key(b);
}

CheckpointRequestDecider::CheckpointRequestDecider(std::int32_t max_concurrent,
                                                   base::Duration min_pause,
                                                   RescheduleTrigger reschedule,
                                                   std::size_t max_queued)
    : max_concurrent_(max_concurrent),
      min_pause_(min_pause),
      reschedule_(std::move(reschedule)),
      max_queued_(max_queued) {
  TAILRACE_ASSERT(max_concurrent >= 1);
  TAILRACE_ASSERT(max_queued >= 1);
}

CheckpointTriggerRequestPtr CheckpointRequestDecider::choose_request_to_execute(
    CheckpointTriggerRequestPtr request, const Situation& situation) {
  if (queue_.size() >= max_queued_ && !std::prev(queue_.end())->request->periodic) {
    // Only requests of users wait, which the new one must not push out, however urgent it is.
    request->fail(CheckpointFailureReason::TOO_MANY_CHECKPOINT_REQUESTS);
    return nullptr;
  }
  queue_.insert(Entry{next_sequence_++, std::move(request)});
  if (queue_.size() > max_queued_) {
    take(std::prev(queue_.end()))->fail(CheckpointFailureReason::TOO_MANY_CHECKPOINT_REQUESTS);
  }
  return choose_queued_request_to_execute(situation);
}

CheckpointTriggerRequestPtr CheckpointRequestDecider::choose_queued_request_to_execute(
    const Situation& situation) {
  if (situation.triggering || queue_.empty() ||
      static_cast<std::int64_t>(situation.cleaning) > max_concurrent_) {
    return nullptr;
  }
  const CheckpointTriggerRequest& first = *queue_.begin()->request;
  if (static_cast<std::int64_t>(situation.pending) >= max_concurrent_) {
    return first.properties.forced ? take(queue_.begin()) : nullptr;
  }
  if (!first.properties.forced && first.periodic && situation.last_completion.has_value()) {
    const base::Duration delay = *situation.last_completion - situation.now + min_pause_;
    if (delay > base::Duration{}) {
      take(queue_.begin())->fail(CheckpointFailureReason::MINIMUM_TIME_BETWEEN_CHECKPOINTS);
      if (reschedule_) reschedule_(delay);
      return nullptr;
    }
  }
  return take(queue_.begin());
}

void CheckpointRequestDecider::abort_all(CheckpointFailureReason reason) {
  while (!queue_.empty()) take(queue_.begin())->fail(reason);
}

CheckpointTriggerRequestPtr CheckpointRequestDecider::take(Queue::iterator position) {
  return std::move(queue_.extract(position).value().request);
}

}  // namespace tailrace::engine
