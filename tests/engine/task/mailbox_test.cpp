#include "engine/task/mailbox.hpp"

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace tailrace::engine {
namespace {

TEST(Mailbox, RunsInTheOrderOfArrivalAndCompletionNoticesFirst) {
  Mailbox mailbox;
  std::string ran;
  mailbox.put([&ran] { ran += 'a'; });
  mailbox.put([&ran] { ran += 'b'; });
  mailbox.put_first([&ran] { ran += 'X'; });
  mailbox.put_first([&ran] { ran += 'Y'; });
  while (!mailbox.empty()) mailbox.take()();
  EXPECT_EQ(ran, "XYab");
}

TEST(Mailbox, UrgentMailsCanBeTakenAlone) {
  Mailbox mailbox;
  std::string ran;
  mailbox.put([&ran] { ran += 'a'; });
  EXPECT_FALSE(mailbox.has_urgent());
  mailbox.put_first([&ran] { ran += 'X'; });
  ASSERT_TRUE(mailbox.has_urgent());
  mailbox.take_urgent()();
  EXPECT_FALSE(mailbox.has_urgent());
  EXPECT_FALSE(mailbox.empty());
  EXPECT_EQ(ran, "X");
}

// A mail may bring others: they queue up behind, and the running one is not touched by that.
TEST(Mailbox, AMailMayPutMails) {
  Mailbox mailbox;
  std::string ran;
  mailbox.put([&] {
    mailbox.put([&ran] { ran += 'c'; });
    mailbox.put_first([&ran] { ran += 'X'; });
    ran += 'a';
  });
  mailbox.put([&ran] { ran += 'b'; });
  while (!mailbox.empty()) mailbox.take()();
  EXPECT_EQ(ran, "aXbc");
}

TEST(Mailbox, ClearDestroysWhatItDropsWithoutRunningIt) {
  Mailbox mailbox;
  const auto alive = std::make_shared<int>(0);
  mailbox.put([alive] { ++*alive; });
  mailbox.put_first([alive] { ++*alive; });
  EXPECT_EQ(alive.use_count(), 3);
  mailbox.clear();
  EXPECT_TRUE(mailbox.empty());
  EXPECT_EQ(alive.use_count(), 1);
  EXPECT_EQ(*alive, 0);
}

}  // namespace
}  // namespace tailrace::engine
