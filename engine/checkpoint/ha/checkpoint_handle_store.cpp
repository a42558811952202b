#include "engine/checkpoint/ha/checkpoint_handle_store.hpp"

#include <algorithm>

namespace tailrace::engine {
namespace {

// Enough for every id of 64 bits. Flink 1.10 ZooKeeperCompletedCheckpointStore.checkpointIdToPath.
constexpr std::size_t kDigitsOfAName = 19;

}  // namespace

std::string checkpoint_id_to_name(CheckpointId id) {
  const std::string digits = std::to_string(id);
  return std::string(kDigitsOfAName - std::min(digits.size(), kDigitsOfAName), '0') + digits;
}

CheckpointId name_to_checkpoint_id(const std::string& name) {
  if (name.size() != kDigitsOfAName) return kNoCheckpoint;
  CheckpointId id = 0;
  for (const char digit : name) {
    if (digit < '0' || digit > '9') return kNoCheckpoint;
    id = id * 10 + (digit - '0');
  }
  return id;
}

}  // namespace tailrace::engine
