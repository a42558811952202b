#include "analysis/ledger.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tailrace::analysis {
namespace {

using Function = Dataflow::Function;

// lines -> words -> count -> out
Dataflow word_count() {
  return {{{Function::kSource, {}},
           {Function::kTokenize, {0}},
           {Function::kCount, {1}},
           {Function::kSink, {2}}}};
}
constexpr std::int32_t kOut = 3;

TEST(Ledger, AgreesWithAWordCountThatIsRight) {
  Ledger ledger(word_count());
  ledger.offer(0, "to be, or not to be");
  for (const char* first : {"to", "be", "or", "not"}) ledger.commit(kOut, first, 1);
  // The order in which effects become visible is nobody's business.
  ledger.commit(kOut, "be", 2);
  ledger.commit(kOut, "to", 2);
  EXPECT_EQ(ledger.audit().lost, 0);
  EXPECT_EQ(ledger.audit().duplicated, 0);
  EXPECT_EQ(ledger.offered(), 1);
  EXPECT_EQ(ledger.committed(), 6);
}

// Texts of 12 and of 30 characters with the same number in front have one key, and which of them was
// the first nobody can tell.
TEST(Ledger, CountsNumberedTextsByTheirNumber) {
  Ledger ledger({{{Function::kSource, {}},
                  {Function::kSource, {}},
                  {Function::kCount, {0, 1}, 1, true},
                  {Function::kSink, {2}},
                  {Function::kSink, {0}}}});
  const std::string small = "7 xxxxxxxxxx";
  const std::string large = "7 xxxxxxxxxxxxxxxxxxxxxxxxxxxx";
  ledger.offer(0, small);
  ledger.offer(0, "71 xxxxxxxxx");
  ledger.offer(1, large);
  ledger.commit(3, large, 1);
  ledger.commit(3, small, 2);
  ledger.commit(4, small, 0);
  EXPECT_EQ(ledger.audit().lost, 2);  // both of 71
  EXPECT_EQ(ledger.audit().duplicated, 0);
  ledger.commit(3, "71 xxxxxxxxx", 1);
  ledger.commit(4, large, 0);  // not what was offered there
  EXPECT_EQ(ledger.audit().lost, 1);
  EXPECT_EQ(ledger.audit().duplicated, 1);
  ledger.commit(3, small, 1);
  EXPECT_EQ(ledger.audit().duplicated, 2);
}

TEST(Ledger, ExpectsEveryCopyThatABroadcastMakes) {
  // lines -> three words subtasks, each with every line -> out
  Ledger ledger({{{Function::kSource, {}}, {Function::kTokenize, {0}, 3}, {Function::kSink, {1}}}});
  ledger.offer(0, "once");
  for (int copy = 0; copy < 2; ++copy) ledger.commit(2, "once", 0);
  EXPECT_EQ(ledger.audit().lost, 1);
  ledger.commit(2, "once", 0);
  EXPECT_EQ(ledger.audit().lost, 0);
  EXPECT_EQ(ledger.audit().duplicated, 0);
  ledger.commit(2, "once", 0);
  EXPECT_EQ(ledger.audit().duplicated, 1);
}

TEST(Ledger, MissesEachEffectThatWasNotCommitted) {
  Ledger ledger(word_count());
  ledger.offer(0, "a b a");
  ledger.commit(kOut, "a", 2);
  EXPECT_EQ(ledger.audit().lost, 2);
  EXPECT_EQ(ledger.audit().duplicated, 0);
}

TEST(Ledger, CountsAnEffectThatIsSeenTwiceAndOneThatOnlyADoubleCountExplains) {
  Ledger ledger(word_count());
  ledger.offer(0, "a");
  ledger.commit(kOut, "a", 1);
  ledger.commit(kOut, "a", 1);
  ledger.commit(kOut, "a", 2);
  EXPECT_EQ(ledger.audit().lost, 0);
  EXPECT_EQ(ledger.audit().duplicated, 2);
}

TEST(Ledger, TakesAnAbsurdNumberAsAnEffectTooMany) {
  Ledger ledger(word_count());
  ledger.offer(0, "a");
  ledger.commit(kOut, "a", 1);
  ledger.commit(kOut, "a", std::int64_t{1} << 60);
  ledger.commit(kOut, "a", -5);
  EXPECT_EQ(ledger.audit().lost, 0);
  EXPECT_EQ(ledger.audit().duplicated, 2);
}

TEST(Ledger, KnowsAWordThatNobodyOffered) {
  Ledger ledger(word_count());
  ledger.offer(0, "a");
  ledger.commit(kOut, "b", 1);
  EXPECT_EQ(ledger.audit().lost, 1);
  EXPECT_EQ(ledger.audit().duplicated, 1);
}

TEST(Ledger, TokenizesAtEverythingThatIsNoAsciiLetterAndKeepsCase) {
  Ledger ledger(word_count());
  ledger.offer(0, "don't caf\xc3\xa9 The the x2y");
  for (const char* word : {"don", "t", "caf", "The", "the", "x", "y"}) ledger.commit(kOut, word, 1);
  EXPECT_EQ(ledger.audit().lost, 0);
  EXPECT_EQ(ledger.audit().duplicated, 0);
}

TEST(Ledger, ComparesAPassThroughAsAMultisetOfTexts) {
  Ledger ledger({{{Function::kSource, {}},
                  {Function::kSource, {}},
                  {Function::kIdentity, {0, 1}},
                  {Function::kSink, {2}}}});
  ledger.offer(0, "same");
  ledger.offer(1, "same");
  ledger.offer(1, "other");
  ledger.commit(3, "same", 0);
  EXPECT_EQ(ledger.audit().lost, 2);
  ledger.commit(3, "same", 0);
  ledger.commit(3, "other", 0);
  EXPECT_EQ(ledger.audit().lost, 0);
  ledger.commit(3, "other", 0);
  EXPECT_EQ(ledger.audit().duplicated, 1);
}

TEST(Ledger, KeepsTheBooksOfTwoSinksApart) {
  Ledger ledger({{{Function::kSource, {}}, {Function::kSink, {0}}, {Function::kSink, {0}}}});
  ledger.offer(0, "x");
  ledger.commit(1, "x", 0);
  ledger.commit(1, "x", 0);
  EXPECT_EQ(ledger.audit().lost, 1);
  EXPECT_EQ(ledger.audit().duplicated, 1);
}

// 64 channels deliver the effects of 64 subtasks interleaved; dropping or repeating some of them is
// found to the last one.
RC_GTEST_PROP(Ledger, FindsExactlyTheEffectsThatWereTamperedWith, ()) {
  constexpr std::size_t kWords = 64;
  Ledger ledger(word_count());
  std::vector<std::int64_t> times(kWords);
  for (std::size_t word = 0; word < kWords; ++word) {
    times[word] = *rc::gen::inRange<std::int64_t>(0, 20);
    // Letters only: the tokenizer must see one word.
    const std::string text{static_cast<char>('a' + word % 26), static_cast<char>('a' + word / 26)};
    for (std::int64_t i = 0; i < times[word]; ++i) ledger.offer(0, text);
  }
  std::int64_t dropped = 0;
  std::int64_t repeated = 0;
  for (std::int64_t number = 20; number > 0; --number) {
    for (std::size_t word = 0; word < kWords; ++word) {
      if (number > times[word]) continue;
      const std::string text{static_cast<char>('a' + word % 26),
                             static_cast<char>('a' + word / 26)};
      const int copies = *rc::gen::weightedElement<int>({{10, 1}, {1, 0}, {1, 3}});
      for (int i = 0; i < copies; ++i) ledger.commit(kOut, text, number);
      dropped += copies == 0 ? 1 : 0;
      repeated += copies == 3 ? 2 : 0;
    }
  }
  RC_ASSERT(ledger.audit().lost == dropped);
  RC_ASSERT(ledger.audit().duplicated == repeated);
}

TEST(Interner, GivesEqualTextsEqualNumbersInTheOrderOfAppearance) {
  Interner interner;
  for (std::uint32_t round = 0; round < 2; ++round) {
    for (std::uint32_t i = 0; i < 1000; ++i) {
      EXPECT_EQ(interner.id("word" + std::to_string(i)), i);
    }
  }
  EXPECT_EQ(interner.size(), 1000u);
  EXPECT_EQ(interner.text(999), "word999");
  EXPECT_EQ(interner.id(""), 1000u);
  EXPECT_EQ(interner.text(1000), "");
}

}  // namespace
}  // namespace tailrace::analysis
