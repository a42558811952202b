// Writes the snapshot of a heap backend as one stream, key group by key group.
//
// Flink 1.10 HeapSnapshotStrategy, KeyedBackendSerializationProxy v6 (spec state.md 2.5 to 2.7).
// Without compression. A state's key group is released as soon as it is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/state/data_view.hpp"
#include "engine/state/heap/state_table.hpp"
#include "engine/state/snapshot_future.hpp"

namespace tailrace::engine {

inline constexpr std::int32_t kKeyedBackendStreamVersion = 6;

class HeapSnapshotFuture final : public SnapshotFuture {
 public:
  // How much one step writes: so little that processing is seen between two steps.
  static constexpr std::int64_t kEntriesPerStep = 256;
  static constexpr int kSectionsPerStep = 8;  // of one state and one key group each

  // Takes the snapshots of all maps.
  HeapSnapshotFuture(KeyGroupRange range, const KeySerializer& keys,
                     const std::vector<std::shared_ptr<StateTable>>& tables, KeyGroupsFormat format,
                     bool identified);

  [[nodiscard]] Work sync_work() const override;
  std::optional<Work> step() override;
  [[nodiscard]] std::vector<std::byte> take_stream() override;
  void finish(StreamStateHandlePtr stream, OperatorSubtaskState& state) override;

 private:
  struct Table {
    StateMetaInfo meta;
    std::unique_ptr<StateTableSnapshot> snapshot;
  };

  void write_header();
  [[nodiscard]] bool written() const {
    return offsets_.range.size() == static_cast<std::int32_t>(group_);
  }

  const KeySerializer* keys_;
  std::vector<Table> tables_;
  KeyGroupRangeOffsets offsets_;
  KeyGroupsFormat format_;
  bool identified_;
  DataOutputView out_;
  // Position of the writer: key group, state, and whether that section has begun.
  std::size_t group_ = 0;
  std::size_t table_ = 0;
  bool in_section_ = false;
};

}  // namespace tailrace::engine
