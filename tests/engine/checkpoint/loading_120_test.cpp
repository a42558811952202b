// Loading what 1.20 has written: nothing that it keeps gets lost (spec rescale.md S-3.1 to S-3.3).
#include <gtest/gtest.h>

#include "engine/checkpoint/checkpoints.hpp"
#include "engine/checkpoint/metadata/metadata_v4_serializer.hpp"
#include "tests/engine/checkpoint/any_metadata.hpp"
#include "tests/engine/checkpoint/expected_metadata.hpp"
#include "tests/engine/checkpoint/recordings.hpp"

namespace tailrace::engine::test {
namespace {

class Loading120 : public testing::Test {
 protected:
  base::Result<CompletedCheckpointPtr, std::string> load(bool allow_non_restored = false) {
    const auto bytes = MetadataV4Serializer::serialize(17, {}, states_, properties_);
    return Checkpoints::load_and_validate_checkpoint(JobId{3}, job_, bytes, "/savepoint",
                                                     allow_non_restored);
  }
  OperatorState& add(OperatorId id) {
    return states_.emplace(id, OperatorState{id, 2, 128, {}}).first->second;
  }

  OperatorId known_ = operator_id(1);
  OperatorId unknown_ = operator_id(2);
  OperatorStates states_;
  std::optional<CheckpointProperties> properties_ =
      CheckpointProperties::for_sync_savepoint(true, false, SavepointFormatType::NATIVE);
  Checkpoints::OperatorToVertex job_{{known_, {128, false}}};
};

TEST_F(Loading120, KeepsWhatHadFinishedAndTheCoordinatorsState) {
  OperatorState& state = add(known_);
  state.finished_subtasks = {1};
  state.subtasks[0] = {};
  state.coordinator_state = bytes_of("splits");
  const OperatorId finished = operator_id(3);
  add(finished).fully_finished = true;
  job_[finished] = {128, false};
  const auto loaded = load();
  ASSERT_TRUE(loaded.ok()) << loaded.error();
  const OperatorState& read = loaded.value()->operator_states.at(known_);
  EXPECT_EQ(read.finished_subtasks, std::set<std::int32_t>{1});
  EXPECT_EQ(read.coordinator_state, bytes_of("splits"));
  EXPECT_TRUE(loaded.value()->operator_states.at(finished).fully_finished);
  EXPECT_EQ(loaded.value()->restored_properties, properties_);
}

TEST_F(Loading120, CoordinatorStateOfAnUnknownOperatorNeedsPermission) {
  add(unknown_).subtasks[0] = {};
  EXPECT_TRUE(load().ok());
  states_.at(unknown_).coordinator_state = bytes_of("splits");
  EXPECT_FALSE(load().ok());
  const auto loaded = load(true);
  ASSERT_TRUE(loaded.ok());
  EXPECT_TRUE(loaded.value()->operator_states.empty());
}

TEST_F(Loading120, FinishedOperatorsThatTheJobHasNotAreNoMatter) {
  add(unknown_).fully_finished = true;
  EXPECT_TRUE(load().ok());
}

TEST_F(Loading120, FilesAreFoundWhereTheSavepointLiesNow) {
  OperatorStateHandle handle;
  handle.delegate = std::make_shared<StreamStateHandle>(FileStateHandle{"/old/chk-1/f", 5, "f"});
  add(known_).subtasks[0].managed_operator.push_back(std::move(handle));
  const auto loaded = load();
  ASSERT_TRUE(loaded.ok());
  const auto& state = loaded.value()->operator_states.at(known_).subtasks.at(0);
  EXPECT_EQ(stream_name(*state.managed_operator.front().delegate), "/savepoint/f");
}

TEST_F(Loading120, KnowsBuffersInFlightAndSaysWhichFileItCannotTake) {
  const std::filesystem::path metadata = find_recording(
      "savepoints/stateful-scala-with-broadcast-udf-migration-itcase-flink1.15-"
      "rocksdb-checkpoint/_metadata");
  if (metadata.empty()) GTEST_SKIP() << "no savepoints";
  auto bytes = read_bytes(metadata);
  const auto loaded =
      Checkpoints::load_and_validate_checkpoint(JobId{1}, {}, bytes, "/savepoint", true);
  ASSERT_TRUE(loaded.ok()) << loaded.error();

  bytes.resize(bytes.size() / 2);
  const auto half =
      Checkpoints::load_and_validate_checkpoint(JobId{1}, {}, bytes, "/savepoint", true);
  ASSERT_FALSE(half.ok());
  EXPECT_EQ(half.error().rfind("/savepoint/_metadata: byte ", 0), 0U) << half.error();
}

}  // namespace
}  // namespace tailrace::engine::test
