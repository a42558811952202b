#include "engine/checkpoint/metadata/java_object_stream.hpp"

#include <utility>

#include "engine/checkpoint/metadata/java_tags.hpp"

namespace tailrace::engine::metadata {
namespace {

using namespace java;

// Bytes of a primitive; 0: no primitive type has that letter.
std::size_t primitive_bytes(char kind) {
  switch (kind) {
    case 'Z':
    case 'B':
      return 1;
    case 'S':
    case 'C':
      return 2;
    case 'I':
    case 'F':
      return 4;
    case 'J':
    case 'D':
      return 8;
    default:
      return 0;
  }
}

}  // namespace

class JavaObjectStream::Reader {
 public:
  Reader(MetadataInput& in, JavaObjectStream& out) : in_(in), out_(out) {}

  std::optional<JavaReference> value(int depth) {
    const std::size_t start = in_.position();
    if (depth > kMaxDepth) in_.fail(start, "Java objects nested too deeply");
    const std::uint8_t tag = in_.u8();
    if (!in_.ok()) return std::nullopt;
    switch (tag) {
      case kNullTag:
        return std::nullopt;
      case kReferenceTag: {
        const auto known = reference(start);
        if (in_.ok() && out_.get<JavaClass>(known) != nullptr) {
          in_.fail(start, "a Java class in the place of a value");
        }
        return known;
      }
      case kStringTag:
        return number(start, JavaString{in_.utf()});
      case kObjectTag:
        return object(start, depth);
      case kEnumTag:
        return enum_constant(start);
      default:
        in_.fail(start, "a Java value with the tag " + std::to_string(tag) +
                            ", which does not occur in snapshot properties");
        return std::nullopt;
    }
  }

 private:
  template <typename T>
  JavaReference number(std::size_t start, T what) {
    if (out_.numbered_.size() >= kMaxNumbered) in_.fail(start, "too many Java objects");
    out_.numbered_.push_back({start, std::move(what)});
    return out_.numbered_.size() - 1;
  }

  std::optional<JavaReference> reference(std::size_t start) {
    const std::uint32_t number = in_.u32();
    if (in_.ok() && (number < kFirstNumber || number - kFirstNumber >= out_.numbered_.size())) {
      in_.fail(start, "a reference to a Java object that has not occurred");
    }
    if (!in_.ok()) return std::nullopt;
    return number - kFirstNumber;
  }

  // A string, or a reference to one.
  std::optional<JavaReference> string(const char* what) {
    const std::size_t start = in_.position();
    const std::uint8_t tag = in_.u8();
    if (in_.ok() && tag == kStringTag) return number(start, JavaString{in_.utf()});
    if (in_.ok() && tag == kReferenceTag) {
      const auto known = reference(start);
      if (out_.get<JavaString>(known) != nullptr) return known;
    }
    in_.fail(start, std::string(what) + " that is no string");
    return std::nullopt;
  }

  // None: null, or an error.
  std::optional<JavaReference> class_description(int depth) {
    const std::size_t start = in_.position();
    if (depth > kMaxDepth) in_.fail(start, "a Java class with too many parents");
    const std::uint8_t tag = in_.u8();
    if (!in_.ok() || tag == kNullTag) return std::nullopt;
    if (tag == kReferenceTag) {
      const auto known = reference(start);
      if (in_.ok() && out_.get<JavaClass>(known) == nullptr) {
        in_.fail(start, "a reference to something that is no Java class");
      }
      return known;
    }
    if (tag != kClassTag) {
      in_.fail(start, "no Java class here: tag " + std::to_string(tag));
      return std::nullopt;
    }
    JavaClass result;
    result.name = in_.utf();
    result.serial_version_uid = in_.i64();
    // Numbered before its fields, which may refer to it.
    const JavaReference self = number(start, JavaClass{});
    const std::size_t flags_at = in_.position();
    const std::uint8_t flags = in_.u8();
    if (flags != kSerializableFlag && flags != kEnumFlags) {
      in_.fail(flags_at, "a Java class that writes itself in its own way");
    }
    result.is_enum = flags == kEnumFlags;
    fields(result);
    const std::size_t end_at = in_.position();
    if (in_.u8() != kEndOfFieldsTag) in_.fail(end_at, "annotations of a Java class");
    if (!in_.ok()) return std::nullopt;
    result.parent = class_description(depth + 1);
    if (!in_.ok()) return std::nullopt;
    out_.numbered_[self].value = std::move(result);
    return self;
  }

