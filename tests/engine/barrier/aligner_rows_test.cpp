// Rows A of the barrier specification: the aligner of 1.10 behind a gate.
#include <string>

#include <gtest/gtest.h>

#include "tests/engine/barrier/script.hpp"

namespace tailrace::engine::test {
namespace {

struct AlignerRow {
  const char* id;
  std::int32_t channels;
  std::int64_t max_buffered_bytes;
  const char* input;   // items in the order in which the gate hands them out
  const char* output;  // positions of items, blocked sets, notifications, latest id
};

// clang-format breaks these strings where it likes: a row is one string.
constexpr AlignerRow kAlignerRows[] = {
    {.id = "A1",
     .channels = 1,
     .max_buffered_bytes = -1,
     .input = "b0 b0 b0 E0",
     .output = "0 1 2 3 L=-1"},
    {.id = "A2",
     .channels = 4,
     .max_buffered_bytes = -1,
     .input = "b2 b2 b0 b1 b0 E0 b3 b1 E3 b1 E1 b2 E2",
     .output = "0 1 2 3 4 5 6 7 8 9 10 11 12 L=-1"},
    {.id = "A3",
     .channels = 1,
     .max_buffered_bytes = -1,
     .input = "b0 b0 b0 #1@0 b0 b0 b0 b0 #2@0 #3@0 b0 b0 #4@0 #5@0 #6@0 b0 E0",
     .output = "0 1 2 T1 4 5 6 7 T2 T3 10 11 T4 T5 T6 15 16 L=6"},
    {.id = "A4",
     .channels = 3,
     .max_buffered_bytes = -1,
     .input =
         "b0 b2 b0 #1@1 #1@2 b2 b1 b0 #1@0 b0 b0 b1 b1 b2 #2@0 #2@1 #2@2 b2 b2 #3@2 b2 b2 #3@0 "
         "#3@1 #4@1 #4@2 #4@0 b0 b2 b0 #5@1 b2 b0 b2 b1 #5@2 b1 b0 b2 b1 #5@0 b0 E0 E1 E2",
     .output = "0 1 2 7{12} T1/2 5{} 6 9 10 11 12 13 T2/0 17 18 T3/2 20 21 T4/0 27 28 29 31{1} 32 "
               "33 37{12} T5/4 34{} 36 38 39 41 42 43 44 L=5"},
    {.id = "A5",
     .channels = 3,
     .max_buffered_bytes = -1,
     .input = "b0 b1 b2 #1@1 #1@2 #1@0 b2 b1 b0 #2@1 b1 b1 E1 b0 b2 #2@2 b2 E2 b0 E0",
     .output = "0 1 2 T1/0 6 7 8 13{1} 14 18{12} X2:eop 19{} 10 11 12 16 17 L=2"},
    {.id = "A6",
     .channels = 3,
     .max_buffered_bytes = -1,
     .input =
         "b0 b2 b0 #1@1 #1@2 b2 b1 b0 #1@0 b1 b0 #2@1 b1 b2 #2@0 #3@0 b0 #3@1 b0 b1 b2 #4@1 b1 b2 "
         "#2@2 b2 b1 b2 b0 #4@0 b2 b1 b2 b0 #5@1 #3@2 b2 b1 b2 b0 #6@1 #4@2 b2 b1 E1 b2 E2 b0 E0",
     .output = "0 1 2 7{12} T1/2 5{} 6 9 10 13{1} 20{01} 23 T2/8 12{} 25{01} 27 30 32 T3/11 16{} "
               "18 19 28{1} 36{01} 38 T4/8 22{} 26 31 33 39{1} 42 45 X5:eop 46{} 37 47{1} X6:eop "
               "48{} 43 44 L=6"},
    {.id = "A7",
     .channels = 3,
     .max_buffered_bytes = -1,
     .input =
         "b0 b2 b0 #1@1 #1@2 b2 b1 b0 #1@0 b1 b0 #2@1 b1 b2 #2@0 b2 b0 #3@2 b2 b1 E1 b2 E2 b0 E0",
     .output = "0 1 2 7{12} T1/2 5{} 6 9 10 13{1} 15{01} X2:sub 12{2} 16 19 X3:eop 20{} 18 21 22 "
               "23 24 L=3"},
    {.id = "A8",
     .channels = 3,
     .max_buffered_bytes = -1,
     .input = "b0 b2 b0 #1@1 #1@2 b2 b1 b0 #1@0 b1 b0 #2@1 b1 b2 #2@0 b2 b0 #3@1 b1 b2 #3@0 b2 b0 "
              "#4@2 b2 b1 E1 b2 E2 b0 E0",
     .output = "0 1 2 7{12} T1/2 5{} 6 9 10 13{1} 15{01} 19 21 X2:sub 12{2} 16 18 22 25 X4:eop "
               "26{} 24 27 28 29 30 L=4"},
    {.id = "A9",
     .channels = 3,
     .max_buffered_bytes = -1,
     .input = "b0 b2 b0 #1@1 #1@2 b2 b1 b0 #1@0 b1 b0 #2@1 b1 b2 #2@0 b1 b0 #3@0 b0 #4@1 b1 b0 b2 "
              "#2@2 b0 #3@2 b2 #4@0 b0 b1 b2 #4@2 b1 E1 b2 E2 b0 E0",
     .output = "0 1 2 7{12} T1/2 5{} 6 9 10 13{1} 22{01} T2/8 12{} 15 16 X3:sub 18{1} 21 24 26 "
               "30{01} T4/3 20{} 28 29 32 33 34 35 36 37 L=4"},
    {.id = "A10",
     .channels = 2,
     .max_buffered_bytes = -1,
     .input = "#1@0 x2@0 x3@0 x3@1 b0",
     .output = "X3:can 4 L=3"},
    {.id = "A11",
     .channels = 4,
     .max_buffered_bytes = -1,
     .input = "E2 E1 b0 b0 b3 #2@3 #2@0 b3 b0 #3@3 b3 b0 #3@0 #4@0 #4@3 b0 b0 b3 E0 b3 #5@3 b3 E3",
     .output = "0 1 2 3 4 T2/0 7 8 11{3} T3/1 10{} T4/0 15 16 17 18 19 T5/0 21 22 L=5"},
    {.id = "A12",
     .channels = 3,
     .max_buffered_bytes = -1,
     .input = "#1@0 #1@1 #1@2 b0 b0 b2 #2@2 #2@0 b0 b2 b1 E2 E1 b0 E0",
     .output = "T1/0 3 4 5 10{02} X2:eop 12{} 8 9 11 13 14 L=2"},
    {.id = "A13",
     .channels = 1,
     .max_buffered_bytes = -1,
     .input = "b0 #1@0 b0 #2@0 x4@0 #5@0 b0 x6@0 b0",
     .output = "0 T1 2 T2 X4:can T5 6 X6:can 8 L=6"},
    {.id = "A14",
     .channels = 3,
     .max_buffered_bytes = -1,
     .input = "b0 b2 b0 #1@1 #1@2 b2 b1 #1@0 b0 b2 #2@0 #2@2 b0 b2 x2@1 b2 b1 #3@1 #3@2 #3@0 b0 b1 "
              "x4@1 #4@2 b0 #4@0 b0 b1 b2 #5@2 #5@1 #5@0 b0 b1 x6@1 x6@2 #6@0 b0",
     .output = "0 1 2 T1/2 5 6 8 9 X2:can 12 13 15 16 T3/0 20 21 X4:can 24 26 27 28 T5/0 32 33 "
               "X6:can 37 L=6"},
    {.id = "A15",
     .channels = 3,
     .max_buffered_bytes = -1,
     .input = "b1 #1@1 #1@2 b2 b0 b1 x2@2 #2@1 b0 b1 b2 #1@0 b2 b1 b0 #2@0 b0 b1 b2",
     .output = "0 4{12} 8 T1/6 3{} 5 X2:can 9 10 12 13 14 16 17 18 L=2"},
    {.id = "A16",
     .channels = 3,
     .max_buffered_bytes = -1,
     .input = "b1 #1@1 b2 b0 b1 #2@1 b2 b1 x1@0 b2 b1 b0 #1@2 b0 b1 b2 #2@0 #2@2 b0 b1 b2",
     .output = "0 2{1} 3 6 X1:can 4{} 9{1} 11 13 15 T2/3 7{} 10 14 18 19 20 L=2"},
    {.id = "A17",
     .channels = 3,
     .max_buffered_bytes = -1,
     .input = "b2 #3@1 #3@0 b0 b1 b2 #5@2 b2 b1 b0 x3@2 b2 b0 b1 #5@0 #5@1 b0 b1 b2",
     .output = "0 5{01} X3:sub 3{2} 4 8 9 12 13 T5/3 7{} 11 16 17 18 L=5"},
    {.id = "A18",
     .channels = 3,
     .max_buffered_bytes = 1024,
     .input = "b1 b2 b0 b2 #7@1 b1 b2 b1 b0 #7@0 b2 b0 b1 b0 b0 b0 b1 b2 #7@2 b0 b1 b2",
     .output = "0 1 2 3 6{1} 8 10{01} X7:lim 5{} 7 11 12 13 14 15 16 17 19 20 21 L=7"},
    {.id = "A19",
     .channels = 3,
     .max_buffered_bytes = 2560,
     .input = "b1 b2 #3@2 b1 b2 #3@0 b0 b1 #4@0 b0 b0 b1 b2 #3@1 #4@1 b0 b1 b2 #4@2 b0 b1 b2",
     .output = "0 1 3{2} 7{02} 11 X3:lim 4{} 6 12{0} 17{01} T4/4 9{} 10 15 16 19 20 21 L=4"},
    {.id = "A20",
     .channels = 1,
     .max_buffered_bytes = -1,
     .input = "#5@0 #3@0 x4@0 x5@0 #6@0",
     .output = "T5 T6 L=6"},
    {.id = "A21",
     .channels = 2,
     .max_buffered_bytes = -1,
     .input = "#1@0 #1@0 b0 #1@1 b1",
     .output = "T1/2 2 4 L=1"},
    {.id = "A22",
     .channels = 3,
     .max_buffered_bytes = -1,
     .input = "#1@0 #1@1 x2@2 b2 #1@2 #2@0",
     .output = "X2:can 3 L=2"},
    {.id = "A23",
     .channels = 2,
     .max_buffered_bytes = -1,
     .input = "E1 #1@0 b0",
     .output = "0 T1/0 2 L=1"},
    {.id = "A24",
     .channels = 3,
     .max_buffered_bytes = -1,
     .input = "#1@0 E1 #1@2 b2 #2@0 #2@2",
     .output = "X1:eop 1 3 T2/0 L=2"},
    {.id = "A25",
     .channels = 2,
     .max_buffered_bytes = -1,
     .input = "#1@0 b0 #2@0 b0",
     .output = "1 3 L=1"},
    {.id = "A26",
     .channels = 2,
     .max_buffered_bytes = -1,
     .input = "#1@0 #2@0 b0 x3@0 b0",
     .output = "2 X3:can 4 L=3"},
};

class AlignerRows : public testing::TestWithParam<AlignerRow> {};

TEST_P(AlignerRows, DoesWhatFlinkDoes) {
  const AlignerRow& row = GetParam();
  EXPECT_EQ(play_through_aligner(row.channels, row.max_buffered_bytes, row.input), row.output);
}

INSTANTIATE_TEST_SUITE_P(Specification, AlignerRows, testing::ValuesIn(kAlignerRows),
                         [](const auto& instance) { return std::string(instance.param.id); });

}  // namespace
}  // namespace tailrace::engine::test
