// How values look in state streams, and how a stream names its serializers.
//
// Flink 1.10 IntSerializer, LongSerializer, StringSerializer, BytePrimitiveArraySerializer,
// ListSerializer, VoidNamespaceSerializer and their snapshots (spec state.md 0, 1.4, 2.7).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/state/data_view.hpp"

namespace tailrace::engine {

using Bytes = std::vector<std::byte>;

// Snapshot of a serializer as it stands in a stream, without the leading proxy version: class name,
// snapshot version, payload. Two serializers are the same if and only if these bytes are equal.
using SerializerSnapshot = std::string;

// Class and version (3) of a serializer without parameters.
[[nodiscard]] SerializerSnapshot simple_serializer_snapshot(std::string_view class_name);
[[nodiscard]] SerializerSnapshot list_serializer_snapshot(const SerializerSnapshot& element);
[[nodiscard]] const SerializerSnapshot& void_namespace_serializer_snapshot();

void write_serializer_snapshot(const SerializerSnapshot& snapshot, DataOutputView& out);
// Errors: RestoreError if the class is none of those above.
[[nodiscard]] SerializerSnapshot read_serializer_snapshot(DataInputView& in);

// For each value type: `snapshot()`, `write`, `read`, and `text` for people.
template <typename T>
struct TypeSerializer;

template <>
struct TypeSerializer<std::int32_t> {
  static const SerializerSnapshot& snapshot();
  static void write(std::int32_t value, DataOutputView& out) { out.write_int(value); }
  static std::int32_t read(DataInputView& in) { return in.read_int(); }
  static std::string text(std::int32_t value) { return std::to_string(value); }
};

template <>
struct TypeSerializer<std::int64_t> {
  static const SerializerSnapshot& snapshot();
  static void write(std::int64_t value, DataOutputView& out) { out.write_long(value); }
  static std::int64_t read(DataInputView& in) { return in.read_long(); }
  static std::string text(std::int64_t value) { return std::to_string(value); }
};

template <>
struct TypeSerializer<std::string> {
  static const SerializerSnapshot& snapshot();
  static void write(std::string_view value, DataOutputView& out) { out.write_string(value); }
  static std::string read(DataInputView& in) {
    std::string value;
    in.read_string(value);
    return value;
  }
  static std::string text(const std::string& value) { return value; }
};

template <>
struct TypeSerializer<Bytes> {
  static const SerializerSnapshot& snapshot();
  static void write(const Bytes& value, DataOutputView& out) {
    out.write_int(static_cast<std::int32_t>(value.size()));
    out.write_bytes(value);
  }
  static Bytes read(DataInputView& in);
  static std::string text(const Bytes& value);  // hexadecimal
};

// A list held as the value of one key. Shared between the copies of an entry, copied before a change
// that a snapshot must not see.
template <typename T>
using SharedList = std::shared_ptr<std::vector<T>>;

template <typename T>
struct TypeSerializer<SharedList<T>> {
  static const SerializerSnapshot& snapshot() {
    static const SerializerSnapshot kSnapshot =
        list_serializer_snapshot(TypeSerializer<T>::snapshot());
    return kSnapshot;
  }
  static void write(const SharedList<T>& list, DataOutputView& out) {
    out.write_int(static_cast<std::int32_t>(list->size()));
    for (const T& element : *list) TypeSerializer<T>::write(element, out);
  }
  static SharedList<T> read(DataInputView& in) {
    auto list = std::make_shared<std::vector<T>>();
    for (std::int32_t left = in.read_int(); left > 0; --left) {
      list->push_back(TypeSerializer<T>::read(in));
    }
    return list;
  }
  static std::string text(const SharedList<T>& list) {
    std::string result = "[";
    for (const T& element : *list) {
      if (result.size() > 1) result += ',';
      result += TypeSerializer<T>::text(element);
    }
    return result + ']';
  }
};

}  // namespace tailrace::engine
