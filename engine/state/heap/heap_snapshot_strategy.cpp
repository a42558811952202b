#include "engine/state/heap/heap_snapshot_strategy.hpp"

#include <string>
#include <utility>

#include "engine/state/f120/name_uuid.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {

HeapSnapshotFuture::HeapSnapshotFuture(KeyGroupRange range, const KeySerializer& keys,
                                       const std::vector<std::shared_ptr<StateTable>>& tables,
                                       KeyGroupsFormat format, bool identified)
    : keys_(&keys),
      offsets_{range, {}},
      format_(format),
      identified_(identified && format != KeyGroupsFormat::SAVEPOINT) {
  for (const auto& table : tables) tables_.push_back({table->meta(), table->snapshot()});
  offsets_.offsets.reserve(static_cast<std::size_t>(range.size()));
}

Work HeapSnapshotFuture::sync_work() const {
  Work work{.kind = WorkKind::kSnapshotSync};
  for (const Table& table : tables_) work.count += table.snapshot->bucket_count();
  return work;
}

std::optional<Work> HeapSnapshotFuture::step() {
  if (written()) return std::nullopt;

  Work work{.kind = WorkKind::kSnapshotAsync};
  const std::int64_t before = out_.position();
  if (before == 0) write_header();
  int sections = 0;
  while (!written() && sections < kSectionsPerStep && work.count < kEntriesPerStep) {
    StateTableSnapshot& snapshot = *tables_[table_].snapshot;
    if (!in_section_) {
      if (table_ == 0) {
        offsets_.offsets.push_back(out_.position());
        out_.write_int(offsets_.range.first + static_cast<std::int32_t>(group_));
      }
      out_.write_short(static_cast<std::int16_t>(table_));
      out_.write_int(static_cast<std::int32_t>(snapshot.entry_count(group_)));
      in_section_ = true;
    }
    const std::int64_t limit = kEntriesPerStep - work.count;
    const std::int64_t count = snapshot.write(group_, limit, *keys_, out_);
    work.count += count;
    if (count == limit) continue;  // perhaps more to come: the next step finds out

    snapshot.release(group_);  // from here on processing need not copy what this map holds
    in_section_ = false;
    ++sections;
    if (++table_ == tables_.size()) {
      table_ = 0;
      ++group_;
    }
  }
  work.bytes = out_.position() - before;
  return work;
}

void HeapSnapshotFuture::write_header() {
  out_.write_int(kKeyedBackendStreamVersion);
  out_.write_bool(false);  // not compressed
  write_serializer_snapshot(keys_->snapshot(), out_);
  out_.write_short(static_cast<std::int16_t>(tables_.size()));
  for (const Table& table : tables_) write_state_meta_info(table.meta, out_);
}

std::vector<std::byte> HeapSnapshotFuture::take_stream() {
  TAILRACE_ASSERT(written());
  return out_.take();
}

void HeapSnapshotFuture::finish(StreamStateHandlePtr stream, OperatorSubtaskState& state) {
  TAILRACE_ASSERT(written() && stream != nullptr);
  // Flink's id is random. The name of the stream is as unique, and needs no draw.
  std::string id = identified_ ? name_uuid(stream_name(*stream)) : std::string();
  state.managed_keyed.push_back(std::make_shared<KeyGroupsStateHandle>(
      std::move(offsets_), std::move(stream), std::move(id), format_));
}

}  // namespace tailrace::engine
