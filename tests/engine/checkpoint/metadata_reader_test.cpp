// What the reader of `_metadata` says to files that are hostile, or beyond the engine: versions,
// kinds of handles, depth, Java objects.
#include "engine/checkpoint/metadata/metadata_reader.hpp"

#include <functional>

#include <gtest/gtest.h>

#include "engine/checkpoint/metadata/java_object_stream.hpp"
#include "engine/checkpoint/metadata/metadata_format.hpp"
#include "engine/checkpoint/metadata/metadata_output.hpp"
#include "engine/checkpoint/metadata/properties_section.hpp"
#include "tests/engine/checkpoint/any_metadata.hpp"

namespace tailrace::engine {
namespace {

using metadata::MetadataOutput;
using Write = std::function<void(MetadataOutput&)>;

constexpr std::int32_t kParallelism = 2;
constexpr std::int32_t kMaxParallelism = 128;

void write_header(MetadataOutput& out, std::int32_t version) {
  out.u32(metadata::kHeaderMagic);
  out.i32(version);
  out.i64(17);
  out.count(0);  // master states
}

void write_operator(MetadataOutput& out, const OperatorId& id) {
  out.raw(std::as_bytes(std::span(id.bytes)));
}

// Version 4, one operator with subtask 1, whose fields after the index are `fields`.
std::vector<std::byte> with_subtask(const Write& fields) {
  MetadataOutput out;
  write_header(out, 4);
  out.count(1);
  write_operator(out, test::operator_id(0xAB));
  out.i32(kParallelism);
  out.i32(kMaxParallelism);
  out.u8(metadata::kNull);
  out.count(1);
  out.i32(1);
  fields(out);
  metadata::write_properties(out, std::nullopt);
  return out.take();
}
constexpr std::size_t kFieldsAt = 24 + 16 + 8 + 1 + 4 + 4;

struct Fields {
  Write managed_operator = [](MetadataOutput& out) { out.i32(0); };
  Write managed_keyed = [](MetadataOutput& out) { out.u8(metadata::kNull); };
  Write input_channels = [](MetadataOutput& out) { out.count(0); };
};
std::vector<std::byte> with_fields(const Fields& fields) {
  return with_subtask([&](MetadataOutput& out) {
    fields.managed_operator(out);
    out.i32(0);
    fields.managed_keyed(out);
    out.u8(metadata::kNull);
    fields.input_channels(out);
    out.count(0);
  });
}
constexpr std::size_t kManagedKeyedAt = kFieldsAt + 8;

void write_in_line(MetadataOutput& out) {
  out.u8(metadata::kByteStream);
  out.utf("name");
  out.bytes32(test::bytes_of("data"));
}
void write_segment(MetadataOutput& out) {
  out.u8(metadata::kSegment);
  out.i64(100);
  out.i64(10);
  out.i32(1);
  out.utf("file:/physical");
  out.utf("logical");
}
void write_key_groups(MetadataOutput& out, const Write& stream) {
  out.u8(metadata::kKeyGroupsWithId);
  out.i32(5);
  out.i32(1);
  out.i64(0);
  stream(out);
  out.utf("id");
}
void write_changes_in_line(MetadataOutput& out) {
  out.u8(metadata::kChangelogBytes);
  out.i32(0);
  out.i32(1);
  out.i64(0);
  out.i64(1);
  out.count(1);
  out.i32(-1);
  out.bytes32(test::bytes_of("change"));
  out.utf("id");
}
void write_changelog(MetadataOutput& out, const Write& base, const Write& change) {
  out.u8(metadata::kChangelogWithCheckpointId);
  out.i32(0);
  out.i32(1);
  out.i64(-1);
  out.count(1);
  base(out);
  out.count(1);
  change(out);
  out.i64(3);
  out.i64(4);
  out.utf("id");
}

// Says that `bytes` hold exactly one thing without a handle, at `offset`.
void expect_left_out(const std::vector<std::byte>& bytes, std::size_t offset,
                     std::optional<int> type, const std::string& kind) {
  const auto reading = read_checkpoint_metadata(bytes);
  ASSERT_TRUE(reading.ok()) << reading.error().message;
  ASSERT_EQ(reading.value().left_out.size(), 1U);
  const UnsupportedState& state = reading.value().left_out.front();
  EXPECT_EQ(state.offset, offset);
  EXPECT_EQ(state.type, type);
  EXPECT_EQ(state.subtask, 1);
  EXPECT_EQ(state.operator_id, test::operator_id(0xAB));

  const auto loaded = load_checkpoint_metadata(bytes);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().offset, offset);
  const std::string named = type ? kind + " (type " + std::to_string(*type) + ")" : kind;
  EXPECT_EQ(loaded.error().message, named + " of operator " + test::operator_id(0xAB).hex() +
                                        ", subtask 1, which this engine has no handle for");
}

void expect_error(const std::vector<std::byte>& bytes, std::size_t offset,
                  const std::string& part_of_message) {
  const auto reading = read_checkpoint_metadata(bytes);
  ASSERT_FALSE(reading.ok());
  EXPECT_EQ(reading.error().offset, offset) << reading.error().message;
  EXPECT_NE(reading.error().message.find(part_of_message), std::string::npos)
      << reading.error().message;
}

TEST(MetadataReader, KnowsTheVersions) {
  for (const std::int32_t version : {-1, 0, 1, 5, 6}) {
    MetadataOutput out;
    write_header(out, version);
    out.count(0);
    expect_error(out.take(), 4, "format version " + std::to_string(version));
  }
  for (const std::int32_t version : {2, 3}) {
    MetadataOutput out;
    write_header(out, version);
    out.count(0);
    const auto reading = read_checkpoint_metadata(out.take());
    ASSERT_TRUE(reading.ok()) << reading.error().message;
    EXPECT_EQ(reading.value().version, version);
    EXPECT_EQ(reading.value().metadata.properties, std::nullopt);
  }
}

TEST(MetadataReader, RefusesFilesAboveTheLimit) {
  const std::vector<std::byte> bytes = with_fields({});
  EXPECT_TRUE(read_checkpoint_metadata(bytes, {.max_bytes = bytes.size()}).ok());
  EXPECT_FALSE(read_checkpoint_metadata(bytes, {.max_bytes = bytes.size() - 1}).ok());
}

TEST(MetadataReader, NamesKindsWithoutAHandleWithTheirOffset) {
  expect_left_out(
      with_fields({.managed_keyed =
                       [](MetadataOutput& out) {
                         write_changelog(
                             out,
                             [](MetadataOutput& base) { write_key_groups(base, &write_segment); },
                             &write_changes_in_line);
                       }}),
      kManagedKeyedAt, 14, "keyed state of a changelog");
  expect_left_out(with_fields({.managed_keyed = &write_changes_in_line}), kManagedKeyedAt, 9,
                  "changes of keyed state");
  // Of a handle that is known as such, the stream is what is not.
  expect_left_out(
      with_fields(
          {.managed_keyed = [](MetadataOutput& out) { write_key_groups(out, &write_segment); }}),
      kManagedKeyedAt + 1 + 4 + 4 + 8, 15, "state in a segment of a file");
  expect_left_out(with_fields({.managed_operator =
                                   [](MetadataOutput& out) {
                                     out.i32(1);
                                     out.u8(metadata::kFileMergingOperatorState);
                                     out.count(0);
                                     out.utf("file:/task");
                                     out.utf("file:/shared");
                                     out.u8(1);
                                     out.u8(metadata::kEmptySegment);
                                   }}),
                  kFieldsAt + 4, 17, "operator state in a merged file");
  expect_left_out(with_fields({.input_channels =
                                   [](MetadataOutput& out) {
                                     out.count(1);
                                     for (int i = 0; i < 3; ++i) out.i32(i);
                                     out.count(0);
                                     out.i64(9);
                                     out.u8(metadata::kEmptySegment);
                                   }}),
                  kManagedKeyedAt + 2 + 4 + 12 + 4 + 8, metadata::kEmptySegment,
                  "state in an empty segment of a file");
}

TEST(MetadataReader, ReadsTheBuffersInFlightOfAChannel) {
  const auto reading =
      read_checkpoint_metadata(with_fields({.input_channels = [](MetadataOutput& out) {
        out.count(1);
        for (int i = 1; i < 4; ++i) out.i32(i);
        out.count(2);
        out.i64(4);
        out.i64(40);
        out.i64(72);
        write_in_line(out);
      }}));
  ASSERT_TRUE(reading.ok());
  const OperatorStates& states = reading.value().metadata.operator_states;
  const auto& channels = states.begin()->second.subtasks.at(1).input_channels;
  ASSERT_EQ(channels.size(), 1U);
  EXPECT_EQ(channels[0].subtask, 1);
  EXPECT_EQ(channels[0].info, (InputChannelInfo{2, 3}));
  EXPECT_EQ(channels[0].offsets, (std::vector<std::int64_t>{4, 40}));
  EXPECT_EQ(channels[0].size_bytes, 72);
  EXPECT_NE(channels[0].delegate, nullptr);
}

TEST(MetadataReader, KeepsTheRestOfAFileWhenItLeavesSomethingOut) {
  const auto reading =
      read_checkpoint_metadata(with_fields({.managed_operator =
                                                [](MetadataOutput& out) {
                                                  out.i32(1);
                                                  out.u8(metadata::kPartitionableOperatorState);
                                                  out.count(0);
                                                  write_in_line(out);
                                                },
                                            .managed_keyed = &write_changes_in_line}));
  ASSERT_TRUE(reading.ok()) << reading.error().message;
  const OperatorSubtaskState& state =
      reading.value().metadata.operator_states.begin()->second.subtasks.at(1);
  EXPECT_EQ(state.managed_operator.size(), 1U);
  EXPECT_TRUE(state.managed_keyed.empty());
}

TEST(MetadataReader, ChecksWhatItLeavesOut) {
  expect_error(with_fields({.managed_keyed =
                                [](MetadataOutput& out) {
                                  write_changelog(out, &write_changes_in_line,
                                                  [](MetadataOutput& change) {
                                                    write_key_groups(change, &write_in_line);
                                                  });
                                }}),
               kManagedKeyedAt + 21 + 47 + 4, "no changes: type 12");
}

TEST(MetadataReader, BoundsTheDepthOfHandles) {
  const auto nested = [](int depth) {
    return with_fields({.managed_keyed = [depth](MetadataOutput& out) {
      write_key_groups(out, [depth](MetadataOutput& stream) {
        for (int i = 0; i < depth; ++i) {
          stream.u8(metadata::kKeyGroups);
          stream.i32(0);
          stream.i32(0);
        }
        write_in_line(stream);
      });
    }});
  };
  EXPECT_TRUE(read_checkpoint_metadata(nested(8)).ok());
  expect_error(nested(9), kManagedKeyedAt + 17 + 8 * 9, "nested too deeply");

  const auto nested_changelogs = [](int depth) {
    Write changelog = [](MetadataOutput& out) { out.u8(metadata::kNull); };
    for (int i = 0; i < depth; ++i) {
      changelog = [inner = changelog](MetadataOutput& out) {
        write_changelog(out, inner, &write_changes_in_line);
      };
    }
    return with_fields({.managed_keyed = changelog});
  };
  EXPECT_TRUE(read_checkpoint_metadata(nested_changelogs(8)).ok());
  EXPECT_FALSE(read_checkpoint_metadata(nested_changelogs(9)).ok());
}

TEST(MetadataReader, RefusesUnknownTypesAndNullsOutOfPlace) {
  for (const int type : {1, 2, 4, 6, 15, 16, 17, 18, 255}) {
    expect_error(
        with_fields({.managed_keyed =
                         [type](MetadataOutput& out) { out.u8(static_cast<std::uint8_t>(type)); }}),
        kManagedKeyedAt, "unknown type of keyed state: " + std::to_string(type));
  }
  expect_error(with_fields({.managed_keyed =
                                [](MetadataOutput& out) {
                                  write_key_groups(out, [](MetadataOutput& stream) {
                                    stream.u8(metadata::kNull);
                                  });
                                }}),
               kManagedKeyedAt + 17, "no handle where one must be");
  expect_error(with_fields({.managed_operator = [](MetadataOutput& out) { out.i32(2); }}),
               kFieldsAt, "neither 0 nor 1");
}

TEST(MetadataReader, ASubtaskOccursOnceFinishedOrNot) {
  MetadataOutput out;
  write_header(out, 4);
  out.count(1);
  write_operator(out, test::operator_id(1));
  out.i32(kParallelism);
  out.i32(kMaxParallelism);
  out.u8(metadata::kNull);
  out.count(2);
  out.i32(-2);  // subtask 1 has finished
  out.i32(1);
  expect_error(out.take(), kFieldsAt, "subtask 1 occurs twice");
}

TEST(MetadataReader, AFullyFinishedOperatorHasNoCoordinatorState) {
  MetadataOutput out;
  write_header(out, 3);
  out.count(1);
  write_operator(out, test::operator_id(1));
  out.i32(kParallelism);
  out.i32(kMaxParallelism);
  write_in_line(out);
  const std::size_t at = kFieldsAt - 8 - 1 + 15;
  out.i32(-1);
  expect_error(out.take(), at, "fully finished");
}

TEST(MetadataReader, ACountBelowMinusOneIsNoMark) {
  MetadataOutput out;
  write_header(out, 3);
  out.count(1);
  write_operator(out, test::operator_id(1));
  out.i32(kParallelism);
  out.i32(kMaxParallelism);
  out.u8(metadata::kNull);
  out.i32(-2);
  expect_error(out.take(), kFieldsAt - 8, "impossible number of subtasks: -2");
}

// ---- Java objects

std::vector<std::byte> with_properties(const Write& properties) {
  MetadataOutput out;
  write_header(out, 4);
  out.count(0);
  properties(out);
  return out.take();
}
constexpr std::size_t kPropertiesAt = 24;
constexpr std::size_t kValueAt = kPropertiesAt + 4;

void begin_stream(MetadataOutput& out) {
  out.u16(metadata::JavaObjectStream::kMagic);
  out.u16(metadata::JavaObjectStream::kVersion);
}
void begin_class(MetadataOutput& out, std::string_view name, std::uint16_t fields) {
  out.u8(0x72);
  out.utf(name);
  out.i64(2);
  out.u8(0x02);
  out.u16(fields);
}
constexpr const char* kPropertiesClass = "org.apache.flink.runtime.checkpoint.CheckpointProperties";

TEST(JavaObjects, EveryTagThatDoesNotOccurIsRefused) {
  for (int tag = 0; tag < 256; ++tag) {
    if (tag >= 0x70 && tag <= 0x7E && tag != 0x72 && tag != 0x75 && tag != 0x76 &&
        !(tag >= 0x77 && tag <= 0x7D)) {
      continue;
    }
    expect_error(with_properties([tag](MetadataOutput& out) {
                   begin_stream(out);
                   out.u8(static_cast<std::uint8_t>(tag));
                 }),
                 kValueAt, "tag " + std::to_string(tag));
  }
}

TEST(JavaObjects, AReferenceMustNameWhatHasOccurred) {
  for (const std::uint32_t number : {0U, 0x7DFFFFU, 0x7E0000U, 0xFFFFFFFFU}) {
    expect_error(with_properties([number](MetadataOutput& out) {
                   begin_stream(out);
                   out.u8(0x71);
                   out.u32(number);
                 }),
                 kValueAt, "has not occurred");
  }
}

TEST(JavaObjects, AClassMayNotBeItsOwnParent) {
  expect_error(with_properties([](MetadataOutput& out) {
                 begin_stream(out);
                 out.u8(0x73);
                 begin_class(out, kPropertiesClass, 0);
                 out.u8(0x78);
                 out.u8(0x71);
                 out.u32(0x7E0000);
               }),
               kValueAt, "too many parents");
}

TEST(JavaObjects, NestingAndFieldsAreBounded) {
  expect_error(with_properties([](MetadataOutput& out) {
                 begin_stream(out);
                 for (int i = 0; i < 40; ++i) {
                   out.u8(0x73);
                   begin_class(out, "C", 1);
                   out.u8('L');
                   out.utf("f");
                   out.u8(0x74);
                   out.utf("LC;");
                   out.u8(0x78);
                   out.u8(0x70);
                 }
               }),
               kValueAt + 16 * 28, "nested too deeply");
  const auto fields = read_checkpoint_metadata(with_properties([](MetadataOutput& out) {
    begin_stream(out);
    out.u8(0x73);
    begin_class(out, "C", 257);
  }));
  ASSERT_FALSE(fields.ok());
  EXPECT_NE(fields.error().message.find("too many fields"), std::string::npos);
  const auto size = read_checkpoint_metadata(with_properties([](MetadataOutput& out) {
    begin_stream(out);
    out.u8(0x70);
    out.raw(std::vector<std::byte>(metadata::JavaObjectStream::kMaxBytes));
  }));
  ASSERT_FALSE(size.ok());
  EXPECT_EQ(size.error().offset, kPropertiesAt);
}

TEST(JavaObjects, ClassesThatWriteThemselvesAreRefused) {
  for (const int flags : {0x00, 0x03, 0x04, 0x0C, 0x13}) {
    const auto read = read_checkpoint_metadata(with_properties([flags](MetadataOutput& out) {
      begin_stream(out);
      out.u8(0x73);
      out.u8(0x72);
      out.utf("C");
      out.i64(2);
      out.u8(static_cast<std::uint8_t>(flags));
      out.u16(0);
      out.u8(0x78);
      out.u8(0x70);
    }));
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().offset, kValueAt + 1 + 1 + 3 + 8) << read.error().message;
  }
}

