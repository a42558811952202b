// Whom the files of the checkpoint store belong to, as far as an observer of the engine sees it.
//
// Like CheckpointInvariants a second opinion: it knows what became of each checkpoint and nothing of
// who deletes which file when. Broken, the invariant stops the run (sim/base/assert.hpp).
//
// Invariants
//   K5  At the end of a run each file belongs to a checkpoint of which one of these is true.
//       - It is pending: its tasks may still write. Of one that has failed nothing is left, and
//         nothing can be written any more.
//       - It is stored: one of the newest that the job retains, or, in a highly available
//         store, one with an entry.
//       - Its job has ended, and its properties keep it.
//       - Its files are just being deleted, which takes the job manager's threads a while.
//       - It is a completed savepoint, which is its user's. An observer does not hear where
//         savepoints go: there are at most as many directories as savepoints that may have one.
//       - Its leader died before it could delete it. Nobody else does so in Flink: a new leader
//         knows the entries of the store alone. That is what was pending, what was
//         stored without an entry, and what had lost its entry but not yet its files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "engine/checkpoint/checkpoint_options.hpp"
#include "engine/checkpoint/checkpoint_properties.hpp"
#include "engine/ids.hpp"

namespace tailrace::scenarios {

class CheckpointFiles {
 public:
  struct Rules {
    std::int32_t retained = 1;
    bool highly_available = false;
    engine::CheckpointRetentionPolicy retention =
        engine::CheckpointRetentionPolicy::NEVER_RETAIN_AFTER_TERMINATION;
  };

  explicit CheckpointFiles(const Rules& rules) : rules_(rules) {}

  void on_triggered(engine::JobId job, engine::CheckpointId id, engine::CheckpointType type);
  void on_completed(engine::JobId job, engine::CheckpointId id);
  void on_failed(engine::JobId job, engine::CheckpointId id);
  void on_cleaning(engine::JobId job, engine::CheckpointId id, bool begins);
  void on_entry_written(engine::JobId job, engine::CheckpointId id);
  void on_entry_removed(engine::JobId job, engine::CheckpointId id);
  // `status` may be any; those that end a job are of interest.
  void on_job_status(engine::JobId job, engine::JobStatus status);
  void on_job_manager_lost();

  // K5. `files`: a map by path. The entries of the highly available store lie beside them and are of
  // no interest here.
  template <typename Files>
  void check(const Files& files) const {
    std::set<std::string_view> savepoints;
    for (const auto& [path, contents] : files) {
      if (is_entry(path)) continue;
      if (!check_file(path)) savepoints.insert(directory_of(path));
    }
    check_savepoints(savepoints);
  }

 private:
  enum class State : std::uint8_t {
    kPending,
    kStored,
    kKept,       // for good
    kDoomed,     // its leader is about to delete it
    kAbandoned,  // its leader died
    kGone
  };
  using Key = std::pair<engine::JobId, engine::CheckpointId>;
  struct Checkpoint {
    State state = State::kPending;
    bool savepoint = false;
    bool has_entry = false;
    bool is_cleaned = false;  // its files are going, one after the other
  };

  [[nodiscard]] static std::string_view directory_of(std::string_view path) {
    return path.substr(0, path.rfind('/'));
  }
  // Returns: false if it is in no directory of checkpoints.
  [[nodiscard]] static bool is_entry(const std::string& path);
  [[nodiscard]] bool check_file(const std::string& path) const;
  void check_savepoints(const std::set<std::string_view>& directories) const;
  [[nodiscard]] bool may_have_files(const Key& key, const Checkpoint& checkpoint) const;
  // How many checkpoints of its job were stored later.
  [[nodiscard]] std::int32_t newer_than(const Key& key) const;

  Rules rules_;
  std::map<Key, Checkpoint> checkpoints_;
  std::map<std::string, Key, std::less<>> directories_;
};

}  // namespace tailrace::scenarios
