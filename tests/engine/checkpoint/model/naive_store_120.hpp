// Completed checkpoints and who keeps them in 1.20, restated for tests (spec coordinator.md 4.6).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tailrace::engine::test {

struct NaiveState120 {
  std::string name;  // empty: an operator state with nothing in it
  std::int64_t vertex = 0;
};

struct NaiveCompleted120 {
  std::int64_t id = 0;
  std::string kind;  // checkpoint, savepoint, stopWithSavepoint, terminateWithSavepoint, unclaimed
  std::string retention;
  std::vector<NaiveState120> states;
  std::map<std::string, std::string> hook_states;
  bool foreign_operators = false;  // state of an operator coordinator that belongs to no vertex

  [[nodiscard]] bool is_savepoint() const { return kind != "checkpoint"; }
  [[nodiscard]] bool is_synchronous() const { return kind.ends_with("WithSavepoint"); }
  // 1.5.
  [[nodiscard]] bool is_deleted_when(const std::string& status) const {
    if (is_savepoint()) return false;
    if (retention == "RETAIN_ON_FAILURE") return status != "FAILED";
    if (retention == "RETAIN_ON_CANCELLATION") return status == "FINISHED";
    return true;
  }
};
using NaiveCompletedPtr = std::shared_ptr<const NaiveCompleted120>;

struct NaiveStore120 {
  std::int64_t limit = 1;
  std::vector<NaiveCompletedPtr> kept;      // oldest first
  std::vector<NaiveCompletedPtr> subsumed;  // not deleted yet

  struct Added {
    NaiveCompletedPtr last_subsumed;         // of those that went, the one with the largest id
    std::vector<NaiveCompletedPtr> cleaned;  // of which savepoints are not deleted
  };

  Added add(const NaiveCompletedPtr& latest) {
    Added result;
    kept.push_back(latest);
    //
    for (const NaiveCompletedPtr& one : std::vector(kept)) {
      if (static_cast<std::int64_t>(kept.size()) <= limit) break;
      const bool expendable =
          one->is_savepoint() || latest->is_synchronous() || one != newest_checkpoint();
      if (one == latest || !expendable) continue;
      std::erase(kept, one);
      subsumed.push_back(one);
      if (result.last_subsumed == nullptr || one->id > result.last_subsumed->id) {
        result.last_subsumed = one;
      }
    }
    //
    for (const NaiveCompletedPtr& one : kept) {
      if (one->is_savepoint()) continue;
      result.cleaned = take_below(one->id);
      break;
    }
    return result;
  }

  // Returns what is deleted, with what had to wait for its turn.
  std::vector<NaiveCompletedPtr> shut_down(const std::string& status) {
    std::vector<NaiveCompletedPtr> deleted;
    std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
    for (const NaiveCompletedPtr& one : kept) {
      if (one->is_deleted_when(status)) {
        deleted.push_back(one);
      } else {
        lowest = std::min(lowest, one->id);
      }
    }
    kept.clear();
    if (status == "SUSPENDED") return deleted;
    for (const NaiveCompletedPtr& one : take_below(lowest)) {
      if (!one->is_savepoint()) deleted.push_back(one);
    }
    return deleted;
  }

 private:
  std::vector<NaiveCompletedPtr> take_below(std::int64_t id) {
    std::vector<NaiveCompletedPtr> taken;
    for (const NaiveCompletedPtr& old : std::vector(subsumed)) {
      if (old->id >= id) continue;
      std::erase(subsumed, old);
      taken.push_back(old);
    }
    return taken;
  }
  [[nodiscard]] NaiveCompletedPtr newest_checkpoint() const {
    NaiveCompletedPtr newest;
    for (const NaiveCompletedPtr& one : kept) {
      if (!one->is_savepoint()) newest = one;
    }
    return newest;
  }
};

}  // namespace tailrace::engine::test
