#include "engine/state/heap/heap_restore_operation.hpp"

#include "engine/state/heap/heap_snapshot_strategy.hpp"

namespace tailrace::engine {

base::Result<Work, std::string> HeapRestoreOperation::restore(
    HeapKeyedStateBackend& backend, const std::vector<KeyedStateHandlePtr>& handles,
    const std::vector<FetchedStream>& streams) {
  TAILRACE_ASSERT(backend.tables_.empty() && handles.size() == streams.size());
  Work work{.kind = WorkKind::kRestore};
  // State ids of the streams. 1.10 keeps one map for all handles and adds only what a handle
  // registers first, so that handles with different states are misread: its recordings have it.
  std::vector<StateTable*> tables_by_id;
  try {
    for (std::size_t i = 0; i < handles.size(); ++i) {
      if (handles[i] == nullptr) continue;
      const auto* handle = dynamic_cast<const KeyGroupsStateHandle*>(handles[i].get());
      if (handle == nullptr) throw RestoreError("unexpected kind of keyed state handle");

      DataInputView in = streams[i].view_at(0);
      const std::int32_t version = in.read_int();
      if (version != kKeyedBackendStreamVersion) {
        throw RestoreError("keyed state streams of version " + std::to_string(version) +
                           " cannot be read");
      }
      if (in.read_bool()) throw RestoreError("compressed keyed state streams are not supported");
      if (read_serializer_snapshot(in) != backend.keys_->snapshot()) {
        throw RestoreError("the key serializer of the stream is another one");
      }
      const std::int16_t state_count = in.read_short();
      for (std::int16_t id = 0; id < state_count; ++id) {
        const StateMetaInfo meta = read_state_meta_info(in);
        if (backend.find_table(meta.name) != nullptr) continue;
        backend.tables_.push_back(make_state_table(meta, backend.range_));
        if (tables_by_id.size() <= static_cast<std::size_t>(id)) {
          tables_by_id.resize(static_cast<std::size_t>(id) + 1);
        }
        tables_by_id[static_cast<std::size_t>(id)] = backend.tables_.back().get();
      }
      work.bytes += in.position();

      const KeyGroupRangeOffsets& offsets = handle->offsets();
      for (std::int32_t group = offsets.range.first; group <= offsets.range.last; ++group) {
        if (!backend.range_.contains(group)) {
          throw RestoreError("key group " + std::to_string(group) +
                             " does not belong to the backend");
        }
        in = streams[i].view_at(offsets.offset(group));
        const std::int64_t start = in.position();
        if (in.read_int() != group) throw RestoreError("the stream has another key group here");
        for (std::int16_t section = 0; section < state_count; ++section) {
          const std::int16_t id = in.read_short();
          if (id < 0 || static_cast<std::size_t>(id) >= tables_by_id.size() ||
              tables_by_id[static_cast<std::size_t>(id)] == nullptr) {
            throw RestoreError("no state with id " + std::to_string(id));
          }
          work.count +=
              tables_by_id[static_cast<std::size_t>(id)]->read_key_group(group, *backend.keys_, in);
        }
        work.bytes += in.position() - start;
      }
    }
  } catch (const RestoreError& error) {
    return base::Failure{std::string(error.what())};
  }
  return work;
}

}  // namespace tailrace::engine
