// Which operators of a savepoint a job must have (spec coordinator.md ).
#include "engine/checkpoint/checkpoints.hpp"

#include <cstddef>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace tailrace::engine {
namespace {

CheckpointMetadata with_one_operator(bool coordinator_state) {
  OperatorState state;
  state.id.bytes[15] = 7;
  state.parallelism = 1;
  state.max_parallelism = 128;
  if (coordinator_state) state.coordinator_state = std::vector<std::byte>(3);
  CheckpointMetadata metadata;
  metadata.checkpoint_id = 5;
  const OperatorId id = state.id;
  metadata.operator_states[id] = std::move(state);
  return metadata;
}

TEST(Checkpoints, MissNoOperatorThatHasNoState) {
  const auto loaded =
      Checkpoints::validate_checkpoint(JobId{1}, {}, with_one_operator(false), "sp", false);
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded.value()->id, 5);
}

TEST(Checkpoints, MissAnOperatorWhoseCoordinatorHasState) {
  EXPECT_FALSE(
      Checkpoints::validate_checkpoint(JobId{1}, {}, with_one_operator(true), "sp", false).ok());
  const auto allowed =
      Checkpoints::validate_checkpoint(JobId{1}, {}, with_one_operator(true), "sp", true);
  ASSERT_TRUE(allowed.ok());
  EXPECT_TRUE(allowed.value()->operator_states.empty());
}

}  // namespace
}  // namespace tailrace::engine
