// Constants of the `_metadata` file (spec metadata-format.md 2 to 8 and 15).
#pragma once

#include <cstddef>
#include <cstdint>

namespace tailrace::engine::metadata {

inline constexpr std::uint32_t kHeaderMagic = 0x4960672D;
inline constexpr std::uint32_t kMasterStateMagic = 0xC96B1696;
inline constexpr std::int32_t kVersion2 = 2;

// One number space for all places where a handle may stand.
inline constexpr std::uint8_t kNull = 0;
inline constexpr std::uint8_t kByteStream = 1;
inline constexpr std::uint8_t kFile = 2;
inline constexpr std::uint8_t kKeyGroups = 3;
inline constexpr std::uint8_t kPartitionableOperatorState = 4;
inline constexpr std::uint8_t kIncrementalKeyGroups = 5;

// A field of subtask entries that nobody uses any more.
inline constexpr std::int64_t kNoDuration = -1;

inline constexpr std::int32_t kMaxParallelism = 32768;

// Smallest sizes of items, in bytes: a count that cannot fit is malformed (spec 12).
inline constexpr std::size_t kMinMasterState = 18;
inline constexpr std::size_t kMinMasterStateBody = 10;
inline constexpr std::size_t kMinOperator = 32;
inline constexpr std::size_t kMinSubtask = 26;
inline constexpr std::size_t kMinLegacyHandle = 1;
inline constexpr std::size_t kMinNamedState = 7;
inline constexpr std::size_t kOffsetBytes = 8;
inline constexpr std::size_t kMinIncrementalFile = 9;

}  // namespace tailrace::engine::metadata
