// The hash of a text is that of its little-endian words, however it is computed.
#include "sim/base/hash.hpp"

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

namespace tailrace::base {
namespace {

// As the header describes it, byte by byte.
std::uint64_t described(const std::string& text) {
  RunningHash hash;
  hash.add(static_cast<std::uint64_t>(text.size()));
  for (std::size_t at = 0; at < text.size(); at += 8) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < 8 && at + i < text.size(); ++i) {
      word |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[at + i])) << (8 * i);
    }
    hash.add(word);
  }
  return hash.value();
}

TEST(HashBytes, IsThatOfLittleEndianWordsForEveryLength) {
  std::string text;
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(hash_bytes(text), described(text)) << "length " << i;
    text.push_back(static_cast<char>(37 * i + 200));  // bytes with and without the high bit
  }
}

TEST(HashBytes, NeverChanges) {
  // Trace hashes that are printed in documents depend on it.
  EXPECT_EQ(hash_bytes("tailrace"), 13305682760294516316U);
}

}  // namespace
}  // namespace tailrace::base
