#include "engine/state/type_serializer.hpp"

#include <array>

namespace tailrace::engine {
namespace {

// Flink 1.10 TypeSerializerSnapshotSerializationProxy, SimpleTypeSerializerSnapshot,
// CompositeTypeSerializerSnapshot, NestedSerializersSnapshotDelegate.
constexpr std::int32_t kProxyVersion = 2;
constexpr std::int32_t kSnapshotVersion = 3;
constexpr std::int32_t kCompositeMagic = 911108;
constexpr std::int32_t kCompositeOuterVersion = 1;
constexpr std::int32_t kNestedMagic = 1333245;
constexpr std::int32_t kNestedVersion = 1;

constexpr std::string_view kInt =
    "org.apache.flink.api.common.typeutils.base.IntSerializer$IntSerializerSnapshot";
constexpr std::string_view kLong =
    "org.apache.flink.api.common.typeutils.base.LongSerializer$LongSerializerSnapshot";
constexpr std::string_view kString =
    "org.apache.flink.api.common.typeutils.base.StringSerializer$StringSerializerSnapshot";
constexpr std::string_view kBytes =
    "org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer$"
    "BytePrimitiveArraySerializerSnapshot";
constexpr std::string_view kVoidNamespace =
    "org.apache.flink.runtime.state.VoidNamespaceSerializer$VoidNamespaceSerializerSnapshot";
constexpr std::string_view kList =
    "org.apache.flink.api.common.typeutils.base.ListSerializerSnapshot";
constexpr std::array kSimple = {kInt, kLong, kString, kBytes, kVoidNamespace};

SerializerSnapshot taken_from(DataOutputView& out) {
  const std::vector<std::byte> bytes = out.take();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void expect(std::int32_t found, std::int32_t wanted, const char* what) {
  if (found != wanted) {
    throw RestoreError(std::string(what) + ": expected " + std::to_string(wanted) + ", found " +
                       std::to_string(found));
  }
}

SerializerSnapshot read_versioned(DataInputView& in) {
  const std::string name = in.read_utf();
  expect(in.read_int(), kSnapshotVersion, "version of a serializer snapshot");
  for (const std::string_view simple : kSimple) {
    if (name == simple) return simple_serializer_snapshot(name);
  }
  if (name != kList) throw RestoreError("unknown serializer snapshot " + name);
  expect(in.read_int(), kCompositeMagic, "magic number of a composite serializer snapshot");
  expect(in.read_int(), kCompositeOuterVersion, "version of a composite serializer snapshot");
  expect(in.read_int(), kNestedMagic, "magic number of nested serializer snapshots");
  expect(in.read_int(), kNestedVersion, "version of nested serializer snapshots");
  expect(in.read_int(), 1, "number of nested serializer snapshots of a list");
  return list_serializer_snapshot(read_versioned(in));
}

}  // namespace

SerializerSnapshot simple_serializer_snapshot(std::string_view class_name) {
  DataOutputView out;
  out.write_utf(class_name);
  out.write_int(kSnapshotVersion);
  return taken_from(out);
}

SerializerSnapshot list_serializer_snapshot(const SerializerSnapshot& element) {
  DataOutputView out;
  out.write_utf(kList);
  for (const std::int32_t number : {kSnapshotVersion, kCompositeMagic, kCompositeOuterVersion,
                                    kNestedMagic, kNestedVersion, 1}) {
    out.write_int(number);
  }
  return taken_from(out) + element;
}

const SerializerSnapshot& void_namespace_serializer_snapshot() {
  static const SerializerSnapshot kSnapshot = simple_serializer_snapshot(kVoidNamespace);
  return kSnapshot;
}

void write_serializer_snapshot(const SerializerSnapshot& snapshot, DataOutputView& out) {
  out.write_int(kProxyVersion);
  out.write_bytes(std::as_bytes(std::span(snapshot)));
}

SerializerSnapshot read_serializer_snapshot(DataInputView& in) {
  expect(in.read_int(), kProxyVersion, "version of the serializer snapshot proxy");
  return read_versioned(in);
}

const SerializerSnapshot& TypeSerializer<std::int32_t>::snapshot() {
  static const SerializerSnapshot kSnapshot = simple_serializer_snapshot(kInt);
  return kSnapshot;
}
const SerializerSnapshot& TypeSerializer<std::int64_t>::snapshot() {
  static const SerializerSnapshot kSnapshot = simple_serializer_snapshot(kLong);
  return kSnapshot;
}
const SerializerSnapshot& TypeSerializer<std::string>::snapshot() {
  static const SerializerSnapshot kSnapshot = simple_serializer_snapshot(kString);
  return kSnapshot;
}
const SerializerSnapshot& TypeSerializer<Bytes>::snapshot() {
  static const SerializerSnapshot kSnapshot = simple_serializer_snapshot(kBytes);
  return kSnapshot;
}

Bytes TypeSerializer<Bytes>::read(DataInputView& in) {
  const std::int32_t length = in.read_int();
  if (length < 0) throw RestoreError("a byte array of negative length");
  const auto bytes = in.read_bytes(static_cast<std::size_t>(length));
  return {bytes.begin(), bytes.end()};
}

std::string TypeSerializer<Bytes>::text(const Bytes& value) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string result;
  for (const std::byte byte : value) {
    result += kDigits[std::to_integer<std::size_t>(byte >> 4)];
    result += kDigits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return result;
}

}  // namespace tailrace::engine
