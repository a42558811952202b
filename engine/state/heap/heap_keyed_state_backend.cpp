#include "engine/state/heap/heap_keyed_state_backend.hpp"

#include <limits>

#include "engine/state/heap/heap_snapshot_strategy.hpp"
#include "engine/state/key_group_assignment.hpp"

namespace tailrace::engine {

HeapKeyedStateBackend::HeapKeyedStateBackend(KeyGroupRange range, std::int32_t max_parallelism,
                                             const KeySerializer& keys)
    : range_(range), max_parallelism_(max_parallelism), keys_(&keys) {
  TAILRACE_ASSERT(!range.empty() && range.first >= 0 && range.last < max_parallelism);
}

void HeapKeyedStateBackend::set_current_key(std::string_view key) {
  set_current_key(key, keys_->hash(key));
}

void HeapKeyedStateBackend::set_current_key(std::string_view key, std::int32_t java_hash) {
  context_.key.assign(key);
  context_.key_group = assign_to_key_group(java_hash, max_parallelism_);
  context_.map_hash = state_map_hash(java_hash, VoidNamespace::kHash);
}

std::vector<std::string> HeapKeyedStateBackend::registered_states() const {
  std::vector<std::string> names;
  for (const auto& table : tables_) names.push_back(table->meta().name);
  return names;
}

std::int64_t HeapKeyedStateBackend::entry_count() const {
  std::int64_t count = 0;
  for (const auto& table : tables_) count += table->entry_count();
  return count;
}

void HeapKeyedStateBackend::visit(const Visitor& visitor) const {
  for (const auto& table : tables_) {
    table->visit([&](std::string_view key, const std::string& value) {
      visitor(table->meta().name, key, value);
    });
  }
}

std::unique_ptr<SnapshotFuture> HeapKeyedStateBackend::snapshot(CheckpointId /*checkpoint*/,
                                                                KeyGroupsFormat format,
                                                                bool identified) {
  if (tables_.empty()) return nullptr;
  TAILRACE_ASSERT(tables_.size() <= std::numeric_limits<std::int16_t>::max());
  return std::make_unique<HeapSnapshotFuture>(range_, *keys_, tables_, format, identified);
}

StateTable* HeapKeyedStateBackend::find_table(std::string_view name) const {
  for (const auto& table : tables_) {
    if (table->meta().name == name) return table.get();
  }
  return nullptr;
}

}  // namespace tailrace::engine
