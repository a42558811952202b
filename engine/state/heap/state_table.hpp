// One registered keyed state of a heap backend: a copy-on-write map for each key group.
//
// Flink 1.10 StateTable, CopyOnWriteStateTable, CopyOnWriteStateTableSnapshot (spec state.md 2.1,
// 2.5, 2.7). The base classes know no value type: the backend snapshots, writes and restores
// through them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/state/heap/copy_on_write_state_map.hpp"
#include "engine/state/key_group_range.hpp"
#include "engine/state/key_serializer.hpp"
#include "engine/state/state_meta_info.hpp"
#include "engine/state/type_serializer.hpp"

namespace tailrace::engine {

// The current key of a backend and what follows from it; every state of the backend looks at it.
struct KeyContext {
  std::string key;
  std::int32_t key_group = -1;
  std::uint32_t map_hash = 0;  // with the void namespace
};

// The maps of one state at the moment of a snapshot. Keeps its table alive.
class StateTableSnapshot {
 public:
  virtual ~StateTableSnapshot() = default;

  [[nodiscard]] virtual std::int64_t bucket_count() const = 0;
  [[nodiscard]] virtual std::int64_t entry_count(std::size_t map) const = 0;
  // Writes up to `limit` further entries of a map; returns how many, fewer than `limit` only at the
  // end. Maps are written in any order, each from its start to its end.
  virtual std::int64_t write(std::size_t map, std::int64_t limit, const KeySerializer& keys,
                             DataOutputView& out) = 0;
  virtual void release(std::size_t map) = 0;
};

class StateTable : public std::enable_shared_from_this<StateTable> {
 public:
  using Visitor = std::function<void(std::string_view key, const std::string& value_text)>;

  StateTable(StateMetaInfo meta, KeyGroupRange range) : meta_(std::move(meta)), range_(range) {}
  virtual ~StateTable() = default;
  StateTable(const StateTable&) = delete;
  StateTable& operator=(const StateTable&) = delete;

  [[nodiscard]] const StateMetaInfo& meta() const { return meta_; }
  [[nodiscard]] KeyGroupRange range() const { return range_; }

  [[nodiscard]] virtual std::int64_t entry_count() const = 0;
  // The synchronous part: O(buckets), no entry is copied.
  [[nodiscard]] virtual std::unique_ptr<StateTableSnapshot> snapshot() = 0;
  // Puts the entries of one key group's section; returns their number. Errors: RestoreError.
  virtual std::int64_t read_key_group(std::int32_t key_group, const KeySerializer& keys,
                                      DataInputView& in) = 0;
  // All entries, key group by key group.
  virtual void visit(const Visitor& visitor) const = 0;

 protected:
  // Index of a key group's map. Flink 1.10 fails in the same case later, with a null pointer.
  [[nodiscard]] std::size_t map_index(std::int32_t key_group) const {
    TAILRACE_ASSERT(range_.contains(key_group));
    return static_cast<std::size_t>(key_group - range_.first);
  }

 private:
  StateMetaInfo meta_;
  KeyGroupRange range_;
};

template <typename State>
class CopyOnWriteStateTable final : public StateTable {
 public:
  using Map = CopyOnWriteStateMap<std::string, VoidNamespace, State>;

  CopyOnWriteStateTable(StateMetaInfo meta, KeyGroupRange range)
      : StateTable(std::move(meta), range) {
    maps_.reserve(static_cast<std::size_t>(range.size()));
    for (std::int32_t i = 0; i < range.size(); ++i) maps_.push_back(std::make_unique<Map>());
  }

  [[nodiscard]] Map& map(std::int32_t key_group) { return *maps_[map_index(key_group)]; }

  // Null if absent.
  [[nodiscard]] State* get(const KeyContext& at) {
    return map(at.key_group).get(std::string_view(at.key), VoidNamespace{}, at.map_hash);
  }
  void put(const KeyContext& at, State state) {
    map(at.key_group).put(std::string_view(at.key), VoidNamespace{}, at.map_hash, std::move(state));
  }
  template <typename F>
  State& transform(const KeyContext& at, F f) {
    return map(at.key_group)
        .transform(std::string_view(at.key), VoidNamespace{}, at.map_hash, std::move(f));
  }
  void remove(const KeyContext& at) {
    map(at.key_group).remove(std::string_view(at.key), VoidNamespace{}, at.map_hash);
  }

  [[nodiscard]] std::int64_t entry_count() const override {
    std::int64_t count = 0;
    for (const auto& map : maps_) count += map->size();
    return count;
  }

  [[nodiscard]] std::unique_ptr<StateTableSnapshot> snapshot() override {
    return std::make_unique<TableSnapshot>(
        std::static_pointer_cast<CopyOnWriteStateTable>(shared_from_this()));
  }

  std::int64_t read_key_group(std::int32_t key_group, const KeySerializer& keys,
                              DataInputView& in) override {
    Map& target = map(key_group);
    const std::int32_t count = in.read_int();
    if (count < 0) throw RestoreError("a negative number of entries");
    std::string key;
    for (std::int32_t i = 0; i < count; ++i) {
      if (in.read_bool()) throw RestoreError("a void namespace is one zero byte");
      keys.read(in, key);
      target.put(std::string_view(key), VoidNamespace{},
                 state_map_hash(keys.hash(key), VoidNamespace::kHash),
                 TypeSerializer<State>::read(in));
    }
    return count;
  }

  void visit(const Visitor& visitor) const override {
    for (const auto& map : maps_) {
      map->for_each([&](const typename Map::Entry& entry) {
        visitor(entry.key, TypeSerializer<State>::text(entry.state));
      });
    }
  }

 private:
  class TableSnapshot final : public StateTableSnapshot {
   public:
    explicit TableSnapshot(std::shared_ptr<CopyOnWriteStateTable> table)
        : table_(std::move(table)) {
      maps_.reserve(table_->maps_.size());
      for (const auto& map : table_->maps_) {
        maps_.push_back({map->snapshot(), {}});
        bucket_count_ += maps_.back().snapshot.array_length();
      }
    }

    [[nodiscard]] std::int64_t bucket_count() const override { return bucket_count_; }
    [[nodiscard]] std::int64_t entry_count(std::size_t map) const override {
      return maps_[map].snapshot.size();
    }
    std::int64_t write(std::size_t map, std::int64_t limit, const KeySerializer& keys,
                       DataOutputView& out) override {
      return maps_[map].snapshot.visit(maps_[map].cursor, limit,
                                       [&](const typename Map::Entry& entry) {
                                         out.write_bool(false);  // the void namespace
                                         keys.write(entry.key, out);
                                         TypeSerializer<State>::write(entry.state, out);
                                       });
    }
    void release(std::size_t map) override { maps_[map].snapshot.release(); }

   private:
    struct MapSnapshot {
      typename Map::Snapshot snapshot;
      typename Map::Snapshot::Cursor cursor;
    };

    std::shared_ptr<CopyOnWriteStateTable> table_;  // outlives the snapshots of its maps
    std::vector<MapSnapshot> maps_;
    std::int64_t bucket_count_ = 0;
  };

  std::vector<std::unique_ptr<Map>> maps_;
};

// The table that fits a stream's meta info. Errors: RestoreError for a kind or a serializer that is
// not known here.
[[nodiscard]] std::shared_ptr<StateTable> make_state_table(const StateMetaInfo& meta,
                                                           KeyGroupRange range);

}  // namespace tailrace::engine
