// What a stream says about one registered state.
//
// Flink 1.10 StateMetaInfoSnapshot, StateMetaInfoSnapshotReadersWriters (spec state.md 1.4), as
// they stand in streams of keyed backends (v6) and of operator backends (v5).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/state/data_view.hpp"
#include "engine/state/type_serializer.hpp"

namespace tailrace::engine {

// The ordinal is on disk.
enum class BackendStateType : std::uint8_t { KEY_VALUE, OPERATOR, BROADCAST, PRIORITY_QUEUE };

inline constexpr std::string_view kKeyedStateTypeOption = "KEYED_STATE_TYPE";
inline constexpr std::string_view kDistributionModeOption = "OPERATOR_STATE_DISTRIBUTION_MODE";
inline constexpr std::string_view kValueSerializerKey = "VALUE_SERIALIZER";
inline constexpr std::string_view kNamespaceSerializerKey = "NAMESPACE_SERIALIZER";

struct StateMetaInfo {
  std::string name;
  BackendStateType type = BackendStateType::KEY_VALUE;
  std::vector<std::pair<std::string, std::string>> options;
  std::vector<std::pair<std::string, SerializerSnapshot>> serializers;

  // Errors: RestoreError if there is none.
  [[nodiscard]] const std::string& option(std::string_view key) const;
  [[nodiscard]] const SerializerSnapshot& serializer(std::string_view key) const;

  friend bool operator==(const StateMetaInfo&, const StateMetaInfo&) = default;
};

// `kind`: VALUE, LIST and so on.
[[nodiscard]] StateMetaInfo keyed_state_meta_info(std::string name, std::string_view kind,
                                                  const SerializerSnapshot& value);
[[nodiscard]] StateMetaInfo operator_state_meta_info(std::string name, std::string_view mode,
                                                     const SerializerSnapshot& element);

void write_state_meta_info(const StateMetaInfo& meta, DataOutputView& out);
// Errors: RestoreError.
[[nodiscard]] StateMetaInfo read_state_meta_info(DataInputView& in);

}  // namespace tailrace::engine
