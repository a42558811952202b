// Completed checkpoints and who keeps them in 1.20, restated for tests (spec coordinator.md 4.6).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace tailrace::engine::test {

struct NaiveFile120 {
  std::string name;
  bool placeholder = false;  // uploaded for an earlier checkpoint
};

// What one task reports.
struct NaiveState120 {
  std::string name;  // empty: an operator state with nothing in it
  std::int64_t vertex = 0;
  std::string keyed;  // the private file of a keyed state; empty: no keyed state
  std::vector<NaiveFile120> shared;
  bool registered = false;  // the shared files are the registry's

  [[nodiscard]] bool has_any() const { return !name.empty() || !keyed.empty(); }
};

// Who uses which shared file. No recording names one key for two files.
class NaiveShared120 {
 public:
  // False: a placeholder for a file that nobody has uploaded; what comes before it stays registered.
  bool add(NaiveState120& state, std::int64_t checkpoint) {
    if (state.keyed.empty()) return true;
    if (closed_) return false;
    state.registered = true;
    for (NaiveFile120& file : state.shared) {
      if (file.placeholder && !files_.contains(file.name)) return false;
      file.placeholder = false;
      Use& use = files_.try_emplace(file.name, Use{checkpoint, checkpoint}).first->second;
      use.last = std::max(use.last, checkpoint);
    }
    return true;
  }
  void not_claimed(std::int64_t checkpoint) {
    highest_not_claimed_ = std::max(highest_not_claimed_, checkpoint);
  }
  // A restored savepoint shares nothing with others: its files lie in its own directory, which must
  // stay as long as one of them is used (Flink 1.20 SharedStateRegistryImpl, SharingFilesStrategy).
  void shares_nothing(std::int64_t checkpoint) { sharing_nothing_.insert(checkpoint); }
  [[nodiscard]] std::set<std::int64_t> needed_from(std::int64_t lowest) const {
    std::set<std::int64_t> needed;
    for (const auto& [name, use] : files_) {
      if (use.last >= lowest && sharing_nothing_.contains(use.first)) needed.insert(use.first);
    }
    return needed;
  }
  // Returns the files to delete.
  std::vector<std::string> release_below(std::int64_t lowest) {
    std::vector<std::string> deleted;
    for (const auto& [name, use] : std::map(files_)) {
      if (use.last >= lowest) continue;
      files_.erase(name);
      if (use.first > highest_not_claimed_) deleted.push_back(name);
    }
    return deleted;
  }
  void close() { closed_ = true; }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& [name, use] : files_) result.push_back(name);
    return result;
  }

 private:
  struct Use {
    std::int64_t first;
    std::int64_t last;
  };
  std::map<std::string, Use> files_;
  std::set<std::int64_t> sharing_nothing_;
  std::int64_t highest_not_claimed_ = 0;
  bool closed_ = false;
};

enum class NaiveProgress120 : std::uint8_t { kRunning, kPartlyFinished, kFullyFinished };

struct NaiveCompleted120 {
  std::int64_t id = 0;
  std::string kind;  // checkpoint, savepoint, stopWithSavepoint, terminateWithSavepoint, unclaimed
  std::string retention;
  std::vector<NaiveState120> states;
  std::map<std::string, std::string> hook_states;
  std::map<std::int64_t, NaiveProgress120> progress;  // of vertices; none: running
  bool foreign_operators = false;  // state of an operator coordinator that belongs to no vertex

  [[nodiscard]] NaiveProgress120 progress_of(std::int64_t vertex) const {
    const auto found = progress.find(vertex);
    return found == progress.end() ? NaiveProgress120::kRunning : found->second;
  }
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
  NaiveShared120 shared;

  struct Removed {
    NaiveCompletedPtr last_subsumed;         // of those that went, the one with the largest id
    std::vector<NaiveCompletedPtr> cleaned;  // of which savepoints are not deleted
    std::vector<std::string> files;          // shared ones
  };

  Removed add(const NaiveCompletedPtr& latest) {
    Removed result;
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
      result.files = shared.release_below(one->id);
      break;
    }
    return result;
  }

  // with what had to wait for its turn.
  Removed shut_down(const std::string& status) {
    Removed result;
    shared.close();
    std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
    for (const NaiveCompletedPtr& one : kept) {
      if (one->is_deleted_when(status)) {
        result.cleaned.push_back(one);
      } else {
        lowest = std::min(lowest, one->id);
      }
    }
    kept.clear();
    if (status == "SUSPENDED") return result;
    for (const NaiveCompletedPtr& one : take_below(lowest)) {
      if (!one->is_savepoint()) result.cleaned.push_back(one);
    }
    result.files = shared.release_below(lowest);
    return result;
  }

 private:
  std::vector<NaiveCompletedPtr> take_below(std::int64_t id) {
    const std::set<std::int64_t> needed = shared.needed_from(id);
    std::vector<NaiveCompletedPtr> taken;
    for (const NaiveCompletedPtr& old : std::vector(subsumed)) {
      if (old->id >= id || needed.contains(old->id)) continue;
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
