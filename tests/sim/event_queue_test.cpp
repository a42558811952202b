#include "sim/event_queue.hpp"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "sim/random.hpp"

namespace tailrace::sim {
namespace {

struct Nothing final : EventHandler {
  void on_event(std::uint64_t) override {}
};

// The queue beside a sorted map. An event's argument is its number, in order of scheduling.
class Pair {
 public:
  void schedule(std::int64_t at) {
    const EventId id = queue_.schedule({at}, handler_, ids_.size());
    model_[{at, ids_.size()}] = id;
    ids_.push_back({id, at});
  }
  bool cancel(std::size_t number) {
    const auto [id, at] = ids_[number];
    const bool expected = model_.erase({at, number}) == 1;
    return queue_.cancel(id) == expected;
  }
  bool pop(std::int64_t limit) {
    EventQueue::Event event;
    const bool popped = queue_.pop({limit}, event);
    const bool expected = !model_.empty() && model_.begin()->first.first <= limit;
    if (popped != expected) return false;
    if (!popped) {
      if (limit != Time::max().ns) now_ = limit;
      return true;
    }
    const auto [at, number] = model_.begin()->first;
    model_.erase(model_.begin());
    now_ = at;
    return event.time.ns == at && event.argument == number && event.handler == &handler_;
  }
  [[nodiscard]] bool sizes_agree() const { return queue_.size() == model_.size(); }
  [[nodiscard]] bool empty() const { return model_.empty(); }
  [[nodiscard]] std::int64_t now() const { return now_; }
  [[nodiscard]] std::size_t scheduled() const { return ids_.size(); }
  [[nodiscard]] std::size_t memory_bytes() const { return queue_.memory_bytes(); }

