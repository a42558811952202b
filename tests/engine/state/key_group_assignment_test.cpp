// Key groups: the worked table of the rescaling specification, and what holds for all of them.
#include "engine/state/key_group_assignment.hpp"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tailrace::engine {
namespace {

std::int32_t tuple(std::initializer_list<std::int32_t> field_hashes) {
  return java_tuple_hash({field_hashes.begin(), field_hashes.size()});
}

struct WorkedRow {
  int number;
  std::int32_t computed_hash;
  std::int32_t hash;
  std::int32_t murmur;
  std::int32_t max_parallelism;
  std::int32_t parallelism;
  std::int32_t key_group;
  std::int32_t subtask;
  KeyGroupRange range;
};

// Spec rescale.md 2.4, row by row.
const WorkedRow kWorkedRows[] = {
    {1, 0, 0, 593689054, 128, 1, 94, 0, {0, 127}},
    {2, 1, 1, 68075478, 128, 2, 86, 1, {64, 127}},
    {3, 2, 2, 1085422463, 128, 3, 127, 2, {86, 127}},
    {4, 3, 3, 847579505, 128, 4, 113, 3, {96, 127}},
    {5, 7, 7, 1343918321, 128, 8, 113, 7, {112, 127}},
    {6, 42, 42, 1134849565, 128, 16, 29, 3, {24, 31}},
    {7, -1, -1, 1982413648, 256, 5, 80, 1, {52, 102}},
    {8, 100, 100, 616682048, 256, 64, 64, 16, {64, 67}},
    {9, 1000, 1000, 3506311, 720, 7, 631, 6, {618, 719}},
    {10, 65535, 65535, 1986290322, 4096, 10, 658, 1, {410, 819}},
    {11, 123456789, 123456789, 1088346449, 32768, 64, 22865, 44, {22528, 23039}},
    {12, 2147483647, 2147483647, 1653689534, 128, 64, 62, 31, {62, 63}},
    {13,
     std::numeric_limits<std::int32_t>::min(),
     std::numeric_limits<std::int32_t>::min(),
     1718298732,
     720,
     12,
     12,
     0,
     {0, 59}},
    {14, java_long_hash(0), 0, 593689054, 128, 4, 94, 2, {64, 95}},
    {15, java_long_hash(1), 1, 68075478, 128, 6, 86, 4, {86, 106}},
    {16, java_long_hash(-1), 0, 593689054, 128, 4, 94, 2, {64, 95}},
    {17, java_long_hash(42), 42, 1134849565, 256, 8, 29, 0, {0, 31}},
    {18, java_long_hash(4294967296), 1, 68075478, 128, 4, 86, 2, {64, 95}},
    {19, java_long_hash(4294967297), 0, 593689054, 720, 9, 94, 1, {80, 159}},
    {20, java_long_hash(1234567890123), 1912276436, 1151597916, 4096, 33, 3420, 27, {3352, 3475}},
    {21,
     java_long_hash(9223372036854775807),
     std::numeric_limits<std::int32_t>::min(),
     1718298732,
     32768,
     48,
     10348,
     15,
     {10240, 10922}},
    {22,
     java_long_hash(std::numeric_limits<std::int64_t>::min()),
     std::numeric_limits<std::int32_t>::min(),
     1718298732,
     32768,
     64,
     10348,
     20,
     {10240, 10751}},
    {23, java_long_hash(1700000000000), -807048821, 1892790720, 720, 24, 0, 0, {0, 29}},
    {24, java_string_hash(""), 0, 593689054, 128, 4, 94, 2, {64, 95}},
    {25, java_string_hash("a"), 97, 1455541201, 128, 2, 81, 1, {64, 127}},
    {26, java_string_hash("b"), 98, 516420758, 128, 3, 22, 0, {0, 42}},
    {27, java_string_hash("hello"), 99162322, 1715862179, 128, 5, 35, 1, {26, 51}},
    {28, java_string_hash("flink"), 97520992, 1330823394, 128, 8, 98, 6, {96, 111}},
    {29, java_string_hash("key-1"), 101943363, 23124534, 256, 4, 54, 0, {0, 63}},
    {30, java_string_hash("key-2"), 101943364, 1439814910, 256, 4, 254, 3, {192, 255}},
    {31, java_string_hash("user-42"), -147182656, 1600933524, 720, 10, 564, 7, {504, 575}},
    {32,
     java_string_hash("The quick brown fox"),
     -1739336029,
     1018809842,
     4096,
     16,
     3570,
     13,
     {3328, 3583}},
    {33, java_string_hash("Aa"), 2112, 506449132, 128, 4, 108, 3, {96, 127}},
    {34, java_string_hash("BB"), 2112, 506449132, 128, 4, 108, 3, {96, 127}},
    {35, java_string_hash("é"), 233, 1107437598, 128, 4, 30, 0, {0, 31}},
    {36, java_string_hash("ñandú"), 225567348, 367953287, 256, 6, 135, 3, {128, 170}},
    {37, java_string_hash("中"), 20013, 631843097, 720, 8, 617, 6, {540, 629}},
    {38, java_string_hash("中文键"), 20076404, 209843285, 720, 8, 5, 0, {0, 89}},
    {39, java_string_hash("Привет"), 1177014952, 1907259062, 4096, 12, 1718, 5, {1707, 2047}},
    {40, java_string_hash("😀"), 1772899, 1934073014, 32768, 64, 7350, 14, {7168, 7679}},
    {41, java_string_hash("key😀"), 103714818, 1375475009, 32768, 32, 5441, 5, {5120, 6143}},
    {42, java_boolean_hash(true), 1231, 1090530765, 128, 4, 77, 2, {64, 95}},
    {43, java_boolean_hash(false), 1237, 1530821891, 128, 4, 3, 0, {0, 31}},
    {44, -1, -1, 1982413648, 128, 4, 80, 2, {64, 95}},
    {45, 32767, 32767, 1389705724, 256, 3, 252, 2, {171, 255}},
    {46, -128, -128, 1319572171, 128, 4, 75, 2, {64, 95}},
    {47, 65, 65, 743412968, 720, 6, 8, 0, {0, 119}},
    {48, java_char_hash(u'A'), 65, 743412968, 720, 6, 8, 0, {0, 119}},
    {49, java_char_hash(u'中'), 20013, 631843097, 4096, 20, 2329, 11, {2253, 2457}},
    {50, java_double_hash(0.0), 0, 593689054, 128, 8, 94, 5, {80, 95}},
    {51,
     java_double_hash(-0.0),
     std::numeric_limits<std::int32_t>::min(),
     1718298732,
     128,
     8,
     108,
     6,
     {96, 111}},
    {52, java_double_hash(1.0), 1072693248, 1409882055, 720, 8, 375, 4, {360, 449}},
    {53, java_double_hash(-1.5), -1074266112, 1688987191, 720, 8, 391, 4, {360, 449}},
    {54, java_double_hash(3.141592653589793), 340593891, 552755147, 720, 8, 347, 3, {270, 359}},
    {55,
     java_double_hash(std::numeric_limits<double>::quiet_NaN()),
     2146959360,
     1585394089,
     720,
     8,
     169,
     1,
     {90, 179}},
    {56, java_float_hash(0.0f), 0, 593689054, 256, 16, 222, 13, {208, 223}},
    {57,
     java_float_hash(-0.0f),
     std::numeric_limits<std::int32_t>::min(),
     1718298732,
     256,
     16,
     108,
     6,
     {96, 111}},
    {58, java_float_hash(1.0f), 1065353216, 443043632, 256, 16, 48, 3, {48, 63}},
    {59, java_float_hash(2.5f), 1075838976, 165298770, 256, 16, 82, 5, {80, 95}},
    {60,
     java_float_hash(std::numeric_limits<float>::quiet_NaN()),
     2143289344,
     1927335251,
     256,
     16,
     83,
     5,
     {80, 95}},
    {61,
     java_uuid_hash(0x123e4567e89b12d3U, 0xa456426614174000U),
     1256478162,
     1329089817,
     128,
     7,
     25,
     1,
     {19, 36}},
    {62,
     java_uuid_hash(0x0000000000000000U, 0x0000000000000000U),
     0,
     593689054,
     128,
     7,
     94,
     5,
     {92, 109}},
    {63, tuple({java_string_hash("a")}), 97, 1455541201, 128, 2, 81, 1, {64, 127}},
    {64, tuple({1, 2}), 33, 1605105309, 128, 4, 29, 0, {0, 31}},
    {65, tuple({2, 1}), 63, 165199404, 128, 4, 44, 1, {32, 63}},
    {66,
     tuple({java_string_hash("a"), java_long_hash(1)}),
     3008,
     1123382429,
     256,
     9,
     157,
     5,
     {143, 170}},
    {67,
     tuple({java_string_hash("user-42"), 0}),
     -267695040,
     1586061146,
     720,
     24,
     506,
     16,
     {480, 509}},
    {68, tuple({1, 2, 3}), 1026, 1148688762, 4096, 31, 2426, 18, {2379, 2510}},
    {69,
     tuple({java_string_hash("中"), java_boolean_hash(true), java_long_hash(-1)}),
     19270654,
     1731993257,
     32768,
     50,
     7849,
     11,
     {7209, 7864}},
    {70,
     tuple({java_string_hash("a"), java_string_hash("b"), java_string_hash("c"),
            java_string_hash("d")}),
     2987074,
     946207298,
     32768,
     63,
     31298,
     60,
     {31208, 31727}},
    {71, -2089875627, -2089875627, 0, 128, 4, 0, 0, {0, 31}},
    {72, -1035494534, -1035494534, 0, 720, 8, 0, 0, {0, 89}},
    {73, 994512208, 994512208, 2147483647, 720, 8, 127, 1, {90, 179}},
    {74, 1814469223, 1814469223, 2147483647, 32768, 64, 32767, 63, {32256, 32767}},
};

TEST(KeyGroupAssignment, AgreesWithTheWorkedTable) {
  for (const WorkedRow& row : kWorkedRows) {
    SCOPED_TRACE("row " + std::to_string(row.number));
    EXPECT_EQ(row.computed_hash, row.hash);
    EXPECT_EQ(murmur_hash(row.hash), row.murmur);
    EXPECT_EQ(assign_to_key_group(row.hash, row.max_parallelism), row.key_group);
    EXPECT_EQ(
        compute_operator_index_for_key_group(row.max_parallelism, row.parallelism, row.key_group),
        row.subtask);
    EXPECT_EQ(assign_key_to_parallel_operator(row.hash, row.max_parallelism, row.parallelism),
              row.subtask);
    EXPECT_EQ(compute_key_group_range_for_operator_index(row.max_parallelism, row.parallelism,
                                                         row.subtask),
              row.range);
  }
}

TEST(JavaHash, OfAListDiffersFromThatOfATuple) {
  const std::int32_t fields[] = {1, 2};
  EXPECT_EQ(java_list_hash(fields), 994);
  EXPECT_EQ(java_tuple_hash(fields), 33);
}

TEST(JavaHash, TakesWhatJavaWritesButUtf8Forbids) {
  // U+1F600 as two surrogates of three bytes each, and U+0000 as C0 80.
  EXPECT_EQ(java_string_hash("\xED\xA0\xBD\xED\xB8\x80"), java_string_hash(u"\U0001F600"));
  EXPECT_EQ(java_string_hash("\xED\xA0\xBD"), 0xD83D);
  EXPECT_EQ(java_string_hash("a\xC0\x80"), 97 * 31);
}

TEST(JavaHash, CountsEachByteThatStartsNothingAsOneReplacementCharacter) {
  for (const char* bad : {"\xFF", "\x80", "\xC3", "\xC0", "\xF5"}) {
    EXPECT_EQ(java_string_hash(bad), 0xFFFD) << bad;
  }
  EXPECT_EQ(java_string_hash("\xE4\xB8"), java_string_hash(u"\uFFFD\uFFFD"));  // cut short
  EXPECT_EQ(java_string_hash("\xE0\x80\x80"), java_string_hash(u"\uFFFD\uFFFD\uFFFD"));
  EXPECT_EQ(java_string_hash("\xF4\x90\x80\x80"),
            java_string_hash(u"\uFFFD\uFFFD\uFFFD\uFFFD"));  // beyond U+10FFFF
}

TEST(JavaHash, TakesAllNansForOne) {
  EXPECT_EQ(java_double_hash_of_bits(0x7FF0000000000001U), 2146959360);
  EXPECT_EQ(java_double_hash_of_bits(0xFFFFFFFFFFFFFFFFU), 2146959360);
  EXPECT_EQ(java_double_hash_of_bits(0x7FF0000000000000U), 2146435072);  // infinity is none
}

// Rows KG-5.
TEST(KeyGroupAssignment, PutsEveryKeyGroupIntoTheRangeOfItsOperator) {
  const std::pair<std::int32_t, std::int32_t> cases[] = {
      {1, 1}, {13, 1}, {13, 2}, {32767, 1}, {32767, 13}, {32767, 32767}, {128, 64}, {720, 128}};
  for (const auto& [max_parallelism, parallelism] : cases) {
    std::int32_t mismatches = 0;
    for (std::int32_t group = 0; group < max_parallelism; ++group) {
      const std::int32_t index =
          compute_operator_index_for_key_group(max_parallelism, parallelism, group);
      const KeyGroupRange range =
          compute_key_group_range_for_operator_index(max_parallelism, parallelism, index);
      mismatches += range.contains(group) ? 0 : 1;
    }
    EXPECT_EQ(mismatches, 0) << max_parallelism << " / " << parallelism;
  }
}

// Row KG-6.
TEST(KeyGroupAssignment, RefusesMoreSubtasksThanKeyGroups) {
  EXPECT_FALSE(are_valid_parallelisms(10, 11));
  EXPECT_FALSE(are_valid_parallelisms(32769, 1));
  EXPECT_FALSE(are_valid_parallelisms(10, 0));
  EXPECT_THROW(static_cast<void>(compute_key_group_range_for_operator_index(10, 11, 0)),
               base::InvariantViolation);
}

// Row KG-7, S-2.6.
TEST(KeyGroupAssignment, LeavesRoomToScaleOutByDefault) {
  const std::pair<std::int32_t, std::int32_t> cases[] = {
      {1, 128},       {85, 128},      {86, 256},     {170, 256},  {171, 256},
      {172, 512},     {240, 512},     {341, 512},    {342, 1024}, {1024, 2048},
      {21845, 32768}, {21846, 32768}, {32768, 32768}};
  for (const auto& [parallelism, max_parallelism] : cases) {
    const auto result = compute_default_max_parallelism(parallelism);
    ASSERT_TRUE(result.ok()) << parallelism;
    EXPECT_EQ(result.value(), max_parallelism) << parallelism;
  }
  EXPECT_FALSE(compute_default_max_parallelism(0).ok());
  EXPECT_FALSE(compute_default_max_parallelism(-1).ok());
  EXPECT_FALSE(compute_default_max_parallelism(32769).ok());
}

// K1 and K2 for any pair of parallelisms.
RC_GTEST_PROP(KeyGroupAssignment, RangesPartitionTheKeyGroups, ()) {
  const auto max_parallelism = *rc::gen::inRange(1, kUpperBoundMaxParallelism + 1);
  const auto parallelism = *rc::gen::inRange(1, max_parallelism + 1);
  std::int32_t next = 0;
  std::int32_t smallest = max_parallelism;
  std::int32_t largest = 0;
  for (std::int32_t index = 0; index < parallelism; ++index) {
    const KeyGroupRange range =
        compute_key_group_range_for_operator_index(max_parallelism, parallelism, index);
    RC_ASSERT(range.first == next);
    RC_ASSERT(!range.empty());
    for (const std::int32_t group : {range.first, range.last}) {
      RC_ASSERT(compute_operator_index_for_key_group(max_parallelism, parallelism, group) == index);
    }
    smallest = std::min(smallest, range.size());
    largest = std::max(largest, range.size());
    next = range.last + 1;
  }
  RC_ASSERT(next == max_parallelism);
  RC_ASSERT(largest - smallest <= 1);
}

// The sender's channel and the receiver's range agree on every key.
RC_GTEST_PROP(KeyGroupAssignment, SendsEveryKeyToTheSubtaskThatOwnsItsGroup, (std::int32_t hash)) {
  const auto max_parallelism = *rc::gen::inRange(1, kUpperBoundMaxParallelism + 1);
  const auto parallelism = *rc::gen::inRange(1, max_parallelism + 1);
  RC_ASSERT(murmur_hash(hash) >= 0);
  const std::int32_t channel = assign_key_to_parallel_operator(hash, max_parallelism, parallelism);
  RC_ASSERT(compute_key_group_range_for_operator_index(max_parallelism, parallelism, channel)
                .contains(assign_to_key_group(hash, max_parallelism)));
}

}  // namespace
}  // namespace tailrace::engine