  void fields(JavaClass& of) {
    const std::size_t start = in_.position();
    const std::size_t number_of_fields = in_.u16();
    if (number_of_fields > kMaxFields) in_.fail(start, "a Java class with too many fields");
    for (std::size_t i = 0; i < number_of_fields && in_.ok(); ++i) {
      const std::size_t field_at = in_.position();
      JavaField field;
      field.kind = static_cast<char>(in_.u8());
      if (field.kind != 'L' && primitive_bytes(field.kind) == 0) {
        in_.fail(field_at, "a Java field of a kind that does not occur in snapshot properties");
      }
      field.name = in_.utf();
      if (in_.ok() && field.kind == 'L') string("the type of a Java field");
      of.fields.push_back(std::move(field));
    }
  }

  std::optional<JavaReference> object(std::size_t start, int depth) {
    const auto description = class_description(0);
    if (in_.ok() && !description.has_value()) in_.fail(start, "a Java object without a class");
    if (!in_.ok()) return std::nullopt;
    if (out_.class_of(*description).is_enum) in_.fail(start, "an enum constant as a Java object");
    const JavaReference self = number(start, JavaObject{*description, {}});
    if (!in_.ok()) return std::nullopt;

    // From the topmost parent down. A reference may have made a class its own ancestor.
    std::vector<JavaReference> chain;
    for (auto link = description; link.has_value(); link = out_.class_of(*link).parent) {
      if (chain.size() >= static_cast<std::size_t>(kMaxDepth)) {
        in_.fail(start, "a Java class with too many parents");
        return std::nullopt;
      }
      chain.push_back(*link);
    }
    std::vector<JavaFieldValue> values;
    for (auto link = chain.rbegin(); link != chain.rend() && in_.ok(); ++link) {
      // By index: reading a value may number more things, and move the class.
      for (std::size_t i = 0; i < out_.class_of(*link).fields.size() && in_.ok(); ++i) {
        const JavaField field = out_.class_of(*link).fields[i];
        values.push_back(field_value(field, depth));
      }
    }
    std::get<JavaObject>(out_.numbered_[self].value).fields = std::move(values);
    return self;
  }

  JavaFieldValue field_value(const JavaField& field, int depth) {
    JavaFieldValue result{field.kind, field.name, 0, std::nullopt};
    switch (primitive_bytes(field.kind)) {
      case 0:
        result.object = value(depth + 1);
        break;
      case 1:
        result.bits = field.kind == 'Z' ? std::uint8_t{in_.bool8("a Java boolean")} : in_.u8();
        break;
      case 2:
        result.bits = in_.u16();
        break;
      case 4:
        result.bits = in_.u32();
        break;
      default:
        result.bits = static_cast<std::uint64_t>(in_.i64());
        break;
    }
    return result;
  }

  std::optional<JavaReference> enum_constant(std::size_t start) {
    const auto description = class_description(0);
    if (in_.ok() && (!description.has_value() || !out_.class_of(*description).is_enum)) {
      in_.fail(start, "an enum constant of no enum class");
    }
    if (!in_.ok()) return std::nullopt;
    const JavaReference self = number(start, JavaEnumConstant{*description, {}});
    const auto name = string("the name of an enum constant");
    if (!in_.ok()) return std::nullopt;
    std::get<JavaEnumConstant>(out_.numbered_[self].value).name = out_.get<JavaString>(name)->text;
    return self;
  }

  MetadataInput& in_;
  JavaObjectStream& out_;
};

JavaObjectStream JavaObjectStream::read(MetadataInput& in) {
  JavaObjectStream result;
  const std::size_t start = in.position();
  if (in.ok() && in.remaining() > kMaxBytes) in.fail(start, "properties of more than 64 KiB");
  if (in.u16() != kMagic || in.u16() != kVersion) in.fail(start, "no Java object stream here");
  if (in.ok()) result.root_ = Reader(in, result).value(1);
  if (!in.ok()) result.root_ = std::nullopt;
  return result;
}

const JavaFieldValue* find_field(const JavaObject& object, std::string_view name) {
  const JavaFieldValue* found = nullptr;
  for (const JavaFieldValue& field : object.fields) {
    if (field.name == name) found = &field;
  }
  return found;
}

}  // namespace tailrace::engine::metadata
