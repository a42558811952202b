#include "engine/state/checkpoint_stream_factory.hpp"

#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::engine {

struct CheckpointStateOutputStream::Upload {
  FsCheckpointStreamFactory::Done done;
  bool finished = false;
  bool aborted = false;

  void finish(StreamStateHandlePtr handle) {
    finished = true;
    auto callback = std::move(done);
    callback(std::move(handle));
  }
};

void CheckpointStateOutputStream::abort() {
  if (upload_ == nullptr) return;
  if (!upload_->finished) {
    upload_->aborted = true;
    upload_->done.reset();
  }
  upload_.reset();
}

FsCheckpointStreamFactory::FsCheckpointStreamFactory(const Ports& ports, std::string directory,
                                                     std::int64_t threshold_bytes,
                                                     std::string owner, bool relative)
    : ports_(&ports),
      directory_(std::move(directory)),
      threshold_bytes_(threshold_bytes),
      owner_(std::move(owner)),
      relative_(relative) {
  TAILRACE_ASSERT(threshold_bytes >= 0);
}

CheckpointStateOutputStream FsCheckpointStreamFactory::write(CheckpointId checkpoint,
                                                             const CheckpointOptions& options,
                                                             std::vector<std::byte> bytes,
                                                             Done done, std::int64_t ahead) {
  TAILRACE_ASSERT(!bytes.empty());
  auto upload = std::make_shared<CheckpointStateOutputStream::Upload>();
  upload->done = std::move(done);
  CheckpointStateOutputStream stream;
  stream.upload_ = upload;

  const auto size = static_cast<std::int64_t>(bytes.size());
  std::string name = owner_ + '-' + std::to_string(next_++);
  std::string path = exclusive_directory(checkpoint, options) + '/' + name;
  if (size <= threshold_bytes_) {
    auto handle = std::make_shared<const StreamStateHandle>(
        ByteStreamStateHandle{std::move(path), std::move(bytes)});
    ports_->timers->schedule(Duration{}, [upload, handle = std::move(handle)]() mutable {
      if (!upload->aborted) upload->finish(std::move(handle));
    });
    return stream;
  }

  auto handle = std::make_shared<const StreamStateHandle>(
      FileStateHandle{path, size, relative_ ? std::move(name) : std::string()});
  ports_->blobs->put_rest(
      path, std::move(bytes), ahead,
      // Not bound to the task: a file that outlives its task must still be deleted.
      [upload, handle = std::move(handle), blobs = ports_->blobs](PutStatus status) mutable {
        if (upload->aborted) {
          blobs->remove(stream_name(*handle));
        } else {
          upload->finish(status == PutStatus::kStored ? std::move(handle) : nullptr);
        }
      });
  return stream;
}

std::string FsCheckpointStreamFactory::exclusive_directory(CheckpointId checkpoint,
                                                           const CheckpointOptions& options) const {
  if (!options.target_location.empty()) return options.target_location;
  return directory_ + "/chk-" + std::to_string(checkpoint);
}

void discard_state(BlobStore& blobs, const OperatorSubtaskState& state) {
  FileNames paths;
  state.append_private_files(paths);
  for (const std::string* path : paths) blobs.remove(*path);
}

void discard_state(BlobStore& blobs, const TaskStateSnapshot& state) {
  for (const auto& [id, operator_state] : state.operators) discard_state(blobs, operator_state);
}

}  // namespace tailrace::engine
