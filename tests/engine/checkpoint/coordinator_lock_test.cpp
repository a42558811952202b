// What comes while the lock is taken runs later, in the order in which it came.
#include "engine/checkpoint/coordinator_lock.hpp"

#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "sim/base/assert.hpp"

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

TEST(CoordinatorLock, IsReleasedAsOftenAsItWasKept) {
  CoordinatorLock lock;
  bool ran = false;
  lock.run([&] {
    lock.keep();
    lock.keep();
  });
  lock.run([&] { ran = true; });
  lock.release();
  EXPECT_FALSE(ran);
  lock.release();
  EXPECT_TRUE(ran);
  EXPECT_THROW(lock.release(), base::InvariantViolation);
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
