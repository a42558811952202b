// Where the streams of a checkpoint go: in line if they are small, else into a file.
//
// FsCheckpointStreamFactory of Flink 1.10 and 1.20 (spec state.md 6.1). One factory belongs to one task. File
// names are `<owner>-<n>` with n counted by the factory, so that they are unique in a directory if
// the owners are, and the same in every run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/checkpoint/checkpoint_options.hpp"
#include "engine/ids.hpp"
#include "engine/ports.hpp"
#include "engine/state/handles.hpp"
#include "sim/base/callback.hpp"

namespace tailrace::engine {

// Default of `state.backend.fs.memory-threshold`, in bytes.
inline constexpr std::int64_t kDefaultMemoryThreshold = 1024;
// Default of `state.storage.fs.write-buffer-size` (1.20; 1.10 `state.backend.fs.write-buffer-size`).
inline constexpr std::int64_t kDefaultWriteBufferSize = 4096;

// A stream on its way. Destroying it before its callback has run aborts it: the callback never runs
// and a file that is written nevertheless is deleted.
class CheckpointStateOutputStream {
 public:
  CheckpointStateOutputStream() = default;
  ~CheckpointStateOutputStream() { abort(); }
  CheckpointStateOutputStream(CheckpointStateOutputStream&&) noexcept = default;
  CheckpointStateOutputStream& operator=(CheckpointStateOutputStream&& other) noexcept {
    if (this != &other) {
      abort();
      upload_ = std::move(other.upload_);
    }
    return *this;
  }

  void abort();

 private:
  friend class FsCheckpointStreamFactory;
  struct Upload;

  std::shared_ptr<Upload> upload_;
};

class FsCheckpointStreamFactory {
 public:
  // Null: the store failed, nothing is left behind.
  using Done = base::InplaceFunction<void(StreamStateHandlePtr)>;

  // `directory`: of the job's checkpoints. `relative`: handles also say what a file is called seen from
  // its checkpoint's directory (1.20). Requires: threshold >= 0; the ports outlive the factory.
  FsCheckpointStreamFactory(const Ports& ports, std::string directory, std::int64_t threshold_bytes,
                            std::string owner, bool relative = false);

  // The same for what a whole process writes. `purpose` joins the names of the files.
  [[nodiscard]] FsCheckpointStreamFactory of_process(const Ports& ports,
                                                     const std::string& purpose) const {
    return FsCheckpointStreamFactory(ports, directory_, threshold_bytes_, owner_ + '-' + purpose,
                                     relative_);
  }

  // Stores one stream of a checkpoint. `done` runs later, never inside this call, also for a stream
  // that stays in line. `ahead`: so many of its bytes have gone by `write_ahead` already.
  // Requires: not empty (Flink makes no handle of an empty stream).
  [[nodiscard]] CheckpointStateOutputStream write(CheckpointId checkpoint,
                                                  const CheckpointOptions& options,
                                                  std::vector<std::byte> bytes, Done done,
                                                  std::int64_t ahead = 0);
  // A stream that is written piece by piece: BlobStore::write_ahead.
  [[nodiscard]] bool write_ahead(std::int64_t bytes, base::InplaceFunction<void(PutStatus)> done) {
    return ports_->blobs->write_ahead(bytes, std::move(done));
  }
  // What such a stream gathers before it goes to the store. At least what may stay in line.
  [[nodiscard]] std::int64_t write_buffer_bytes() const {
    return std::max(kDefaultWriteBufferSize, threshold_bytes_);
  }

  // Of a checkpoint's exclusive files: its target location, or `chk-<id>`.
  [[nodiscard]] std::string exclusive_directory(CheckpointId checkpoint,
                                                const CheckpointOptions& options) const;

 private:
  const Ports* ports_;
  std::string directory_;
  std::int64_t threshold_bytes_;
  std::string owner_;
  bool relative_;
  std::int64_t next_ = 1;
};

// Deletes the private files of state that no checkpoint will ever refer to.
void discard_state(BlobStore& blobs, const OperatorSubtaskState& state);
void discard_state(BlobStore& blobs, const TaskStateSnapshot& state);

}  // namespace tailrace::engine
