#include "engine/state/key_serializer.hpp"

#include "engine/state/java_hash.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

template <typename T>
std::string big_endian(T value) {
  DataOutputView out;
  TypeSerializer<T>::write(value, out);
  const std::vector<std::byte> bytes = out.take();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <typename T>
T from_big_endian(std::string_view key) {
  TAILRACE_ASSERT(key.size() == sizeof(T));
  DataInputView in(std::as_bytes(std::span(key)));
  return TypeSerializer<T>::read(in);
}

class StringKeySerializer final : public KeySerializer {
 public:
  const SerializerSnapshot& snapshot() const override {
    return TypeSerializer<std::string>::snapshot();
  }
  std::int32_t hash(std::string_view key) const override { return java_string_hash(key); }
  void write(std::string_view key, DataOutputView& out) const override { out.write_string(key); }
  void read(DataInputView& in, std::string& key) const override { in.read_string(key); }
  std::string text(std::string_view key) const override { return std::string(key); }
};

// Integers: the bytes in memory are those in the stream.
template <typename T>
class IntegerKeySerializer final : public KeySerializer {
 public:
  const SerializerSnapshot& snapshot() const override { return TypeSerializer<T>::snapshot(); }
  std::int32_t hash(std::string_view key) const override {
    const T value = from_big_endian<T>(key);
    if constexpr (sizeof(T) == 4) {
      return value;
    } else {
      return java_long_hash(value);
    }
  }
  void write(std::string_view key, DataOutputView& out) const override {
    TAILRACE_ASSERT(key.size() == sizeof(T));
    out.write_bytes(std::as_bytes(std::span(key)));
  }
  void read(DataInputView& in, std::string& key) const override {
    const auto bytes = in.read_bytes(sizeof(T));
    key.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  std::string text(std::string_view key) const override {
    return std::to_string(from_big_endian<T>(key));
  }
};

}  // namespace

const KeySerializer& string_key_serializer() {
  static const StringKeySerializer kSerializer;
  return kSerializer;
}
const KeySerializer& int_key_serializer() {
  static const IntegerKeySerializer<std::int32_t> kSerializer;
  return kSerializer;
}
const KeySerializer& long_key_serializer() {
  static const IntegerKeySerializer<std::int64_t> kSerializer;
  return kSerializer;
}

std::string int_key(std::int32_t value) {
  return big_endian(value);
}
std::string long_key(std::int64_t value) {
  return big_endian(value);
}

const KeySerializer* find_key_serializer(const SerializerSnapshot& snapshot) {
  for (const KeySerializer* serializer :
       {&string_key_serializer(), &int_key_serializer(), &long_key_serializer()}) {
    if (serializer->snapshot() == snapshot) return serializer;
  }
  return nullptr;
}

}  // namespace tailrace::engine