TEST(JavaObjects, PropertiesMustBeProperties) {
  expect_error(with_properties([](MetadataOutput& out) {
                 begin_stream(out);
                 out.u8(0x74);
                 out.utf("text");
               }),
               kPropertiesAt, "no CheckpointProperties");
  expect_error(with_properties([](MetadataOutput& out) {
                 begin_stream(out);
                 out.u8(0x73);
                 begin_class(out, "java.util.HashMap", 0);
                 out.u8(0x78);
                 out.u8(0x70);
               }),
               kPropertiesAt, "no CheckpointProperties");
  expect_error(with_properties([](MetadataOutput& out) {
                 begin_stream(out);
                 out.u8(0x73);
                 begin_class(out, kPropertiesClass, 0);
                 out.u8(0x78);
                 out.u8(0x70);
               }),
               kPropertiesAt, "without a snapshot type");
}

// Byte by byte: whatever becomes of real properties, the reader ends with a value or an error.
TEST(JavaObjects, AnyByteOfRealPropertiesMayBeAnything) {
  CheckpointProperties properties =
      CheckpointProperties::for_sync_savepoint(true, true, SavepointFormatType::NATIVE);
  const std::vector<std::byte> bytes =
      with_properties([&](MetadataOutput& out) { metadata::write_properties(out, properties); });
  int still_read = 0;
  for (std::size_t at = kPropertiesAt; at < bytes.size(); ++at) {
    for (const int value : {0x00, 0x02, 0x12, 0x70, 0x71, 0x72, 0x73, 0x74, 0x7E, 0x80, 0xFF}) {
      std::vector<std::byte> wrong = bytes;
      wrong[at] = static_cast<std::byte>(value);
      const auto read = read_checkpoint_metadata(wrong);
      if (read.ok()) {
        ++still_read;
      } else {
        EXPECT_LE(read.error().offset, wrong.size());
      }
    }
  }
  // The derived hash of SavepointType, names of unknown fields: these mean nothing to a reader.
  EXPECT_GT(still_read, 8);
}

}  // namespace
}  // namespace tailrace::engine
