// The storages of 1.10. Rows B of the specification replay in full with the recordings.
#include <string>

#include <gtest/gtest.h>

#include "engine/barrier/f110/cached_buffer_storage.hpp"
#include "engine/barrier/f110/linked_buffer_storage.hpp"
#include "sim/base/assert.hpp"
#include "tests/engine/barrier/scripted_input.hpp"

namespace tailrace::engine::test {
namespace {

using f110::BufferStorage;
using f110::CachedBufferStorage;

class Storages : public testing::Test {
 protected:
  void add(BufferStorage& storage, std::int64_t number) {
    storage.add({0, buffers.make(number), false});
  }
  // Numbers until the storage is empty; "-" for each poll that gives nothing.
  static std::string drain(BufferStorage& storage) {
    std::string numbers;
    while (!storage.is_empty()) {
      const auto item = storage.poll_next();
      numbers += item ? std::to_string(NumberedBuffers::number_of(std::get<Buffer>(item->item)))
                      : std::string("-");
    }
    return numbers;
  }

  NumberedBuffers buffers;
};

TEST_F(Storages, ReplayNewerItemsBeforeTheRestOfOlderOnes) {
  CachedBufferStorage storage(100, -1);
  for (std::int64_t number = 1; number <= 3; ++number) add(storage, number);
  storage.roll_over();
  EXPECT_EQ(NumberedBuffers::number_of(std::get<Buffer>(storage.poll_next()->item)), 1);
  add(storage, 4);
  storage.roll_over();
  EXPECT_EQ(storage.rolled_bytes(), 300);  // of the whole older sequence, though 1 has been read
  EXPECT_EQ(drain(storage), "4-23-");
  EXPECT_EQ(storage.rolled_bytes(), 0);
  EXPECT_EQ(buffers.out(), 0);
}

TEST_F(Storages, CountAPageForEachItemWhateverItsSize) {
  CachedBufferStorage storage(512, -1);
  storage.add({0, buffers.make(1, 5000), false});
  storage.add({0, RuntimeEvent(CheckpointBarrier{1, 0, {}}), false});
  EXPECT_EQ(storage.pending_bytes(), 1024);
  EXPECT_TRUE(storage.is_empty());  // pending items do not count
}

TEST_F(Storages, AreFullOnlyBeyondTheLimitAndNeverCountWhatIsBeingReplayed) {
  CachedBufferStorage storage(100, 200);
  add(storage, 1);
  add(storage, 2);
  EXPECT_FALSE(storage.is_full());
  add(storage, 3);
  EXPECT_TRUE(storage.is_full());
  storage.roll_over();
  EXPECT_FALSE(storage.is_full());
  add(storage, 4);
  add(storage, 5);
  EXPECT_FALSE(storage.is_full());  // although five pages are held
}

TEST_F(Storages, GiveAllBuffersBackWhenClosedAndWhenDestroyed) {
  {
    CachedBufferStorage storage(100, -1);
    for (int round = 0; round < 3; ++round) {
      add(storage, 1);
      storage.roll_over();
    }
    add(storage, 1);
    EXPECT_EQ(buffers.out(), 4);
    storage.close();
    EXPECT_EQ(buffers.out(), 0);
    EXPECT_TRUE(storage.is_empty());
    EXPECT_EQ(storage.rolled_bytes(), 0);
    add(storage, 1);
  }
  EXPECT_EQ(buffers.out(), 0);
}

// Row B3.
TEST_F(Storages, LinkedCountAndRollOverTogetherButHandOutTheirOwn) {
  CachedBufferStorage other(100, -1);
  CachedBufferStorage own(100, -1);
  f110::LinkedBufferStorage linked(own, {&other}, 700);
  add(linked, 0);
  add(other, 1);
  add(other, 2);
  EXPECT_EQ(linked.pending_bytes(), 300);
  linked.roll_over();
  EXPECT_FALSE(other.is_empty());
  EXPECT_FALSE(linked.is_empty());
  add(linked, 3);
  add(other, 4);
  linked.roll_over();
  EXPECT_EQ(linked.rolled_bytes(), 300);
  EXPECT_EQ(drain(other), "4-12-");
  EXPECT_EQ(drain(linked), "3-0-");
}

TEST_F(Storages, OfAtLeastOnceRefuseToStore) {
  f110::EmptyBufferStorage storage;
  EXPECT_THROW(add(storage, 1), base::InvariantViolation);
  EXPECT_FALSE(storage.is_full());
  EXPECT_TRUE(storage.is_empty());
}

}  // namespace
}  // namespace tailrace::engine::test
