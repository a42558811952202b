// Texts that make a record take an exact number of bytes on the wire.
//
// A record is 4 bytes of length, 1 of tag, 8 of timestamp, the length of its text and the text (spec
// barriers.md 6.2). Where the length of a text takes another byte, one size in between has no text
// of ASCII alone; such a text has one letter that takes two bytes.
#pragma once

#include <cstdint>
#include <string>

namespace tailrace::scenarios {

inline constexpr std::int64_t kBytesBesideText = 4 + 1 + 8;

// Characters of the text of a record of that size. Requires: wire_bytes >= 15.
[[nodiscard]] std::int64_t text_units(std::int64_t wire_bytes);

// A text of that many characters, all of them `fill` but a letter of two bytes at its end where one
// is needed. Requires: wire_bytes >= 15.
[[nodiscard]] std::string filled_text(std::int64_t wire_bytes, char fill);

// Makes the text of a record with this key from a filled one: the key in decimal digits and a space
// take the place of its first characters. Requires: key >= 0, and its digits fit.
void put_key(std::string& text, std::int64_t key);

}  // namespace tailrace::scenarios