 private:
  Nothing handler_;
  EventQueue queue_;
  std::map<std::pair<std::int64_t, std::size_t>, EventId> model_;
  std::vector<std::pair<EventId, std::int64_t>> ids_;
  std::int64_t now_ = 0;
};

// Delays of all magnitudes, many of them equal, as timeouts and zero delays are.
std::int64_t some_delay(RandomStream& random, std::int64_t magnitude_bits) {
  const std::int64_t bits = random.uniform(0, magnitude_bits);
  const std::int64_t delay = random.uniform(0, (std::int64_t{1} << bits) - 1);
  return random.uniform(0, 3) == 0 ? (delay >> 4) << 4 : delay;
}

void agree_over(Pair& pair, RandomStream& random, int steps, std::int64_t magnitude_bits,
                std::int64_t schedule_weight) {
  for (int step = 0; step < steps; ++step) {
    const std::int64_t what = random.uniform(0, 9);
    if (what < schedule_weight) {
      pair.schedule(pair.now() + some_delay(random, magnitude_bits));
    } else if (what == 9 && pair.scheduled() > 0) {
      const auto newest = static_cast<std::int64_t>(pair.scheduled()) - 1;
      RC_ASSERT(pair.cancel(static_cast<std::size_t>(
          random.uniform(std::max<std::int64_t>(0, newest - 500), newest))));
    } else if (what == 8) {
      RC_ASSERT(pair.pop(pair.now() + some_delay(random, magnitude_bits)));
    } else {
      RC_ASSERT(pair.pop(Time::max().ns));
    }
    RC_ASSERT(pair.sizes_agree());
  }
}

RC_GTEST_PROP(EventQueue, PopsWhatASortedMapPopsWhateverIsScheduledAndCancelled,
              (std::uint64_t seed)) {
  RandomStream random(seed, "test");
  Pair pair;
  const std::int64_t magnitude_bits = random.uniform(1, 45);
  // First it fills, then it drains: all shapes of buckets, and the empty queue again and again.
  agree_over(pair, random, 600, magnitude_bits, 7);
  agree_over(pair, random, 600, magnitude_bits, 4);
  agree_over(pair, random, 600, magnitude_bits, 2);
  while (!pair.empty()) RC_ASSERT(pair.pop(Time::max().ns));
  RC_ASSERT(pair.pop(Time::max().ns));
}

RC_GTEST_PROP(EventQueue, KeepsTheOrderOfSchedulingAmongHundredsOfEqualTimes,
              (std::uint64_t seed)) {
  RandomStream random(seed, "test");
  Pair pair;
  for (int i = 0; i < 400; ++i) pair.schedule(1000 + 10 * random.uniform(0, 2));
  for (int i = 0; i < 100; ++i) {
    RC_ASSERT(pair.pop(Time::max().ns));
    pair.schedule(pair.now() + 10 * random.uniform(0, 1));
    RC_ASSERT(pair.cancel(static_cast<std::size_t>(random.uniform(0, 399))));
  }
  while (!pair.empty()) RC_ASSERT(pair.pop(Time::max().ns));
}

// Everything lands in the span that is sorted already, which must hand over to finer buckets.
RC_GTEST_PROP(EventQueue, StaysOrderedWhenManyEventsCrowdIntoTheNearestSpan, (std::uint64_t seed)) {
  RandomStream random(seed, "test");
  Pair pair;
  pair.schedule(1 << 20);
  pair.schedule((1 << 20) + 30'000);
  RC_ASSERT(pair.pop(Time::max().ns));
  for (int i = 0; i < 500; ++i) pair.schedule(pair.now() + random.uniform(0, 29'000));
  while (!pair.empty()) {
    RC_ASSERT(pair.pop(Time::max().ns));
    if (random.uniform(0, 3) == 0) pair.schedule(pair.now() + random.uniform(0, 100));
  }
}

TEST(EventQueue, TakesEventsAtTheEndsOfTime) {
  Pair pair;
  pair.schedule(Time::max().ns);
  pair.schedule(0);
  pair.schedule(Time::max().ns - 1);
  pair.schedule(std::int64_t{1} << 60);
  pair.schedule((std::int64_t{1} << 60) - 1);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(pair.pop(Time::max().ns)) << i;
  EXPECT_TRUE(pair.empty());
}

TEST(EventQueue, RefusesAnEventBeforeThePresent) {
  Nothing handler;
  EventQueue queue;
  queue.schedule({10}, handler, 0);
  EventQueue::Event event;
  ASSERT_TRUE(queue.pop(Time::max(), event));
  EXPECT_THROW(queue.schedule({9}, handler, 0), base::InvariantViolation);
  queue.schedule({10}, handler, 0);
}

TEST(EventQueue, IgnoresTheIdOfAnEventThatHasFiredThoughItsSlotIsInUseAgain) {
  Nothing handler;
  EventQueue queue;
  const EventId first = queue.schedule({1}, handler, 0);
  EventQueue::Event event;
  ASSERT_TRUE(queue.pop(Time::max(), event));
  const EventId second = queue.schedule({2}, handler, 0);
  ASSERT_EQ(EventQueue::slot_of(first), EventQueue::slot_of(second));
  EXPECT_FALSE(queue.cancel(first));
  EXPECT_TRUE(queue.pending(second));
  EXPECT_TRUE(queue.cancel(second));
  EXPECT_FALSE(queue.cancel(second));
  EXPECT_FALSE(queue.cancel(EventId{}));
  EXPECT_FALSE(queue.pop(Time::max(), event));
}

TEST(EventQueue, StaysUnderFortyBytesAnEventWithAMillionPending) {
  Nothing handler;
  EventQueue queue;
  RandomStream random(1, "test");
  for (int i = 0; i < 1'000'000; ++i) {
    queue.schedule({random.exponential(Duration::millis(1)).ns}, handler, 0);
  }
  EventQueue::Event event;
  std::vector<EventId> ids(64);
  for (std::size_t i = 0; i < 300'000; ++i) {
    ASSERT_TRUE(queue.pop(Time::max(), event));
    // One in four of what is scheduled is cancelled before it is due.
    for (int n = 0; n < (i % 3 == 0 ? 2 : 1); ++n) {
      ids[i % 64] =
          queue.schedule(event.time + random.exponential(Duration::millis(1)), handler, 0);
    }
    if (i % 3 == 0) queue.cancel(ids[i % 64]);
  }
  EXPECT_LE(queue.memory_bytes(), 40U * queue.size());
}

TEST(EventQueue, StaysSmallWhenEverythingIsCancelled) {
  Nothing handler;
  EventQueue queue;
  for (int i = 0; i < 1'000'000; ++i) {
    queue.cancel(queue.schedule({1'000'000'000 + i}, handler, 0));
  }
  EXPECT_TRUE(queue.empty());
  EXPECT_LE(queue.memory_bytes(), 200'000U);
}

}  // namespace
}  // namespace tailrace::sim
