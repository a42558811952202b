// An id counter that survives its job manager.
//
// Flink 1.10 and 1.20 ZooKeeperCheckpointIDCounter (spec coordinator.md ).
#pragma once

#include <utility>

#include "engine/checkpoint/checkpoint_id_counter.hpp"
#include "engine/checkpoint/ha/checkpoint_handle_store.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {

class HighAvailabilityIDCounter final : public CheckpointIDCounter {
 public:
  explicit HighAvailabilityIDCounter(SharedCount& count) : count_(count) {}

  [[nodiscard]] bool is_remote() const override { return true; }
  std::optional<CheckpointId> get_and_increment() override {
    TAILRACE_ASSERT_MSG(false, std::string("a remote counter answers later"));
    return std::nullopt;
  }
  void get_and_increment_async(Next done) override { count_.get_and_increment(std::move(done)); }
  // A lost connection is an IllegalStateException or one of ZooKeeper's own.
  [[nodiscard]] bool last_failure_was_io() const override { return false; }
  [[nodiscard]] CheckpointId get() const override { return count_.get(); }
  void set_count(CheckpointId) override {
    TAILRACE_ASSERT_MSG(false, std::string("a remote counter answers later"));
  }
  void set_count_async(CheckpointId next, Set done) override {
    count_.set_count(next, std::move(done));
  }
  void shutdown(JobStatus status) override {
    if (status == JobStatus::FINISHED || status == JobStatus::CANCELED ||
        status == JobStatus::FAILED) {
      count_.remove();
    }
  }

 private:
  SharedCount& count_;
};

}  // namespace tailrace::engine
