#include "engine/checkpoint/checkpoint_storage.hpp"

#include <cstdint>
#include <utility>

namespace tailrace::engine {
namespace {

// The lowest `digits` hexadecimal digits of `value`.
std::string hex(std::uint64_t value, int digits) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (int digit = digits - 1; digit >= 0; --digit) text += kDigits[(value >> (4 * digit)) & 15];
  return text;
}

}  // namespace

std::optional<CheckpointStorageLocation> FsCheckpointStorage::initialize_location_for_checkpoint(
    CheckpointId id) {
  return CheckpointStorageLocation{checkpoint_directory_ + "/chk-" + std::to_string(id)};
}

std::optional<CheckpointStorageLocation> FsCheckpointStorage::initialize_location_for_savepoint(
    CheckpointId /*id*/, const std::string& target) {
  const std::string& base = target.empty() ? savepoint_directory_ : target;
  if (base.empty()) return std::nullopt;
  const std::int64_t suffix =
      random_.uniform("savepoint.directory", 0, (std::int64_t{1} << 48) - 1);
  return CheckpointStorageLocation{base + "/savepoint-" + hex(job_.value, 6) + "-" +
                                   hex(static_cast<std::uint64_t>(suffix), 12)};
}

void FsCheckpointStorage::write_metadata(const CheckpointStorageLocation& location,
                                         std::vector<std::byte> bytes,
                                         base::InplaceFunction<void(PutStatus)> done) {
  blobs_.put(location.metadata_path(), std::move(bytes), std::move(done));
}

void FsCheckpointStorage::discard_file(const std::string& path) {
  blobs_.remove(path);
}

void FsCheckpointStorage::dispose_on_failure(CheckpointId /*id*/,
                                             const CheckpointStorageLocation& location) {
  // Recursively: a task that was killed may have written files that no state names.
  blobs_.remove_directory(location.directory);
}

void FsCheckpointStorage::delete_file(const std::string& path, Deleted done) {
  blobs_.remove(path);
  blobs_.when_removed(std::move(done));
}

void FsCheckpointStorage::delete_failed(CheckpointId id, const CheckpointStorageLocation& location,
                                        Deleted done) {
  dispose_on_failure(id, location);
  blobs_.when_removed(std::move(done));
}

// Flink 1.20 FsCompletedCheckpointStorageLocation: one request, for the directory, which is empty now.
void FsCheckpointStorage::delete_location(const CheckpointStorageLocation& /*location*/,
                                          Deleted done) {
  blobs_.when_removed(std::move(done));
}

}  // namespace tailrace::engine
