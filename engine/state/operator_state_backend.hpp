// Operator state: lists that do not depend on a key.
//
// Flink 1.10 DefaultOperatorStateBackend, PartitionableListState (spec state.md 5). Belongs to one
// subtask and its mailbox. A snapshot copies all elements at once and writes them later. Broadcast
// state is not there yet.
//
// Invariants
//   O1  A name has one mode and one element type for the backend's life.
//   O2  Lists are written in the order of their registration; restored ones come first and are
//       written again even if nobody asks for them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/ids.hpp"
#include "engine/ports.hpp"
#include "engine/state/fetched_stream.hpp"
#include "engine/state/handles.hpp"
#include "engine/state/snapshot_future.hpp"
#include "engine/state/state_meta_info.hpp"
#include "engine/state/type_serializer.hpp"
#include "sim/base/assert.hpp"
#include "sim/base/result.hpp"

namespace tailrace::engine {

[[nodiscard]] std::string_view to_string(DistributionMode mode);

// A list without its element type.
class OperatorList {
 public:
  OperatorList(StateMetaInfo meta, DistributionMode mode) : meta_(std::move(meta)), mode_(mode) {}
  virtual ~OperatorList() = default;

  [[nodiscard]] const StateMetaInfo& meta() const { return meta_; }
  [[nodiscard]] DistributionMode mode() const { return mode_; }

  [[nodiscard]] virtual std::size_t size() const = 0;
  [[nodiscard]] virtual std::unique_ptr<OperatorList> deep_copy() const = 0;
  virtual void write_element(std::size_t index, DataOutputView& out) const = 0;
  // Appends one element. Errors: RestoreError.
  virtual void read_element(DataInputView& in) = 0;

 private:
  StateMetaInfo meta_;
  DistributionMode mode_;
};

// T: std::int32_t, std::int64_t, std::string, Bytes. Lives as long as its backend.
template <typename T>
class PartitionableListState final : public OperatorList {
 public:
  using OperatorList::OperatorList;

  [[nodiscard]] const std::vector<T>& get() const { return elements_; }
  void add(T element) { elements_.push_back(std::move(element)); }
  void add_all(const std::vector<T>& elements) {
    elements_.insert(elements_.end(), elements.begin(), elements.end());
  }
  void update(std::vector<T> elements) { elements_ = std::move(elements); }
  void clear() { elements_.clear(); }

  [[nodiscard]] std::size_t size() const override { return elements_.size(); }
  [[nodiscard]] std::unique_ptr<OperatorList> deep_copy() const override {
    return std::make_unique<PartitionableListState>(*this);
  }
  void write_element(std::size_t index, DataOutputView& out) const override {
    TypeSerializer<T>::write(elements_[index], out);
  }
  void read_element(DataInputView& in) override {
    elements_.push_back(TypeSerializer<T>::read(in));
  }

 private:
  std::vector<T> elements_;
};

class OperatorStateBackend {
 public:
  // Registers the list, or finds it if it is registered or restored already.
  // Requires: mode and type are those of its registration.
  template <typename T>
  [[nodiscard]] PartitionableListState<T>& get_list_state(std::string_view name) {
    return typed_list<T>(name, DistributionMode::SPLIT_DISTRIBUTE);
  }
  template <typename T>
  [[nodiscard]] PartitionableListState<T>& get_union_list_state(std::string_view name) {
    return typed_list<T>(name, DistributionMode::UNION);
  }

  [[nodiscard]] std::vector<std::string> registered_states() const;

  // Copies everything: the synchronous part. Null if no list is registered.
  // `says_compression`: the stream has a byte for it (1.20), and is not compressed.
  [[nodiscard]] std::unique_ptr<SnapshotFuture> snapshot(CheckpointId checkpoint,
                                                         bool says_compression = false) const;

  // Appends what the handles hold, in their order; lists of one name grow together. `streams[i]`
  // holds the bytes of `handles[i]`. Requires: nothing is registered yet.
  // Returns: what reading has cost. Errors: what Flink would have thrown; discard the backend then.
  [[nodiscard]] base::Result<Work, std::string> restore(
      const std::vector<OperatorStateHandle>& handles, const std::vector<FetchedStream>& streams);

 private:
  [[nodiscard]] OperatorList* find_list(std::string_view name) const;
  template <typename T>
  PartitionableListState<T>& typed_list(std::string_view name, DistributionMode mode) {
    OperatorList* list = find_list(name);
    const StateMetaInfo wanted =
        operator_state_meta_info(std::string(name), to_string(mode), TypeSerializer<T>::snapshot());
    if (list == nullptr) {
      lists_.push_back(std::make_unique<PartitionableListState<T>>(wanted, mode));
      list = lists_.back().get();
    }
    TAILRACE_ASSERT_MSG(list->meta() == wanted,
                        "state '" + wanted.name + "' is registered with another mode or type");
    return static_cast<PartitionableListState<T>&>(*list);
  }

  std::vector<std::unique_ptr<OperatorList>> lists_;  // in the order of registration
};

}  // namespace tailrace::engine
