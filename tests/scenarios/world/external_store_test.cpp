#include "scenarios/world/external_store.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tailrace::scenarios {
namespace {

class ExternalStoreTest : public testing::Test {
 protected:
  class SetClock final : public engine::Clock {
   public:
    [[nodiscard]] Time now() const override { return now_; }
    Time now_;
  };
  static Time at_ms(std::int64_t ms) { return Time{} + base::Duration::millis(ms); }
  // "text number created-committed", in the order in which they became visible.
  [[nodiscard]] std::vector<std::string> visible() const {
    std::vector<std::string> rows;
    for (const ExternalStore::Effect& effect : store_.committed()) {
      rows.push_back(std::string(store_.text(effect)) + ' ' + std::to_string(effect.number) + ' ' +
                     std::to_string(effect.created.ns / 1'000'000) + '-' +
                     std::to_string(effect.committed.ns / 1'000'000));
    }
    return rows;
  }
  using Rows = std::vector<std::string>;
  SetClock clock_;
  ExternalStore store_{clock_};
};

TEST_F(ExternalStoreTest, WhatIsWrittenShowsWhenItIsCommitted) {
  const auto first = store_.begin();
  const auto second = store_.begin();
  EXPECT_NE(first, second);
  store_.write(first, {"a", 1, at_ms(3)});
  store_.write(second, {"b", 2, at_ms(4)});
  store_.write(first, {"a", 3, at_ms(5)});
  EXPECT_EQ(visible(), Rows{});
  EXPECT_EQ(store_.open_transactions(), 2u);
  clock_.now_ = at_ms(10);
  EXPECT_TRUE(store_.commit(first));
  EXPECT_EQ(visible(), (Rows{"a 1 3-10", "a 3 5-10"}));
  EXPECT_EQ(store_.open_transactions(), 1u);
}

TEST_F(ExternalStoreTest, CommittingAgainDoesNothing) {  // spec rescale.md S-8.11
  const auto transaction = store_.begin();
  store_.write(transaction, {"a", 1, {}});
  EXPECT_TRUE(store_.commit(transaction));
  clock_.now_ = at_ms(10);
  EXPECT_TRUE(store_.commit(transaction));
  EXPECT_EQ(visible(), Rows{"a 1 0-0"});
}

TEST_F(ExternalStoreTest, AnAbortedTransactionIsGone) {
  const auto transaction = store_.begin();
  store_.write(transaction, {"a", 1, {}});
  store_.abort(transaction);
  EXPECT_FALSE(store_.commit(transaction));
  EXPECT_EQ(visible(), Rows{});
}

TEST_F(ExternalStoreTest, AbortingWhatIsUnknownOrOverDoesNoHarm) {  // spec rescale.md S-8.11
  store_.abort(4711);
  EXPECT_FALSE(store_.commit(4711));
  const auto transaction = store_.begin();
  store_.write(transaction, {"a", 1, {}});
  EXPECT_TRUE(store_.commit(transaction));
  store_.abort(transaction);
  EXPECT_TRUE(store_.commit(transaction));
  EXPECT_EQ(visible(), Rows{"a 1 0-0"});
}

TEST_F(ExternalStoreTest, AnAppendShowsAtOnce) {
  clock_.now_ = at_ms(7);
  store_.append({"x", 5, at_ms(2)});
  EXPECT_EQ(visible(), Rows{"x 5 2-7"});
}

TEST_F(ExternalStoreTest, TextsAreKeptWhenTheirBuffersAreGone) {
  for (int i = 0; i < 1000; ++i) {
    const std::string text = "text " + std::to_string(i % 100);
    store_.append({text, i, {}});
  }
  ASSERT_EQ(store_.committed().size(), 1000U);
  int i = 0;
  for (const Effect& effect : store_.committed()) {
    EXPECT_EQ(store_.text(effect), "text " + std::to_string(i++ % 100));
  }
}

}  // namespace
}  // namespace tailrace::scenarios
