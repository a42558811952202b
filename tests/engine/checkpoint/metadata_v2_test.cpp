// The metadata file of 1.10: what is written comes back, what Flink wrote is read, nothing hostile
// gets through.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "engine/checkpoint/metadata/metadata_v2_serializer.hpp"
#include "engine/checkpoint/metadata/modified_utf8.hpp"
#include "tests/engine/checkpoint/any_metadata.hpp"
#include "tests/engine/checkpoint/expected_metadata.hpp"

namespace tailrace::engine {
namespace {

using test::any_metadata;
using test::metadata_to_json;

std::vector<std::byte> write(const CheckpointMetadata& metadata) {
  return MetadataV2Serializer::serialize(metadata.checkpoint_id, metadata.master_states,
                                         metadata.operator_states);
}

RC_GTEST_PROP(MetadataV2, WhatIsWrittenComesBack, ()) {
  const CheckpointMetadata metadata = any_metadata(2);
  const std::vector<std::byte> bytes = write(metadata);
  const auto read = MetadataV2Serializer::deserialize(bytes);
  if (!read.ok()) RC_FAIL(read.error().message);
  RC_ASSERT(metadata_to_json({read.value(), {}, 2}) == metadata_to_json({metadata, {}, 2}));
  RC_ASSERT(write(read.value()) == bytes);  // the payloads too
}

RC_GTEST_PROP(MetadataV2, EveryTruncationIsAnErrorWithinTheBytes, ()) {
  const std::vector<std::byte> bytes = write(any_metadata(2));
  const auto length = *rc::gen::inRange<std::size_t>(0, bytes.size());
  const auto read = MetadataV2Serializer::deserialize(std::span(bytes).first(length));
  RC_ASSERT(!read.ok());
  RC_ASSERT(read.error().offset <= length);
}

RC_GTEST_PROP(MetadataV2, AnyByteMayBeWrongWithoutHarm, ()) {
  std::vector<std::byte> bytes = write(any_metadata(2));
  const auto at = *rc::gen::inRange<std::size_t>(0, bytes.size());
  bytes[at] = static_cast<std::byte>(*rc::gen::inRange(0, 256));
  const auto read = MetadataV2Serializer::deserialize(bytes);
  if (!read.ok()) RC_ASSERT(!read.error().message.empty());
}

TEST(MetadataV2, BytesAfterTheEndAreAnError) {
  std::vector<std::byte> bytes =
      write({.checkpoint_id = 7, .master_states = {}, .operator_states = {}, .properties = {}});
  ASSERT_TRUE(MetadataV2Serializer::deserialize(bytes).ok());
  bytes.push_back(std::byte{0});
  const auto read = MetadataV2Serializer::deserialize(bytes);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().offset, bytes.size() - 1);
}

TEST(MetadataV2, AHugeCountReservesNoMemory) {
  std::vector<std::byte> bytes =
      write({.checkpoint_id = 7, .master_states = {}, .operator_states = {}, .properties = {}});
  for (std::size_t at = 20; at < 24; ++at) bytes[at] = std::byte{0x7F};  // number of operators
  const auto read = MetadataV2Serializer::deserialize(bytes);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().offset, 20U);
}

TEST(MetadataV2, TheHeaderIsFlinks) {
  const std::vector<std::byte> bytes = write(
      {.checkpoint_id = 0x0102, .master_states = {}, .operator_states = {}, .properties = {}});
  const std::vector<int> expected = {0x49, 0x60, 0x67, 0x2D, 0, 0, 0, 2, 0, 0, 0, 0,
                                     0,    0,    1,    2,    0, 0, 0, 0, 0, 0, 0, 0};
  ASSERT_EQ(bytes.size(), expected.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_EQ(std::to_integer<int>(bytes[i]), expected[i]) << "byte " << i;
  }
}

TEST(ModifiedUtf8, CharactersBeyondTheBasicPlaneTakeSixBytes) {
  const std::string text = "a\xF0\x9F\x98\x80z";
  const std::string encoded = to_modified_utf8(text);
  EXPECT_EQ(encoded, "a\xED\xA0\xBD\xED\xB8\x80z");
  EXPECT_EQ(from_modified_utf8(encoded), text);
}

TEST(ModifiedUtf8, ZeroTakesTwoBytes) {
  const std::string text("a\0b", 3);
  EXPECT_EQ(to_modified_utf8(text),
            "a\xC0\x80"
            "b");
  EXPECT_EQ(from_modified_utf8(to_modified_utf8(text)), text);
}

TEST(ModifiedUtf8, BrokenGroupsAreRefused) {
  for (const char* bad : {"\x80", "\xF0\x9F\x98\x80", "\xC3", "\xC3z", "\xE2\x82"}) {
    EXPECT_EQ(from_modified_utf8(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace tailrace::engine
