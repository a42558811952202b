#include "engine/checkpoint/metadata/properties_section.hpp"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "engine/checkpoint/metadata/java_object_stream.hpp"
#include "engine/checkpoint/metadata/java_tags.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine::metadata {
namespace {

using namespace java;

constexpr std::string_view kPropertiesClass =
    "org.apache.flink.runtime.checkpoint.CheckpointProperties";
constexpr std::string_view kCheckpointTypeClass =
    "org.apache.flink.runtime.checkpoint.CheckpointType";
constexpr std::string_view kSavepointTypeClass =
    "org.apache.flink.runtime.checkpoint.SavepointType";
constexpr std::string_view kSharingClass =
    "org.apache.flink.runtime.checkpoint.SnapshotType$SharingFilesStrategy";
constexpr std::string_view kFormatClass = "org.apache.flink.core.execution.SavepointFormatType";
constexpr std::string_view kActionClass =
    "org.apache.flink.runtime.checkpoint.SavepointType$PostCheckpointAction";

constexpr std::int64_t kPropertiesUid = 2;
// Java's hashes of classes that declare none: the same in all files of 1.16 to 1.20.
constexpr std::int64_t kCheckpointTypeUid = static_cast<std::int64_t>(0xD6DE4F0305AE1D3A);
constexpr std::int64_t kSavepointTypeUid = static_cast<std::int64_t>(0xA087D308A45814B8);

// In Java's order of fields: primitives first, then by name.
constexpr std::array<std::pair<std::string_view, bool CheckpointProperties::*>, 7> kFlags = {{
    {"discardCancelled", &CheckpointProperties::discard_on_cancelled},
    {"discardFailed", &CheckpointProperties::discard_on_failed},
    {"discardFinished", &CheckpointProperties::discard_on_finished},
    {"discardSubsumed", &CheckpointProperties::discard_on_subsumed},
    {"discardSuspended", &CheckpointProperties::discard_on_suspended},
    {"forced", &CheckpointProperties::forced},
    {"unclaimed", &CheckpointProperties::unclaimed},
}};

// A checkpoint's type by its two fields, a savepoint's by name and what follows it.
struct TypeNames {
  CheckpointType type;
  std::string_view name;
  std::string_view second;
};
constexpr std::array<TypeNames, 5> kTypes = {{
    {CheckpointType::CHECKPOINT, "Checkpoint", "FORWARD_BACKWARD"},
    {CheckpointType::FULL_CHECKPOINT, "Full Checkpoint", "FORWARD"},
    {CheckpointType::SAVEPOINT, "Savepoint", "NONE"},
    {CheckpointType::SAVEPOINT_SUSPEND, "Suspend Savepoint", "SUSPEND"},
    {CheckpointType::SAVEPOINT_TERMINATE, "Terminate Savepoint", "TERMINATE"},
}};

// ---- Reading

class PropertiesReader {
 public:
  explicit PropertiesReader(MetadataInput& in)
      : in_(in), start_(in.position()), stream_(JavaObjectStream::read(in)) {}

  std::optional<CheckpointProperties> read() {
    if (!stream_.root().has_value()) return std::nullopt;
    const auto* object = stream_.get<JavaObject>(stream_.root());
    if (object == nullptr || !is_a(*object, kPropertiesClass) ||
        stream_.class_of(object->class_of).serial_version_uid != kPropertiesUid) {
      fail("the properties are no CheckpointProperties");
      return std::nullopt;
    }
    CheckpointProperties result;
    for (const auto& [name, member] : kFlags) result.*member = flag(*object, name);
    const JavaFieldValue* type = find_field(*object, "checkpointType");
    const auto* type_object = type == nullptr ? nullptr : stream_.get<JavaObject>(type->object);
    if (type_object == nullptr) {
      fail("properties without a snapshot type");
    } else if (is_a(*type_object, kCheckpointTypeClass)) {
      find_type(*type_object, constant(*type_object, "sharingFilesStrategy", kSharingClass), false,
                result);
    } else if (is_a(*type_object, kSavepointTypeClass)) {
      find_type(*type_object, constant(*type_object, "postCheckpointAction", kActionClass), true,
                result);
      find_format(constant(*type_object, "formatType", kFormatClass), result);
    } else {
      fail("an unknown class of snapshot types: " + stream_.class_of(type_object->class_of).name);
    }
    return result;
  }

 private:
  void fail(std::string message) { in_.fail(start_, std::move(message)); }

  [[nodiscard]] bool is_a(const JavaObject& object, std::string_view name) const {
    return stream_.class_of(object.class_of).name == name;
  }

  bool flag(const JavaObject& object, std::string_view name) {
    const JavaFieldValue* field = find_field(object, name);
    if (field == nullptr) return false;
    if (field->kind != 'Z') fail("the property " + std::string(name) + " is no boolean");
    return field->bits == 1;
  }

  // The name of an enum constant; empty: it is missing or null.
  std::string constant(const JavaObject& object, std::string_view name, std::string_view of) {
    const JavaFieldValue* field = find_field(object, name);
    if (field == nullptr || !field->object.has_value()) return {};
    const auto* value = stream_.get<JavaEnumConstant>(field->object);
    if (value == nullptr || stream_.class_of(value->class_of).name != of) {
      fail("the property " + std::string(name) + " is no constant of " + std::string(of));
      return {};
    }
    return value->name;
  }

