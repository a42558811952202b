// Where checkpoints go.
//
// Flink 1.10 CheckpointStorageCoordinatorView, CheckpointStorageLocation, FsCheckpointStorage (spec
// coordinator.md 4.7).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "engine/ids.hpp"
#include "engine/ports.hpp"

namespace tailrace::engine {

struct CheckpointStorageLocation {
  std::string directory;  // of the exclusive files

  [[nodiscard]] std::string metadata_path() const { return directory + "/_metadata"; }
  friend bool operator==(const CheckpointStorageLocation&,
                         const CheckpointStorageLocation&) = default;
};

class CheckpointStorage {
 public:
  virtual ~CheckpointStorage() = default;

  // None: the storage failed.
  virtual std::optional<CheckpointStorageLocation> initialize_location_for_checkpoint(
      CheckpointId id) = 0;
  // `target`: the user's directory; empty: the configured default. None: the storage failed, or
  // there is neither.
  virtual std::optional<CheckpointStorageLocation> initialize_location_for_savepoint(
      CheckpointId id, const std::string& target) = 0;
  virtual void write_metadata(const CheckpointStorageLocation& location,
                              std::vector<std::byte> bytes,
                              base::InplaceFunction<void(PutStatus)> done) = 0;
  virtual void discard_file(const std::string& path) = 0;
  // Gives up the location of a checkpoint that did not complete. May be called twice.
  virtual void dispose_on_failure(CheckpointId id, const CheckpointStorageLocation& location) = 0;
  // After the files of a completed checkpoint were discarded.
  virtual void dispose_completed(const CheckpointStorageLocation& location) = 0;

  // The same three for whoever waits: `done` runs when the store has answered, which may be inside
  // the call.
  using Deleted = base::InplaceFunction<void()>;
  virtual void delete_file(const std::string& path, Deleted done) {
    discard_file(path);
    done();
  }
  virtual void delete_failed(CheckpointId id, const CheckpointStorageLocation& location,
                             Deleted done) {
    dispose_on_failure(id, location);
    done();
  }
  virtual void delete_location(const CheckpointStorageLocation& location, Deleted done) {
    dispose_completed(location);
    done();
  }
};

// `<checkpoint directory>/chk-<id>` and `<savepoint directory>/savepoint-<job>-<random>`, in a blob
// store. The location of a completed checkpoint is gone with its files; that of a failed one is
// removed with all that is in it.
class FsCheckpointStorage final : public CheckpointStorage {
 public:
  // `savepoint_directory` may be empty. The random part of a savepoint's directory comes from the
  // stream `savepoint.directory`.
  FsCheckpointStorage(BlobStore& blobs, RandomDraws& random, JobId job,
                      std::string checkpoint_directory, std::string savepoint_directory)
      : blobs_(blobs),
        random_(random),
        job_(job),
        checkpoint_directory_(std::move(checkpoint_directory)),
        savepoint_directory_(std::move(savepoint_directory)) {}

  std::optional<CheckpointStorageLocation> initialize_location_for_checkpoint(
      CheckpointId id) override;
  std::optional<CheckpointStorageLocation> initialize_location_for_savepoint(
      CheckpointId id, const std::string& target) override;
  void write_metadata(const CheckpointStorageLocation& location, std::vector<std::byte> bytes,
                      base::InplaceFunction<void(PutStatus)> done) override;
  void discard_file(const std::string& path) override;
  void dispose_on_failure(CheckpointId id, const CheckpointStorageLocation& location) override;
  void dispose_completed(const CheckpointStorageLocation&) override {}
  void delete_file(const std::string& path, Deleted done) override;
  void delete_failed(CheckpointId id, const CheckpointStorageLocation& location,
                     Deleted done) override;
  void delete_location(const CheckpointStorageLocation& location, Deleted done) override;

 private:
  BlobStore& blobs_;
  RandomDraws& random_;
  JobId job_;
  std::string checkpoint_directory_;
  std::string savepoint_directory_;
};

}  // namespace tailrace::engine
