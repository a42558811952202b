// Tags and flags of Java's object serialization that occur in snapshot properties.
#pragma once

#include <cstdint>

namespace tailrace::engine::metadata::java {

inline constexpr std::uint8_t kNullTag = 0x70;
inline constexpr std::uint8_t kReferenceTag = 0x71;
inline constexpr std::uint8_t kClassTag = 0x72;
inline constexpr std::uint8_t kObjectTag = 0x73;
inline constexpr std::uint8_t kStringTag = 0x74;
inline constexpr std::uint8_t kEndOfFieldsTag = 0x78;
inline constexpr std::uint8_t kEnumTag = 0x7E;

inline constexpr std::uint8_t kSerializableFlag = 0x02;
inline constexpr std::uint8_t kEnumFlags = 0x12;

}  // namespace tailrace::engine::metadata::java
