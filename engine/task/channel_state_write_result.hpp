// What has become of the buffers in flight that one subtask has given for one checkpoint.
//
// Flink 1.20 ChannelStateWriter.ChannelStateWriteResult (spec barriers.md 5.6). Done once: all handles
// of the subtask, or why there are none.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "engine/checkpoint/checkpoint_failure_reason.hpp"
#include "engine/state/handles.hpp"
#include "sim/base/assert.hpp"
#include "sim/base/callback.hpp"

namespace tailrace::engine {

class ChannelStateWriteResult {
 public:
  struct Handles {
    std::vector<InputChannelStateHandle> input_channels;
    std::vector<ResultSubpartitionStateHandle> result_subpartitions;
  };

  void complete(Handles handles) {
    if (done_) return;
    handles_ = std::move(handles);
    finish();
  }
  // Further calls are ignored, as the first reason counts.
  void fail(CheckpointFailureReason reason) {
    if (done_) return;
    failure_ = reason;
    finish();
  }
  // Runs at once if it is done. At most one listener at a time.
  void when_done(base::InplaceFunction<void()> listener) {
    TAILRACE_ASSERT(!listener_);
    if (done_) {
      listener();
    } else {
      listener_ = std::move(listener);
    }
  }

  [[nodiscard]] bool is_done() const { return done_; }
  [[nodiscard]] std::optional<CheckpointFailureReason> failure() const { return failure_; }
  // Requires: done without a failure. Once.
  [[nodiscard]] Handles take_handles() {
    TAILRACE_ASSERT(done_ && !failure_);
    return std::move(handles_);
  }

 private:
  void finish() {
    done_ = true;
    if (auto listener = std::exchange(listener_, {})) listener();
  }

  bool done_ = false;
  std::optional<CheckpointFailureReason> failure_;
  Handles handles_;
  base::InplaceFunction<void()> listener_;
};

}  // namespace tailrace::engine
