// What an acknowledgement takes from the heap: next to nothing, because the trigger has made room for
// all of them.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/benchmarks/coordinator_setup.hpp"
#include "tests/benchmarks/counting_new.hpp"

namespace tailrace::engine::bench {
namespace {

constexpr double kBytesPerAcknowledgement = 64;

template <typename Coordinated>
void expect_little_allocation(Snapshots snapshots) {
  const JobSize size;
  Coordinated coordinated(size);
  Surroundings& around = coordinated.around;
  // The second checkpoint is the measured one: the first has warmed up what stays.
  for (int round = 0; round < 2; ++round) {
    std::vector<AcknowledgeCheckpoint> messages =
        around.acknowledgements(around.id_counter.get(), snapshots);
    const std::uint64_t before_trigger = testing::allocated_bytes();
    coordinated.coordinator.trigger_checkpoint(false, {});
    around.world.run_due();
    // The counter counts: a place for each subtask is made here.
    EXPECT_GT(testing::allocated_bytes() - before_trigger,
              static_cast<std::uint64_t>(size.tasks()));

    const std::uint64_t before = testing::allocated_bytes();
    // The last one begins the finalisation, which is another matter.
    for (std::size_t i = 0; i + 1 < messages.size(); ++i) {
      coordinated.coordinator.receive_acknowledge_message(std::move(messages[i]));
    }
    const auto bytes = static_cast<double>(testing::allocated_bytes() - before);
    if (round == 1) {
      EXPECT_LE(bytes / (size.tasks() - 1), kBytesPerAcknowledgement);
    }

    coordinated.coordinator.receive_acknowledge_message(std::move(messages.back()));
    around.world.run_due();
    ASSERT_EQ(coordinated.stats_tracker.counts().completed, round + 1);
  }
  EXPECT_EQ(around.told.completions, 2 * size.tasks());
}

TEST(CoordinatorAllocation110, OfAcknowledgementsWithoutState) {
  expect_little_allocation<Coordinated110>(Snapshots::NONE);
}
TEST(CoordinatorAllocation110, OfAcknowledgementsWithKeyedState) {
  expect_little_allocation<Coordinated110>(Snapshots::KEYED);
}
TEST(CoordinatorAllocation120, OfAcknowledgementsWithoutState) {
  expect_little_allocation<Coordinated120>(Snapshots::NONE);
}
TEST(CoordinatorAllocation120, OfAcknowledgementsWithKeyedState) {
  expect_little_allocation<Coordinated120>(Snapshots::KEYED);
}

}  // namespace
}  // namespace tailrace::engine::bench
