// The part of Java's object serialization that snapshot properties need, as plain data.
//
// Java Object Serialization Stream Protocol (spec metadata-format.md 10). Nothing is looked up by
// name, made or run. What the protocol has beyond strings, ordinary objects and enum constants is
// refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/checkpoint/metadata/metadata_input.hpp"

namespace tailrace::engine::metadata {

// Index of something numbered in a JavaObjectStream.
using JavaReference = std::size_t;

struct JavaField {
  char kind = 'L';  // a letter of a primitive type, or L
  std::string name;
};
struct JavaClass {
  std::string name;
  std::int64_t serial_version_uid = 0;
  bool is_enum = false;
  std::vector<JavaField> fields;
  std::optional<JavaReference> parent;
};
struct JavaString {
  std::string text;
};
// An object's field: the bits of a primitive, or what it refers to (none: null).
struct JavaFieldValue {
  char kind = 'L';
  std::string name;
  std::uint64_t bits = 0;
  std::optional<JavaReference> object;
};
struct JavaObject {
  JavaReference class_of = 0;
  // From the topmost parent down; of fields with one name the last one is the object's own.
  std::vector<JavaFieldValue> fields;
};
struct JavaEnumConstant {
  JavaReference class_of = 0;
  std::string name;
};

class JavaObjectStream {
 public:
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 10;
  static constexpr std::size_t kMaxNumbered = 1024;
  static constexpr std::size_t kMaxFields = 256;  // of one class
  static constexpr int kMaxDepth = 16;            // of values, of classes' parents
  static constexpr std::uint32_t kFirstNumber = 0x7E0000;
  static constexpr std::uint16_t kMagic = 0xACED;
  static constexpr std::uint16_t kVersion = 5;

  // Reads one stream with one value, up to the end of `in`. Errors: on `in`, as always.
  static JavaObjectStream read(MetadataInput& in);

  // The value. None: null, or an error.
  [[nodiscard]] std::optional<JavaReference> root() const { return root_; }
  // Null: it is something else.
  template <typename T>
  [[nodiscard]] const T* get(std::optional<JavaReference> reference) const {
    if (!reference.has_value()) return nullptr;
    return std::get_if<T>(&numbered_[*reference].value);
  }
  [[nodiscard]] const JavaClass& class_of(JavaReference reference) const {
    return std::get<JavaClass>(numbered_[reference].value);
  }
  // Where in the file it starts.
  [[nodiscard]] std::size_t offset_of(JavaReference reference) const {
    return numbered_[reference].offset;
  }

 private:
  struct Numbered {
    std::size_t offset = 0;
    std::variant<JavaString, JavaClass, JavaObject, JavaEnumConstant> value;
  };
  class Reader;

  std::vector<Numbered> numbered_;
  std::optional<JavaReference> root_;
};

// Null: the object has no field of that name.
[[nodiscard]] const JavaFieldValue* find_field(const JavaObject& object, std::string_view name);

}  // namespace tailrace::engine::metadata
