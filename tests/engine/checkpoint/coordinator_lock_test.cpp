// What comes while the lock is taken runs later, in the order in which it came.
#include "engine/checkpoint/coordinator_lock.hpp"

#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace tailrace::engine {
namespace {

TEST(CoordinatorLock, RunsWhatComesFromInsideAfterwards) {
  CoordinatorLock lock;
  std::string said;
  lock.run([&] {
    lock.run([&] {
      said += 'b';
      lock.run([&] { said += 'd'; });
    });
    lock.run([&] { said += 'c'; });
    said += 'a';
  });
  EXPECT_EQ(said, "abcd");
}

TEST(CoordinatorLock, KeepsEverybodyWaitingUntilItIsReleased) {
  CoordinatorLock lock;
  std::string said;
  lock.run([&] { lock.keep(); });
  lock.run([&] { said += 'b'; });
  lock.resume();
  lock.run([&] { said += 'c'; });
  said += 'a';
  EXPECT_EQ(said, "a");
  lock.release();
  EXPECT_EQ(said, "abc");
}

TEST(CoordinatorLock, IsFreeAfterABodyThatThrows) {
  CoordinatorLock lock;
  EXPECT_THROW(lock.run([] { throw std::runtime_error("broken"); }), std::runtime_error);
  bool ran = false;
  lock.run([&] { ran = true; });
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace tailrace::engine
