#include "engine/state/operator_state_backend.hpp"

#include <array>
#include <optional>

namespace tailrace::engine {
namespace {

// Flink OperatorBackendSerializationProxy.VERSION: 1.10, and the one of 1.20, which says whether the
// elements are compressed.
constexpr std::int32_t kOperatorBackendStreamVersion = 5;
constexpr std::int32_t kVersionWithCompression = 6;
constexpr std::array kModes = {DistributionMode::SPLIT_DISTRIBUTE, DistributionMode::UNION,
                               DistributionMode::BROADCAST};

class OperatorSnapshotFuture final : public SnapshotFuture {
 public:
  static constexpr std::int64_t kElementsPerStep = 256;

  OperatorSnapshotFuture(const std::vector<std::unique_ptr<OperatorList>>& lists,
                         bool says_compression)
      : says_compression_(says_compression) {
    for (const auto& list : lists) {
      lists_.push_back(list->deep_copy());
      sync_.count += static_cast<std::int64_t>(list->size());
      handle_.states.push_back({list->meta().name, {{}, list->mode()}});
    }
  }

  [[nodiscard]] Work sync_work() const override { return sync_; }

  std::optional<Work> step() override {
    if (written()) return std::nullopt;
    Work work{.kind = WorkKind::kSnapshotAsync};
    const std::int64_t before = out_.position();
    if (before == 0) write_header();
    while (list_ < lists_.size() && work.count < kElementsPerStep) {
      if (element_ == lists_[list_]->size()) {
        ++list_;
        element_ = 0;
        continue;
      }
      handle_.states[list_].second.offsets.push_back(out_.position());
      lists_[list_]->write_element(element_++, out_);
      ++work.count;
    }
    work.bytes = out_.position() - before;
    return work;
  }

  [[nodiscard]] std::vector<std::byte> take_stream() override {
    TAILRACE_ASSERT(written());
    return out_.take();
  }

  void finish(StreamStateHandlePtr stream, OperatorSubtaskState& state) override {
    TAILRACE_ASSERT(written() && stream != nullptr);
    handle_.delegate = std::move(stream);
    state.managed_operator.push_back(std::move(handle_));
  }

 private:
  [[nodiscard]] bool written() const { return list_ == lists_.size(); }

  void write_header() {
    out_.write_int(says_compression_ ? kVersionWithCompression : kOperatorBackendStreamVersion);
    if (says_compression_) out_.write_bool(false);
    out_.write_short(static_cast<std::int16_t>(lists_.size()));
    for (const auto& list : lists_) write_state_meta_info(list->meta(), out_);
    out_.write_short(0);  // broadcast states
  }

  std::vector<std::unique_ptr<OperatorList>> lists_;
  OperatorStateHandle handle_;
  bool says_compression_;
  Work sync_{.kind = WorkKind::kSnapshotSync};
  DataOutputView out_;
  std::size_t list_ = 0;
  std::size_t element_ = 0;
};

DistributionMode mode_of(const StateMetaInfo& meta) {
  const std::string& name = meta.option(kDistributionModeOption);
  for (const DistributionMode mode : kModes) {
    if (to_string(mode) == name) return mode;
  }
  throw RestoreError("state '" + meta.name + "' has the unknown distribution mode " + name);
}

std::unique_ptr<OperatorList> make_list(const StateMetaInfo& meta) {
  if (meta.type != BackendStateType::OPERATOR) {
    throw RestoreError("state '" + meta.name + "' is no list");
  }
  const DistributionMode mode = mode_of(meta);
  const SerializerSnapshot& wanted = meta.serializer(kValueSerializerKey);
  std::unique_ptr<OperatorList> list;
  const auto try_one = [&]<typename T>(std::type_identity<T>) {
    if (list == nullptr && TypeSerializer<T>::snapshot() == wanted) {
      list = std::make_unique<PartitionableListState<T>>(meta, mode);
    }
  };
  try_one(std::type_identity<std::int32_t>{});
  try_one(std::type_identity<std::int64_t>{});
  try_one(std::type_identity<std::string>{});
  try_one(std::type_identity<Bytes>{});
  if (list == nullptr) {
    throw RestoreError("state '" + meta.name + "' has elements that cannot be restored");
  }
  return list;
}

}  // namespace

std::string_view to_string(DistributionMode mode) {
  switch (mode) {
    case DistributionMode::SPLIT_DISTRIBUTE:
      return "SPLIT_DISTRIBUTE";
    case DistributionMode::UNION:
      return "UNION";
    case DistributionMode::BROADCAST:
      return "BROADCAST";
  }
  return "";
}

std::vector<std::string> OperatorStateBackend::registered_states() const {
  std::vector<std::string> names;
  for (const auto& list : lists_) names.push_back(list->meta().name);
  return names;
}

std::unique_ptr<SnapshotFuture> OperatorStateBackend::snapshot(CheckpointId /*checkpoint*/,
                                                               bool says_compression) const {
  if (lists_.empty()) return nullptr;
  return std::make_unique<OperatorSnapshotFuture>(lists_, says_compression);
}

base::Result<Work, std::string> OperatorStateBackend::restore(
    const std::vector<OperatorStateHandle>& handles, const std::vector<FetchedStream>& streams) {
  TAILRACE_ASSERT(lists_.empty() && handles.size() == streams.size());
  Work work{.kind = WorkKind::kRestore};
  try {
    for (std::size_t i = 0; i < handles.size(); ++i) {
      if (handles[i].delegate == nullptr) continue;
      DataInputView in = streams[i].view_at(0);
      const std::int32_t version = in.read_int();
      if (version != kOperatorBackendStreamVersion && version != kVersionWithCompression) {
        throw RestoreError("operator state streams of version " + std::to_string(version) +
                           " cannot be read");
      }
      if (version == kVersionWithCompression && in.read_bool()) {
        throw RestoreError("compressed operator state cannot be read");
      }
      for (std::int16_t left = in.read_short(); left > 0; --left) {
        const StateMetaInfo meta = read_state_meta_info(in);
        if (find_list(meta.name) == nullptr) lists_.push_back(make_list(meta));
      }
      if (in.read_short() != 0) throw RestoreError("broadcast states cannot be restored yet");
      work.bytes += in.position();

      for (const auto& [name, info] : handles[i].states) {
        OperatorList* list = find_list(name);
        if (list == nullptr) throw RestoreError("found state without meta info: " + name);
        for (const std::int64_t offset : info.offsets) {
          in.seek(offset);
          list->read_element(in);
          work.bytes += in.position() - offset;
          ++work.count;
        }
      }
    }
  } catch (const RestoreError& error) {
    return base::Failure{std::string(error.what())};
  }
  return work;
}

OperatorList* OperatorStateBackend::find_list(std::string_view name) const {
  for (const auto& list : lists_) {
    if (list->meta().name == name) return list.get();
  }
  return nullptr;
}

}  // namespace tailrace::engine
