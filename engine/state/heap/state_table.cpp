#include "engine/state/heap/state_table.hpp"

namespace tailrace::engine {
namespace {

template <typename... States>
std::shared_ptr<StateTable> first_with_serializer(const StateMetaInfo& meta, KeyGroupRange range) {
  const SerializerSnapshot& wanted = meta.serializer(kValueSerializerKey);
  std::shared_ptr<StateTable> table;
  const auto try_one = [&]<typename State>(std::type_identity<State>) {
    if (table == nullptr && TypeSerializer<State>::snapshot() == wanted) {
      table = std::make_shared<CopyOnWriteStateTable<State>>(meta, range);
    }
  };
  (try_one(std::type_identity<States>{}), ...);
  return table;
}

}  // namespace

std::shared_ptr<StateTable> make_state_table(const StateMetaInfo& meta, KeyGroupRange range) {
  if (meta.type != BackendStateType::KEY_VALUE) {
    throw RestoreError("state '" + meta.name + "' is no key-value state");
  }
  if (meta.serializer(kNamespaceSerializerKey) != void_namespace_serializer_snapshot()) {
    throw RestoreError("state '" + meta.name + "' has namespaces");
  }
  const std::string& kind = meta.option(kKeyedStateTypeOption);
  std::shared_ptr<StateTable> table;
  if (kind == "VALUE") {
    table = first_with_serializer<std::int32_t, std::int64_t, std::string, Bytes>(meta, range);
  } else if (kind == "LIST") {
    table = first_with_serializer<SharedList<std::int32_t>, SharedList<std::int64_t>,
                                  SharedList<std::string>>(meta, range);
  }
  if (table == nullptr) {
    throw RestoreError("state '" + meta.name + "' of kind " + kind +
                       " has a type that cannot be restored");
  }
  return table;
}

}  // namespace tailrace::engine
