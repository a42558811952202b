// Transactions of any size keep their order in the log of what was committed.
#include "scenarios/world/effect_log.hpp"

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace tailrace::scenarios {
namespace {

using Row = std::tuple<std::int64_t, std::int64_t>;  // number, committed

TEST(EffectLog, KeepsTheOrderOfTransactionsWhateverTheirSize) {
  EffectLog log;
  std::vector<Row> expected;
  std::int64_t number = 0;
  std::int64_t now = 0;
  const auto chunk = static_cast<std::int64_t>(EffectLog::kChunkEffects);
  for (const std::int64_t size : {std::int64_t{0}, std::int64_t{3}, chunk - 1, chunk, chunk + 1,
                                  3 * chunk + 7, std::int64_t{1}, 2 * chunk, std::int64_t{5}}) {
    EffectLog transaction;
    ++now;
    for (std::int64_t i = 0; i < size; ++i) {
      transaction.push_back({0, ++number, {}, {}});
      expected.emplace_back(number, now);
    }
    log.append(std::move(transaction), base::Time{now});
    // Effects without a transaction come in between.
    log.push_back({0, ++number, {}, base::Time{now}});
    expected.emplace_back(number, now);
  }
  std::vector<Row> found;
  for (const Effect& effect : log) found.emplace_back(effect.number, effect.committed.ns);
  EXPECT_EQ(found, expected);
  EXPECT_EQ(log.size(), expected.size());
}

TEST(EffectLog, AnEmptyOneHasNothingToWalk) {
  const EffectLog log;
  EXPECT_TRUE(log.empty());
  EXPECT_EQ(log.begin(), log.end());
}

}  // namespace
}  // namespace tailrace::scenarios
