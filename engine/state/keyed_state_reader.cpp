#include "engine/state/keyed_state_reader.hpp"

#include <vector>

#include "engine/state/data_view.hpp"
#include "engine/state/heap/heap_restore_operation.hpp"

namespace tailrace::engine {
namespace {

Blob bytes_of(const StreamStateHandlePtr& stream,
              const std::function<Blob(const std::string& path)>& read) {
  if (const auto* inline_bytes = std::get_if<ByteStreamStateHandle>(stream.get())) {
    return Blob(stream, &inline_bytes->bytes);
  }
  return read(stream_name(*stream));
}

// The key type that a stream names in its header. Errors: RestoreError.
const KeySerializer& key_serializer_of(const Blob& stream) {
  DataInputView in(*stream);
  static_cast<void>(in.read_int());   // version and
  static_cast<void>(in.read_bool());  // compression: the restore looks at them
  const KeySerializer* keys = find_key_serializer(read_serializer_snapshot(in));
  if (keys == nullptr) throw RestoreError("keys of a type that cannot be restored");
  return *keys;
}

}  // namespace

base::Result<std::int64_t, std::string> for_each_keyed_state_entry(
    const TaskStateSnapshot& snapshot, std::int32_t max_parallelism,
    const std::function<Blob(const std::string& path)>& read,
    const std::function<void(const KeyedStateEntry& entry)>& visit) {
  std::int64_t count = 0;
  for (const auto& [id, state] : snapshot.operators) {
    std::vector<Blob> streams;
    for (const KeyedStateHandlePtr& handle : state.managed_keyed) {
      const auto* groups = dynamic_cast<const KeyGroupsStateHandle*>(handle.get());
      streams.push_back(groups == nullptr ? nullptr : bytes_of(groups->stream(), read));
      if (groups != nullptr && streams.back() == nullptr) {
        return base::Failure{"cannot read " + stream_name(*groups->stream())};
      }
    }
    if (streams.empty() || streams.front() == nullptr) continue;

    const KeySerializer* keys = nullptr;
    try {
      keys = &key_serializer_of(streams.front());
    } catch (const RestoreError& error) {
      return base::Failure{std::string(error.what())};
    }
    HeapKeyedStateBackend backend({0, max_parallelism - 1}, max_parallelism, *keys);
    const auto restored = HeapRestoreOperation::restore(backend, state.managed_keyed,
                                                        {streams.begin(), streams.end()});
    if (!restored.ok()) return base::Failure{restored.error()};
    backend.visit([&](const std::string& name, std::string_view key, const std::string& value) {
      visit({id, name, keys->text(key), value});
      ++count;
    });
  }
  return count;
}

}  // namespace tailrace::engine
