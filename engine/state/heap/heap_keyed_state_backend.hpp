// Keyed state on the heap: for each state name a map from key to value.
//
// Flink 1.10 HeapKeyedStateBackend with asynchronous snapshots (spec state.md 1.2, 1.3, 2.1, 2.5).
// Belongs to one subtask and its mailbox; nothing here suspends. Key types are a KeySerializer:
// callers pass keys as bytes (of a string key: its UTF-8).
//
// Invariants
//   H1  States are kept, numbered and written in the order of their registration; restored ones
//       come first and are written again even if nobody asks for them.
//   H2  A snapshot shows the moment of `snapshot()`, whatever happens until it is written.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/ids.hpp"
#include "engine/ports.hpp"
#include "engine/state/heap/state_table.hpp"
#include "engine/state/key_group_range.hpp"
#include "engine/state/key_serializer.hpp"
#include "engine/state/snapshot_future.hpp"

namespace tailrace::engine {

// The value of the backend's current key. A small object to keep; valid as long as the backend.
// T: std::int32_t, std::int64_t, std::string, Bytes.
template <typename T>
class ValueState {
 public:
  ValueState() = default;
  ValueState(const KeyContext& context, CopyOnWriteStateTable<T>& table)
      : context_(&context), table_(&table) {}

  [[nodiscard]] std::optional<T> value() const {
    const T* state = table_->get(*context_);
    return state == nullptr ? std::optional<T>() : std::optional<T>(*state);
  }
  // Null if there is none. May be changed in place until the next snapshot: what an earlier one sees
  // has been copied. For large values, which `value` and `update` would copy each time.
  [[nodiscard]] T* get() { return table_->get(*context_); }
  void update(T value) { table_->put(*context_, std::move(value)); }
  void clear() { table_->remove(*context_); }

  // Replaces the value by `f(old)`, where `old` is a `const T*`, null if there is none; returns the
  // new one. One lookup instead of two: Flink's StateTable.transform, as reducing state uses it.
  template <typename F>
  T transform(F f) {
    return table_->transform(*context_, [&f](const T* old) -> T { return f(old); });
  }

 private:
  const KeyContext* context_ = nullptr;
  CopyOnWriteStateTable<T>* table_ = nullptr;
};

// The list of the backend's current key.
template <typename T>
class ListState {
 public:
  ListState() = default;
  ListState(const KeyContext& context, CopyOnWriteStateTable<SharedList<T>>& table)
      : context_(&context), table_(&table) {}

  // Empty if there is none.
  [[nodiscard]] std::vector<T> get() const {
    const SharedList<T>* list = table_->get(*context_);
    return list == nullptr ? std::vector<T>() : **list;
  }
  void add(T element) {
    SharedList<T>* list = table_->get(*context_);
    if (list == nullptr) {
      auto fresh = std::make_shared<std::vector<T>>();
      fresh->push_back(std::move(element));
      table_->put(*context_, std::move(fresh));
    } else {
      (*list)->push_back(std::move(element));
    }
  }
  // An empty list is none.
  void update(std::vector<T> elements) {
    if (elements.empty()) {
      clear();
    } else {
      table_->put(*context_, std::make_shared<std::vector<T>>(std::move(elements)));
    }
  }
  void clear() { table_->remove(*context_); }

 private:
  const KeyContext* context_ = nullptr;
  CopyOnWriteStateTable<SharedList<T>>* table_ = nullptr;
};

class HeapKeyedStateBackend {
 public:
  // Requires: range within [0, max_parallelism - 1], not empty.
  HeapKeyedStateBackend(KeyGroupRange range, std::int32_t max_parallelism,
                        const KeySerializer& keys = string_key_serializer());
  HeapKeyedStateBackend(const HeapKeyedStateBackend&) = delete;  // states point to its context
  HeapKeyedStateBackend& operator=(const HeapKeyedStateBackend&) = delete;

  [[nodiscard]] KeyGroupRange key_group_range() const { return range_; }
  [[nodiscard]] std::int32_t max_parallelism() const { return max_parallelism_; }
  [[nodiscard]] const KeySerializer& key_serializer() const { return *keys_; }

  // 1.10 does not check that the key belongs here; the first access to a state does.
  void set_current_key(std::string_view key);
  // For callers that already know the hash of the key (its partitioner computed it).
  void set_current_key(std::string_view key, std::int32_t java_hash);
  [[nodiscard]] std::string_view current_key() const { return context_.key; }
  [[nodiscard]] std::int32_t current_key_group() const { return context_.key_group; }

  // Registers the state, or finds it if it is registered or restored already.
  // Requires: kind and type are those of its registration.
  template <typename T>
  [[nodiscard]] ValueState<T> get_value_state(std::string_view name) {
    return {context_, typed_table<T>(name, "VALUE")};
  }
  template <typename T>
  [[nodiscard]] ListState<T> get_list_state(std::string_view name) {
    return {context_, typed_table<SharedList<T>>(name, "LIST")};
  }

  [[nodiscard]] std::vector<std::string> registered_states() const;
  // Flink numKeyValueStateEntries.
  [[nodiscard]] std::int64_t entry_count() const;
  // All (state, key, value as text), state by state.
  using Visitor = std::function<void(const std::string& state, std::string_view key,
                                     const std::string& value_text)>;
  void visit(const Visitor& visitor) const;

  // Takes a snapshot: the synchronous part. Null if no state is registered (1.10: an empty result).
  // `format`: of the handle; the bytes are those of the heap backend in either case.
  // `identified`: the handle gets an id (1.20), unless its format has none.
  [[nodiscard]] std::unique_ptr<SnapshotFuture> snapshot(
      CheckpointId checkpoint, KeyGroupsFormat format = KeyGroupsFormat::BACKEND,
      bool identified = false);

 private:
  friend class HeapRestoreOperation;

  [[nodiscard]] StateTable* find_table(std::string_view name) const;
  template <typename State>
  CopyOnWriteStateTable<State>& typed_table(std::string_view name, std::string_view kind) {
    StateTable* table = find_table(name);
    const StateMetaInfo wanted =
        keyed_state_meta_info(std::string(name), kind, TypeSerializer<State>::snapshot());
    if (table == nullptr) {
      tables_.push_back(std::make_shared<CopyOnWriteStateTable<State>>(wanted, range_));
      table = tables_.back().get();
    }
    TAILRACE_ASSERT_MSG(table->meta() == wanted,
                        "state '" + wanted.name + "' is registered with another kind or type");
    return static_cast<CopyOnWriteStateTable<State>&>(*table);
  }

  KeyGroupRange range_;
  std::int32_t max_parallelism_;
  const KeySerializer* keys_;
  KeyContext context_;
  std::vector<std::shared_ptr<StateTable>> tables_;  // in the order of registration
};

}  // namespace tailrace::engine
