// What may block waits for a thread, first in first out; deletions are such work.
#include "engine/checkpoint/f120/io_executor.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/checkpoint/f120/checkpoint_deletion.hpp"

namespace tailrace::engine {
namespace {

// Work that says its name when it starts and ends when it is told to.
class Works {
 public:
  explicit Works(IoExecutor& executor) : executor_(executor) {}
  void add(const std::string& name) {
    executor_.execute([this, name = std::string(name)](IoExecutor::Done done) {
      started += name;
      ends_.emplace(name, std::move(done));
    });
  }
  void end(const std::string& name) {
    IoExecutor::Done done = std::move(ends_.at(name));
    ends_.erase(name);
    done();
  }
  std::string started;

 private:
  IoExecutor& executor_;
  std::map<std::string, IoExecutor::Done> ends_;
};

TEST(IoExecutor, RunsAsMuchAsItHasThreadsInOrder) {
  IoExecutor executor(2);
  Works works(executor);
  for (const char* name : {"a", "b", "c", "d"}) works.add(name);
  EXPECT_EQ(works.started, "ab");
  EXPECT_EQ(executor.waiting(), 2U);
  works.end("b");
  EXPECT_EQ(works.started, "abc");
  works.end("a");
  EXPECT_EQ(works.started, "abcd");
  works.end("c");
  works.end("d");
  EXPECT_EQ(executor.busy(), 0);
}

TEST(IoExecutor, KeepsTheOrderOfWorkThatEndsInsideItsCall) {
  IoExecutor executor(1);
  std::string started;
  executor.execute([&](IoExecutor::Done done) {
    started += 'a';
    executor.execute([&](IoExecutor::Done inner) {
      started += 'c';
      inner();
    });
    started += 'b';
    done();
  });
  EXPECT_EQ(started, "abc");
  EXPECT_EQ(executor.busy(), 0);
}

TEST(IoExecutor, LetsEverythingRunAtTheEndOfAJob) {
  IoExecutor executor(1);
  Works works(executor);
  for (const char* name : {"a", "b", "c"}) works.add(name);
  executor.let_all_run();
  EXPECT_EQ(works.started, "abc");
  works.add("d");
  EXPECT_EQ(works.started, "abcd");
  for (const char* name : {"a", "b", "c", "d"}) works.end(name);
}

TEST(IoExecutor, LendsAThreadThatNobodyWaitsFor) {
  IoExecutor executor(1);
  Works works(executor);
  EXPECT_TRUE(executor.take_thread());
  EXPECT_FALSE(executor.take_thread());
  works.add("a");
  EXPECT_EQ(works.started, "");
  executor.give_back_thread();
  EXPECT_EQ(works.started, "a");
  EXPECT_FALSE(executor.take_thread());
  works.end("a");
}

TEST(IoExecutor, MayGoBeforeItsWork) {
  auto executor = std::make_unique<IoExecutor>(1);
  IoExecutor::Done late;
  executor->execute([&late](IoExecutor::Done done) { late = std::move(done); });
  executor.reset();
  late();
}

// Answers each deletion when it is told to.
class SlowStorage final : public CheckpointStorage {
 public:
  std::optional<CheckpointStorageLocation> initialize_location_for_checkpoint(
      CheckpointId) override {
    return std::nullopt;
  }
  std::optional<CheckpointStorageLocation> initialize_location_for_savepoint(
      CheckpointId, const std::string&) override {
    return std::nullopt;
  }
  void write_metadata(const CheckpointStorageLocation&, std::vector<std::byte>,
                      base::InplaceFunction<void(PutStatus)>) override {}
  void discard_file(const std::string&) override {}
  void dispose_on_failure(CheckpointId, const CheckpointStorageLocation&) override {}
  void dispose_completed(const CheckpointStorageLocation&) override {}
  void delete_file(const std::string& path, Deleted done) override {
    asked += path;
    answers.push_back(std::move(done));
  }
  void delete_location(const CheckpointStorageLocation&, Deleted done) override {
    asked += '/';
    answers.push_back(std::move(done));
  }
  // All that have been asked for so far.
  void answer() {
    auto due = std::move(answers);
    answers.clear();
    for (Deleted& one : due) one();
  }
  std::string asked;
  std::vector<Deleted> answers;
};

struct DeletionCase {
  SlowStorage storage;
  IoExecutor executor{2};
  bool is_over = false;

  void begin(bool parallel) {
    auto names = std::make_shared<std::vector<std::string>>(
        std::vector<std::string>{"a", "b", "c", "d", "m"});
    CheckpointDeletion deletion;
    for (const std::string& name : *names) deletion.files.push_back(&name);
    deletion.owner = names;
    deletion.parallel = parallel;
    deletion.location = [this](CheckpointStorage::Deleted deleted) {
      storage.delete_location({}, std::move(deleted));
    };
    deletion.done = [this] { is_over = true; };
    delete_on(executor, storage, std::move(deletion));
  }
};

TEST(CheckpointDeletion, HoldsUpTheNextCheckpointsLocation) {
  DeletionCase deletion;
  deletion.begin(true);
  deletion.executor.execute([&](IoExecutor::Done done) {
    deletion.storage.asked += '!';
    done();
  });
  EXPECT_EQ(deletion.storage.asked, "ab");
  deletion.storage.answer();
  EXPECT_EQ(deletion.storage.asked, "abcd");
  deletion.storage.answer();
  EXPECT_EQ(deletion.storage.asked, "abcdm!");  // the other thread is free by then
  deletion.storage.answer();
  EXPECT_EQ(deletion.storage.asked, "abcdm!/");
  EXPECT_FALSE(deletion.is_over);
  EXPECT_EQ(deletion.executor.busy(), 1);
  deletion.storage.answer();
  EXPECT_TRUE(deletion.is_over);
  EXPECT_EQ(deletion.executor.busy(), 0);
}

TEST(CheckpointDeletion, TakesOneThreadWithoutParallelMode) {
  DeletionCase deletion;
  deletion.begin(false);
  for (const char* asked : {"a", "ab", "abc", "abcd", "abcdm", "abcdm/"}) {
    EXPECT_EQ(deletion.storage.asked, asked);
    EXPECT_EQ(deletion.executor.busy(), 1);
    EXPECT_FALSE(deletion.is_over);
    deletion.storage.answer();
  }
  EXPECT_TRUE(deletion.is_over);
  EXPECT_EQ(deletion.executor.busy(), 0);
}

}  // namespace
}  // namespace tailrace::engine
