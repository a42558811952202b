#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "engine/rescale/java_hash_map.hpp"
#include "engine/rescale/round_robin_operator_state_repartitioner.hpp"
#include "engine/rescale/state_assignment_operation.hpp"

namespace tailrace::engine {
namespace {

using Names = std::vector<std::string>;

template <typename Number>
std::string numbered(Number number) {
  return std::string("f").append(std::to_string(number));
}

Names after_put(const Names& names) {
  JavaHashMap<std::string, int> map;
  for (const std::string& name : names) map.put_if_absent(java_hash_of_text(name), name) = 1;
  Names order;
  map.for_each([&order](const std::string& name, int) { order.push_back(name); });
  return order;
}
Names after_compute(const Names& names) {
  JavaHashMap<std::string, int> map;
  for (const std::string& name : names) map.compute_if_absent(java_hash_of_text(name), name) = 1;
  Names order;
  map.for_each([&order](const std::string& name, int) { order.push_back(name); });
  return order;
}

TEST(JavaHashMap, IteratesInJavasOrder) {
  EXPECT_EQ(after_put({"t-1", "t-2"}), (Names{"t-2", "t-1"}));
  EXPECT_EQ(after_put({"s1", "s2", "s10", "s3"}), (Names{"s3", "s10", "s1", "s2"}));
  EXPECT_EQ(after_put({"alpha", "beta", "gamma", "delta", "epsilon"}),
            (Names{"epsilon", "alpha", "delta", "beta", "gamma"}));
  EXPECT_EQ(after_compute({"alpha", "beta", "gamma", "delta", "epsilon"}),
            (Names{"epsilon", "alpha", "delta", "gamma", "beta"}));
  EXPECT_EQ(after_put({"Aa", "BB"}), (Names{"Aa", "BB"}));
  EXPECT_EQ(after_compute({"Aa", "BB"}), (Names{"BB", "Aa"}));
}

TEST(JavaHashMap, HashesTextByUtf16Units) {
  EXPECT_EQ(java_hash_of_text("Aa"), java_hash_of_text("BB"));
  EXPECT_EQ(java_hash_of_text("\xC3\xA4"), 228U);                             // a umlaut
  EXPECT_EQ(java_hash_of_text("\xF0\x9F\x98\x80"), 0xd83dU * 31U + 0xde00U);  // beyond the plane
}

OperatorStateHandle handle(const std::string& name, const std::string& state,
                           std::vector<std::int64_t> offsets, DistributionMode mode) {
  OperatorStateHandle result;
  result.delegate = std::make_shared<const StreamStateHandle>(FileStateHandle{name, 100});
  result.states.emplace_back(state, OperatorStateHandle::StateMetaInfo{std::move(offsets), mode});
  return result;
}

using Item = std::tuple<std::string, std::string, std::int64_t>;
std::map<Item, int> items_of(const OperatorStatePerSubtask& state) {
  std::map<Item, int> items;
  for (const auto& subtask : state) {
    for (const auto& h : subtask) {
      for (const auto& [name, info] : h.states) {
        for (const std::int64_t offset : info.offsets) {
          ++items[Item{std::get<FileStateHandle>(*h.delegate).path, name, offset}];
        }
      }
    }
  }
  return items;
}

RC_GTEST_PROP(RoundRobinRepartitioner, SplitStateKeepsItsItemsAndIsEven, ()) {
  const auto old_parallelism = *rc::gen::inRange<std::size_t>(1, 80);
  const auto new_parallelism = *rc::gen::inRange(1, 80);
  OperatorStatePerSubtask old(old_parallelism);
  std::size_t total = 0;
  for (std::size_t i = 0; i < old_parallelism; ++i) {
    const auto count = *rc::gen::inRange<std::size_t>(0, 6);
    std::vector<std::int64_t> offsets;
    for (std::size_t k = 0; k < count; ++k) offsets.push_back(static_cast<std::int64_t>(10 * k));
    total += count;
    old[i].push_back(handle(numbered(i), "items", offsets, DistributionMode::SPLIT_DISTRIBUTE));
  }
  const auto result =
      RoundRobinOperatorStateRepartitioner().repartition_state(old, new_parallelism);
  RC_ASSERT(items_of(result) == items_of(old));
  if (static_cast<std::size_t>(new_parallelism) == old_parallelism) return;
  for (const auto& subtask : result) {
    std::size_t mine = 0;
    for (const auto& h : subtask) mine += h.states[0].second.offsets.size();
    RC_ASSERT(mine >= total / static_cast<std::size_t>(new_parallelism));
    RC_ASSERT(mine <= total / static_cast<std::size_t>(new_parallelism) + 1);
  }
}

RC_GTEST_PROP(RoundRobinRepartitioner, UnionStateGoesToEverySubtask, ()) {
  const auto old_parallelism = *rc::gen::inRange<std::size_t>(1, 70);
  const auto new_parallelism = *rc::gen::inRange(1, 70);
  OperatorStatePerSubtask old(old_parallelism);
  for (std::size_t i = 0; i < old_parallelism; ++i) {
    old[i].push_back(handle(numbered(i), "u", {1, 2}, DistributionMode::UNION));
  }
  const auto result =
      RoundRobinOperatorStateRepartitioner().repartition_state(old, new_parallelism);
  for (const auto& subtask : result) RC_ASSERT(items_of({subtask}) == items_of(old));
}

RC_GTEST_PROP(StateAssignment, EveryKeyGroupIsRestoredOnce, ()) {
  const auto max_parallelism = *rc::gen::inRange(1, 300);
  const auto old_parallelism = *rc::gen::inRange(1, max_parallelism + 1);
  const auto new_parallelism = *rc::gen::inRange(1, max_parallelism + 1);
  const OperatorId id{{1}};
  OperatorState state{id, old_parallelism, max_parallelism, {}};
  for (std::int32_t i = 0; i < old_parallelism; ++i) {
    KeyGroupRangeOffsets offsets{key_group_range_of_subtask(max_parallelism, old_parallelism, i),
                                 {}};
    for (std::int32_t g = offsets.range.first; g <= offsets.range.last; ++g) {
      offsets.offsets.push_back(1000 + g);
    }
    state.subtasks[i].managed_keyed.push_back(std::make_shared<const KeyGroupsStateHandle>(
        offsets, std::make_shared<const StreamStateHandle>(FileStateHandle{numbered(i), 1})));
  }
  std::vector<VertexToRestore> vertices(1);
  vertices[0].parallelism = new_parallelism;
  vertices[0].max_parallelism = max_parallelism;
  vertices[0].operator_ids = {id};
  const std::map<OperatorId, OperatorState> states{{id, state}};
  RC_ASSERT((StateAssignmentOperation{5, states, false}.assign_states(vertices).ok()));
  std::vector<int> seen(static_cast<std::size_t>(max_parallelism), 0);
  for (std::int32_t i = 0; i < new_parallelism; ++i) {
    const KeyGroupRange own = key_group_range_of_subtask(max_parallelism, new_parallelism, i);
    const auto& restore = vertices[0].restores[static_cast<std::size_t>(i)];
    RC_ASSERT(restore != nullptr);
    for (const auto& keyed : restore->snapshot.operators.at(id).managed_keyed) {
      const auto& groups = dynamic_cast<const KeyGroupsStateHandle&>(*keyed);
      const KeyGroupRange range = keyed->key_group_range();
      for (std::int32_t g = range.first; g <= range.last; ++g) {
        RC_ASSERT(own.contains(g));
        RC_ASSERT(groups.offsets().offset(g) == 1000 + g);
        ++seen[static_cast<std::size_t>(g)];
      }
    }
  }
  for (const int count : seen) RC_ASSERT(count == 1);
}

}  // namespace
}  // namespace tailrace::engine
