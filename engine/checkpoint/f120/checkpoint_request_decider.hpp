// Which of the requested checkpoints starts next, and when.
//
// Flink 1.20 CheckpointRequestDecider (spec coordinator.md ).
//
// Invariants
//   D1  Between calls at most `max_queued` requests wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "engine/checkpoint/checkpoint_coordinator.hpp"
#include "engine/checkpoint/checkpoint_properties.hpp"
#include "sim/base/callback.hpp"
#include "sim/base/time.hpp"

namespace tailrace::engine {

// Flink 1.20 CheckpointCoordinator.CheckpointTriggerRequest.
struct CheckpointTriggerRequest {
  CheckpointProperties properties;
  std::string target_directory;  // of a savepoint; empty: the configured default
  bool periodic = false;
  CheckpointDone done;          // may be empty; kept or broken once
  std::int64_t created_ms = 0;  // wall clock

  void fail(CheckpointFailureReason reason) {
    if (!done) return;
    CheckpointDone once = std::move(done);
    done.reset();
    once(base::Failure{reason});
  }
};
using CheckpointTriggerRequestPtr = std::unique_ptr<CheckpointTriggerRequest>;

class CheckpointRequestDecider {
 public:
  static constexpr std::size_t kMaxQueuedRequests = 1000;

  // What the coordinator looks like when it asks.
  struct Situation {
    bool triggering = false;
    std::size_t pending = 0;   // savepoints too
    std::size_t cleaning = 0;  // CheckpointsCleaner::checkpoints_to_clean
    base::Time now;
    std::optional<base::Time> last_completion;  // none: "minus infinity" (M-5)
  };
  // Re-arms the periodic timer to fire once after this delay, counted from Situation::now.
  using RescheduleTrigger = base::InplaceFunction<void(base::Duration)>;

  // Requires: max_concurrent >= 1, max_queued >= 1.
  CheckpointRequestDecider(std::int32_t max_concurrent, base::Duration min_pause,
                           RescheduleTrigger reschedule,
                           std::size_t max_queued = kMaxQueuedRequests);

  // Returns: the request to execute now, which need not be `request`; null: none.
  // Cost: O(log queued).
  [[nodiscard]] CheckpointTriggerRequestPtr choose_request_to_execute(
      CheckpointTriggerRequestPtr request, const Situation& situation);
  // A drain. Returns: as above.
  [[nodiscard]] CheckpointTriggerRequestPtr choose_queued_request_to_execute(
      const Situation& situation);
  // Most urgent first.
  void abort_all(CheckpointFailureReason reason);

  [[nodiscard]] std::size_t queued() const { return queue_.size(); }
  // Most urgent first.
  template <typename Visit>
  void for_each_queued(Visit visit) const {
    for (const Entry& entry : queue_) visit(*entry.request);
  }

 private:
  struct Entry {
    std::uint64_t sequence = 0;  // where Flink compares identities (M-3)
    CheckpointTriggerRequestPtr request;
  };
  struct MoreUrgent {
    bool operator()(const Entry& a, const Entry& b) const;
  };
  using Queue = std::set<Entry, MoreUrgent>;

  [[nodiscard]] CheckpointTriggerRequestPtr take(Queue::iterator position);

  std::int64_t max_concurrent_;
  base::Duration min_pause_;
  RescheduleTrigger reschedule_;
  std::size_t max_queued_;
  std::uint64_t next_sequence_ = 0;
  Queue queue_;
};

}  // namespace tailrace::engine
