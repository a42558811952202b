#include "engine/checkpoint/stats/checkpoint_stats_tracker.hpp"

#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::engine {

CompletedCheckpointStatsSummary::CompletedCheckpointStatsSummary(
    const CheckpointStatsTraits& traits)
    : traits_(&traits) {
  entries_.reserve(traits.summary.size());
  for (const CheckpointSummaryQuantity& quantity : traits.summary) {
    entries_.push_back({quantity.name, {}, QuantileWindow(traits.quantile_window)});
  }
}

void CompletedCheckpointStatsSummary::update_summary(const CheckpointStats& completed) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const std::int64_t value = traits_->summary[i].value(completed);
    entries_[i].summary.add(value);
    entries_[i].window.add(value);
  }
}

CheckpointStatsTracker::CheckpointStatsTracker(const CheckpointStatsTraits& traits,
                                               std::int32_t history_size)
    : traits_(&traits), summary_(traits), history_(history_size) {}

CheckpointStatsPtr CheckpointStatsTracker::report_pending_checkpoint(
    CheckpointId id, std::int64_t trigger_timestamp, const CheckpointProperties& properties,
    std::span<const StatsVertex> vertices) {
  auto stats = std::make_shared<CheckpointStats>(id, trigger_timestamp, properties, vertices);
  const bool is_new = in_progress_.emplace(id, stats).second;
  TAILRACE_ASSERT(is_new);
  ++counts_.in_progress;
  ++counts_.total;
  history_.add_in_progress_checkpoint(stats);
  dirty_ = true;
  return stats;
}

bool CheckpointStatsTracker::report_subtask_stats(CheckpointId id, std::int32_t vertex,
                                                  std::int32_t subtask,
                                                  const SubtaskStateStats& stats) {
  const auto found = in_progress_.find(id);
  return found != in_progress_.end() && found->second->report_subtask_stats(vertex, subtask, stats);
}

bool CheckpointStatsTracker::report_incomplete_stats(CheckpointId id, std::int32_t vertex,
                                                     std::int32_t subtask,
                                                     const SubtaskStateStats& stats) {
  TAILRACE_ASSERT(stats.report == SubtaskReport::INCOMPLETE);
  const CheckpointStatsPtr found = history_.checkpoint_by_id(id);
  if (found == nullptr || found->status() == CheckpointStatsStatus::COMPLETED) return false;
  dirty_ = true;
  return found->report_subtask_stats(vertex, subtask, stats);
}

CheckpointStatsPtr CheckpointStatsTracker::report_completed_checkpoint(CheckpointId id,
                                                                       std::string external_path) {
  const auto found = in_progress_.find(id);
  TAILRACE_ASSERT(found != in_progress_.end());
  latest_completed_ = std::move(found->second);
  in_progress_.erase(found);
  latest_completed_->complete(std::move(external_path));
  count_end_of_in_progress();
  ++counts_.completed;
  history_.checkpoint_ended(latest_completed_);
  summary_.update_summary(*latest_completed_);
  dirty_ = true;
  return latest_completed_;
}

void CheckpointStatsTracker::report_failed_checkpoint(CheckpointId id,
                                                      std::int64_t failure_timestamp,
                                                      CheckpointFailureReason reason) {
  CheckpointStatsPtr stats;
  bool counts_as_checkpoint = true;
  if (const auto found = in_progress_.find(id); found != in_progress_.end()) {
    stats = std::move(found->second);
    in_progress_.erase(found);
  }
  if (traits_->failures_go_through_history) {
    const CheckpointStatsPtr in_history = history_.checkpoint_by_id(id);
    counts_as_checkpoint =
        in_history != nullptr && in_history->status() != CheckpointStatsStatus::COMPLETED;
    if (stats == nullptr && counts_as_checkpoint) stats = in_history;
  } else {
    TAILRACE_ASSERT(stats != nullptr);
  }
  // Also one that the history has dropped is known to have failed, to whoever still holds it.
  if (stats != nullptr) stats->fail(failure_timestamp, reason);
  last_failed_ = stats;
  if (!counts_as_checkpoint) {
    report_failed_checkpoint_without_in_progress();
    return;
  }
  count_end_of_in_progress();
  ++counts_.failed;
  history_.checkpoint_ended(stats);
  dirty_ = true;
}

void CheckpointStatsTracker::report_failed_checkpoint_without_in_progress() {
  ++counts_.failed;
  ++counts_.total;
  dirty_ = true;
}

void CheckpointStatsTracker::set_failure_counted(CheckpointId id) {
  if (last_failed_ != nullptr && last_failed_->id() == id) last_failed_->set_failure_counted();
}

void CheckpointStatsTracker::report_restored_checkpoint(RestoredCheckpointStats restored) {
  ++counts_.restored;
  latest_restored_ = std::move(restored);
  dirty_ = true;
}

std::shared_ptr<const CheckpointStats> CheckpointStatsTracker::find_in_progress(
    CheckpointId id) const {
  const auto found = in_progress_.find(id);
  return found == in_progress_.end() ? nullptr : found->second;
}

std::shared_ptr<const CheckpointStatsSnapshot> CheckpointStatsTracker::create_snapshot() const {
  if (!dirty_) return snapshot_;
  const std::vector<CheckpointStatsPtr> newest = history_.newest_first();
  CheckpointStatsSnapshot snapshot{counts_,
                                   summary_,
                                   {newest.begin(), newest.end()},
                                   history_.latest_completed_checkpoint(),
                                   history_.latest_failed_checkpoint(),
                                   history_.latest_savepoint(),
                                   latest_restored_};
  snapshot_ = std::make_shared<const CheckpointStatsSnapshot>(std::move(snapshot));
  dirty_ = false;
  return snapshot_;
}

std::string CheckpointStatsTracker::last_checkpoint_external_path() const {
  return latest_completed_ == nullptr ? "n/a" : latest_completed_->external_path();
}

void CheckpointStatsTracker::count_end_of_in_progress() {
  if (counts_.in_progress > 0) --counts_.in_progress;
}

}  // namespace tailrace::engine
