// Constants of the `_metadata` file, format versions 2 to 4 (spec metadata-format.md 2 to 9, 12, 15).
#pragma once

#include <cstddef>
#include <cstdint>

namespace tailrace::engine::metadata {

inline constexpr std::uint32_t kHeaderMagic = 0x4960672D;
inline constexpr std::uint32_t kMasterStateMagic = 0xC96B1696;
inline constexpr std::int32_t kVersion1 = 1;  // Flink 1.2: tasks instead of operators
inline constexpr std::int32_t kVersion2 = 2;
inline constexpr std::int32_t kVersion3 = 3;
inline constexpr std::int32_t kVersion4 = 4;

// One number space for all places where a handle may stand.
inline constexpr std::uint8_t kNull = 0;
inline constexpr std::uint8_t kByteStream = 1;
inline constexpr std::uint8_t kFile = 2;
inline constexpr std::uint8_t kKeyGroups = 3;
inline constexpr std::uint8_t kPartitionableOperatorState = 4;
inline constexpr std::uint8_t kIncrementalKeyGroups = 5;
inline constexpr std::uint8_t kRelativeFile = 6;
inline constexpr std::uint8_t kSavepointKeyGroups = 7;
inline constexpr std::uint8_t kChangelog = 8;
inline constexpr std::uint8_t kChangelogBytes = 9;
inline constexpr std::uint8_t kChangelogFiles = 10;
inline constexpr std::uint8_t kIncrementalKeyGroupsWithId = 11;
inline constexpr std::uint8_t kKeyGroupsWithId = 12;
inline constexpr std::uint8_t kChangelogFilesWithStorage = 13;
inline constexpr std::uint8_t kChangelogWithCheckpointId = 14;
inline constexpr std::uint8_t kSegment = 15;
inline constexpr std::uint8_t kEmptySegment = 16;
inline constexpr std::uint8_t kFileMergingOperatorState = 17;

// A field of subtask entries up to version 2 that nobody uses any more.
inline constexpr std::int64_t kNoDuration = -1;
// Number of subtask entries of an operator whose subtasks had all finished (version 3 on).
inline constexpr std::int32_t kFullyFinished = -1;

inline constexpr std::int32_t kMaxParallelism = 32768;
// Levels of handles inside handles.
inline constexpr int kMaxDepth = 8;

// Smallest sizes of items, in bytes: a count that cannot fit is malformed.
inline constexpr std::size_t kMinMasterState = 18;
inline constexpr std::size_t kMinMasterStateBody = 10;
inline constexpr std::size_t kMinOperatorV2 = 32;
inline constexpr std::size_t kMinOperatorV3 = 29;
inline constexpr std::size_t kMinSubtaskV2 = 26;
inline constexpr std::size_t kMinSubtaskV3 = 4;
inline constexpr std::size_t kMinHandle = 1;
inline constexpr std::size_t kMinNamedState = 7;
inline constexpr std::size_t kOffsetBytes = 8;
inline constexpr std::size_t kMinIncrementalFile = 3;
inline constexpr std::size_t kMinChange = 8;
inline constexpr std::size_t kMinChangeFile = 9;
inline constexpr std::size_t kMinChannelHandle = 25;

}  // namespace tailrace::engine::metadata
