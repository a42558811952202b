#include "engine/task/input_selection.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tailrace::engine {
namespace {

// Plays turns in which every input has something for as long as `available` says so.
class Turns {
 public:
  Turns(std::size_t inputs, bool by_record)
      : available(inputs, true), selection(inputs, by_record) {}
  // Who is read: its number, or '-'.
  char next() {
    if (!selection.goes_on()) {
      const auto chosen =
          selection.select([this](std::size_t i) { return static_cast<bool>(available[i]); });
      if (!chosen) return '-';
      input_ = *chosen;
    }
    return static_cast<char>('0' + input_);
  }
  std::string records(int count) {
    std::string read;
    for (int i = 0; i < count; ++i) {
      read += next();
      selection.record_processed();
    }
    return read;
  }

  std::vector<bool> available;
  InputSelection selection;

 private:
  std::size_t input_ = 0;
};

TEST(InputSelection, TheFirstInputIsTheFirst) {
  EXPECT_EQ(Turns(2, true).next(), '0');
  EXPECT_EQ(Turns(2, false).next(), '0');
}

TEST(InputSelection, In110InputsAlternateByRecord) {
  EXPECT_EQ(Turns(2, true).records(6), "010101");
}

TEST(InputSelection, In120AnInputGoesOnUntilSomethingInterruptsIt) {
  Turns turns(3, false);
  EXPECT_EQ(turns.records(3), "000");
  turns.selection.interrupted();
  EXPECT_EQ(turns.records(2), "11");
  turns.selection.data_ended();
  EXPECT_EQ(turns.records(2), "22");
  turns.selection.interrupted();
  EXPECT_EQ(turns.records(1), "0");
}

TEST(InputSelection, AnInterruptionDoesNotTakeATurnOf110Away) {
  Turns turns(2, true);
  EXPECT_EQ(turns.next(), '0');
  turns.selection.interrupted();
  EXPECT_EQ(turns.next(), '0');
}

TEST(InputSelection, WhoHasNothingIsPassedOverUntilItHasSomething) {
  for (const bool by_record : {true, false}) {
    Turns turns(2, by_record);
    EXPECT_EQ(turns.next(), '0');
    turns.available = {false, true};
    turns.selection.nothing_available();
    EXPECT_EQ(turns.records(3), "111");
    turns.available = {true, true};
    turns.selection.interrupted();
    // 1.20 has asked before the turn that begins here: it learns of input 0 in this one.
    EXPECT_EQ(turns.next(), by_record ? '0' : '1');
    turns.selection.record_processed();
    turns.selection.interrupted();
    EXPECT_EQ(turns.next(), by_record ? '1' : '0');
  }
}

TEST(InputSelection, NobodyIsReadWhenNobodyHasAnything) {
  for (const bool by_record : {true, false}) {
    Turns turns(2, by_record);
    turns.available = {false, false};
    EXPECT_EQ(turns.next(), '0');
    turns.selection.nothing_available();
    EXPECT_EQ(turns.next(), '1');
    turns.selection.nothing_available();
    EXPECT_EQ(turns.next(), '-');
    turns.available = {false, true};
    EXPECT_EQ(turns.next(), '1');
  }
}

TEST(InputSelection, WhoHasFinishedIsNeverReadAgain) {
  for (const bool by_record : {true, false}) {
    Turns turns(2, by_record);
    EXPECT_EQ(turns.next(), '0');
    turns.selection.finished();
    EXPECT_FALSE(turns.selection.all_finished());
    EXPECT_EQ(turns.records(2), "11");
    turns.selection.interrupted();
    EXPECT_EQ(turns.next(), '1');
    turns.selection.finished();
    EXPECT_TRUE(turns.selection.all_finished());
    EXPECT_EQ(turns.next(), '-');
  }
}

}  // namespace
}  // namespace tailrace::engine
