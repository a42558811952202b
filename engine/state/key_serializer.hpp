// The type of a backend's keys.
//
// Inside the engine a key is always a string of bytes; its type says how that string hashes as Java
// would hash the key (spec rescale.md 2.3) and how it is written (Flink 1.10 TypeSerializer). So
// tasks, checkpoints and rescaling never depend on the type.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/state/data_view.hpp"
#include "engine/state/type_serializer.hpp"

namespace tailrace::engine {

class KeySerializer {
 public:
  virtual ~KeySerializer() = default;

  [[nodiscard]] virtual const SerializerSnapshot& snapshot() const = 0;
  [[nodiscard]] virtual std::int32_t hash(std::string_view key) const = 0;
  virtual void write(std::string_view key, DataOutputView& out) const = 0;
  // Errors: RestoreError.
  virtual void read(DataInputView& in, std::string& key) const = 0;
  [[nodiscard]] virtual std::string text(std::string_view key) const = 0;
};

// A key is its UTF-8 text.
[[nodiscard]] const KeySerializer& string_key_serializer();
// A key is its four or eight big-endian bytes.
[[nodiscard]] const KeySerializer& int_key_serializer();
[[nodiscard]] const KeySerializer& long_key_serializer();
[[nodiscard]] std::string int_key(std::int32_t value);
[[nodiscard]] std::string long_key(std::int64_t value);

// Null if there is none with that snapshot.
[[nodiscard]] const KeySerializer* find_key_serializer(const SerializerSnapshot& snapshot);

}  // namespace tailrace::engine
