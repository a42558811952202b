#include "engine/state/state_meta_info.hpp"

namespace tailrace::engine {
namespace {

template <typename Pairs>
const auto& value_of(const Pairs& pairs, std::string_view key, const std::string& name) {
  for (const auto& [found, value] : pairs) {
    if (found == key) return value;
  }
  throw RestoreError("the meta info of state '" + name + "' lacks " + std::string(key));
}

std::int32_t checked_count(std::int32_t count) {
  if (count < 0 || count > 64) throw RestoreError("the meta info of a state is damaged");
  return count;
}

}  // namespace

const std::string& StateMetaInfo::option(std::string_view key) const {
  return value_of(options, key, name);
}

const SerializerSnapshot& StateMetaInfo::serializer(std::string_view key) const {
  return value_of(serializers, key, name);
}

// The order of the two serializers is that of Flink's hash map over these two names.
StateMetaInfo keyed_state_meta_info(std::string name, std::string_view kind,
                                    const SerializerSnapshot& value) {
  return {std::move(name),
          BackendStateType::KEY_VALUE,
          {{std::string(kKeyedStateTypeOption), std::string(kind)}},
          {{std::string(kValueSerializerKey), value},
           {std::string(kNamespaceSerializerKey), void_namespace_serializer_snapshot()}}};
}

StateMetaInfo operator_state_meta_info(std::string name, std::string_view mode,
                                       const SerializerSnapshot& element) {
  return {std::move(name),
          BackendStateType::OPERATOR,
          {{std::string(kDistributionModeOption), std::string(mode)}},
          {{std::string(kValueSerializerKey), element}}};
}

void write_state_meta_info(const StateMetaInfo& meta, DataOutputView& out) {
  out.write_utf(meta.name);
  out.write_int(static_cast<std::int32_t>(meta.type));
  out.write_int(static_cast<std::int32_t>(meta.options.size()));
  for (const auto& [key, value] : meta.options) {
    out.write_utf(key);
    out.write_utf(value);
  }
  out.write_int(static_cast<std::int32_t>(meta.serializers.size()));
  for (const auto& [key, serializer] : meta.serializers) {
    out.write_utf(key);
    write_serializer_snapshot(serializer, out);
  }
}

StateMetaInfo read_state_meta_info(DataInputView& in) {
  StateMetaInfo meta;
  meta.name = in.read_utf();
  const std::int32_t type = in.read_int();
  if (type < 0 || type > static_cast<std::int32_t>(BackendStateType::PRIORITY_QUEUE)) {
    throw RestoreError("state '" + meta.name + "' is of the unknown type " + std::to_string(type));
  }
  meta.type = static_cast<BackendStateType>(type);
  for (std::int32_t left = checked_count(in.read_int()); left > 0; --left) {
    std::string key = in.read_utf();
    std::string value = in.read_utf();
    meta.options.emplace_back(std::move(key), std::move(value));
  }
  for (std::int32_t left = checked_count(in.read_int()); left > 0; --left) {
    std::string key = in.read_utf();
    SerializerSnapshot value = read_serializer_snapshot(in);
    meta.serializers.emplace_back(std::move(key), std::move(value));
  }
  return meta;
}

}  // namespace tailrace::engine
