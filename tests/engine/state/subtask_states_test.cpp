// The states of an operator's subtasks: a map that shares what it holds.
#include "engine/state/subtask_states.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "engine/state/handles.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

OperatorStateHandle handle(const std::string& name) {
  return {{}, std::make_shared<StreamStateHandle>(FileStateHandle{name, 1})};
}
OperatorSubtaskState state(const std::string& name) {
  OperatorSubtaskState state;
  state.managed_operator.push_back(handle(name));
  return state;
}
std::string name_of(const OperatorSubtaskState& state) {
  return state.managed_operator.empty() ? std::string()
                                        : stream_name(*state.managed_operator.front().delegate);
}

RC_GTEST_PROP(SubtaskStates, HoldWhatAMapWouldHold, ()) {
  SubtaskStates states;
  std::map<std::int32_t, std::string> expected;
  const auto steps = *rc::gen::inRange(0, 30);
  for (int step = 0; step < steps; ++step) {
    const auto subtask = *rc::gen::inRange<std::int32_t>(0, 12);
    const std::string name = "file-" + std::to_string(step);
    switch (*rc::gen::inRange(0, 3)) {
      case 0:
        states.share(subtask, std::make_shared<OperatorSubtaskState>(state(name)));
        expected.insert_or_assign(subtask, name);
        break;
      case 1:
        states.emplace(subtask, state(name));
        expected.emplace(subtask, name);
        break;
      default:
        states[subtask].managed_operator = {handle(name)};
        expected.insert_or_assign(subtask, name);
        break;
    }
  }
  std::map<std::int32_t, std::string> held;
  for (const auto& [subtask, state] : states) held.emplace(subtask, name_of(state));
  RC_ASSERT(held == expected);
  RC_ASSERT(states.size() == expected.size());
  RC_ASSERT(states.empty() == expected.empty());
  for (std::int32_t subtask = 0; subtask < 14; ++subtask) {
    const auto found = expected.find(subtask);
    RC_ASSERT(states.contains(subtask) == (found != expected.end()));
    if (found != expected.end()) {
      RC_ASSERT(name_of(states.at(subtask)) == found->second);
      RC_ASSERT(name_of(*states.find(subtask)) == found->second);
    }
  }
  for (std::size_t rank = 1; rank < states.size(); ++rank) {
    RC_ASSERT(states.number(rank - 1) < states.number(rank));  // A1
  }
}

TEST(SubtaskStates, AChangeIsSeenByNobodyElse) {
  const auto reported = std::make_shared<OperatorSubtaskState>(state("one"));
  SubtaskStates states;
  states.share(3, reported);
  EXPECT_EQ(states.state(0).get(), reported.get());  // not copied
  const SubtaskStates copy = states;
  EXPECT_EQ(copy.find(3), reported.get());  // nor here

  states[3].managed_operator = {handle("two")};
  EXPECT_EQ(name_of(states.at(3)), "two");
  EXPECT_EQ(name_of(copy.at(3)), "one");
  EXPECT_EQ(name_of(*reported), "one");

  states.edit(0).managed_operator = {handle("three")};
  EXPECT_EQ(name_of(states.at(3)), "three");
  EXPECT_EQ(name_of(*reported), "one");
}

TEST(SubtaskStates, NothingIsThereUntilItIsPut) {
  SubtaskStates states;
  EXPECT_EQ(states.find(0), nullptr);
  EXPECT_THROW(static_cast<void>(states.at(0)), base::InvariantViolation);
  EXPECT_THROW(states.edit(0), base::InvariantViolation);
  EXPECT_THROW(states.share(0, nullptr), base::InvariantViolation);
  EXPECT_THROW(states.share(-1, std::make_shared<OperatorSubtaskState>()),
               base::InvariantViolation);
  EXPECT_FALSE(states[5].has_state());
  EXPECT_EQ(states.number(0), 5);
}

}  // namespace
}  // namespace tailrace::engine