  void find_type(const JavaObject& object, const std::string& second, bool savepoint,
                 CheckpointProperties& result) {
    const JavaFieldValue* field = find_field(object, "name");
    const auto* name = field == nullptr ? nullptr : stream_.get<JavaString>(field->object);
    const std::string text = name == nullptr ? std::string() : name->text;
    for (const TypeNames& known : kTypes) {
      if (is_savepoint(known.type) == savepoint && known.name == text && known.second == second) {
        result.type = known.type;
        return;
      }
    }
    fail("an unknown snapshot type: '" + text + "' with '" + second + "'");
  }

  void find_format(const std::string& name, CheckpointProperties& result) {
    if (name == "NATIVE") {
      result.format = SavepointFormatType::NATIVE;
    } else if (name == "CANONICAL") {
      result.format = SavepointFormatType::CANONICAL;
    } else {
      fail("an unknown format of savepoints: '" + name + "'");
    }
  }

  MetadataInput& in_;
  std::size_t start_;
  JavaObjectStream stream_;
};

// ---- Writing

// Numbers what it writes as Java does, to refer to what has been written before.
class JavaWriter {
 public:
  explicit JavaWriter(MetadataOutput& out) : out_(out) {
    out_.u16(JavaObjectStream::kMagic);
    out_.u16(JavaObjectStream::kVersion);
  }

  void null() { out_.u8(kNullTag); }
  void string(std::string_view text) {
    out_.u8(kStringTag);
    out_.utf(text);
    ++next_;
  }
  // Then its fields, then end_class.
  void begin_object(std::string_view name, std::int64_t uid, std::uint16_t fields) {
    out_.u8(kObjectTag);
    begin_class(name, uid, kSerializableFlag, fields);
  }
  void boolean_field(std::string_view name) {
    out_.u8('Z');
    out_.utf(name);
  }
  void object_field(std::string_view name, std::string_view type) {
    out_.u8('L');
    out_.utf(name);
    string(type);
  }
  // Of a class without a parent; then the object's values.
  void end_object_class() {
    out_.u8(kEndOfFieldsTag);
    null();
    ++next_;  // the object
  }
  void boolean(bool value) { out_.u8(value ? 1 : 0); }
  void enum_constant(std::string_view class_name, std::string_view name) {
    out_.u8(kEnumTag);
    begin_class(class_name, 0, kEnumFlags, 0);
    out_.u8(kEndOfFieldsTag);
    if (enum_parent_ == 0) {
      enum_parent_ = next_;
      begin_class("java.lang.Enum", 0, kEnumFlags, 0);
      out_.u8(kEndOfFieldsTag);
      null();
    } else {
      out_.u8(kReferenceTag);
      out_.u32(enum_parent_);
    }
    ++next_;  // the constant
    string(name);
  }

 private:
  void begin_class(std::string_view name, std::int64_t uid, std::uint8_t flags,
                   std::uint16_t fields) {
    out_.u8(kClassTag);
    out_.utf(name);
    out_.i64(uid);
    out_.u8(flags);
    out_.u16(fields);
    ++next_;
  }

  MetadataOutput& out_;
  std::uint32_t next_ = JavaObjectStream::kFirstNumber;
  std::uint32_t enum_parent_ = 0;  // number of java.lang.Enum; 0: not written yet
};

// How Java writes the type of an object field.
std::string type_name(std::string_view class_name) {
  std::string result = "L" + std::string(class_name) + ";";
  for (char& c : result) {
    if (c == '.') c = '/';
  }
  return result;
}

void write_type(JavaWriter& out, const CheckpointProperties& properties) {
  const TypeNames* names = nullptr;
  for (const TypeNames& known : kTypes) {
    if (known.type == properties.type) names = &known;
  }
  TAILRACE_ASSERT_MSG(names != nullptr, std::string(to_string(properties.type)));
  if (!properties.is_savepoint()) {
    out.begin_object(kCheckpointTypeClass, kCheckpointTypeUid, 2);
    out.object_field("name", type_name("java.lang.String"));
    out.object_field("sharingFilesStrategy", type_name(kSharingClass));
    out.end_object_class();
    out.string(names->name);
    out.enum_constant(kSharingClass, names->second);
    return;
  }
  out.begin_object(kSavepointTypeClass, kSavepointTypeUid, 3);
  out.object_field("formatType", type_name(kFormatClass));
  out.object_field("name", type_name("java.lang.String"));
  out.object_field("postCheckpointAction", type_name(kActionClass));
  out.end_object_class();
  out.enum_constant(kFormatClass,
                    properties.format == SavepointFormatType::NATIVE ? "NATIVE" : "CANONICAL");
  out.string(names->name);
  out.enum_constant(kActionClass, names->second);
}

}  // namespace

std::optional<CheckpointProperties> read_properties(MetadataInput& in) {
  auto result = PropertiesReader(in).read();
  return in.ok() ? result : std::nullopt;
}

void write_properties(MetadataOutput& out, const std::optional<CheckpointProperties>& properties) {
  JavaWriter java(out);
  if (!properties.has_value()) return java.null();
  java.begin_object(kPropertiesClass, kPropertiesUid, 8);
  for (const auto& [name, member] : kFlags) java.boolean_field(name);
  java.object_field("checkpointType",
                    type_name("org.apache.flink.runtime.checkpoint.SnapshotType"));
  java.end_object_class();
  for (const auto& [name, member] : kFlags) java.boolean((*properties).*member);
  write_type(java, *properties);
}

}  // namespace tailrace::engine::metadata
