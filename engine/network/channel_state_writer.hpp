// Where the buffers in flight of an unaligned checkpoint are written.
//
// Flink 1.20 ChannelStateWriter (spec barriers.md 5.6). The barrier handlers' inputs give it what they
// hold, the subpartitions what the barrier has overtaken. A buffer that was given belongs to the
// writer, and stays out of its pool until its bytes are written.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/checkpoint/checkpoint_options.hpp"
#include "engine/ids.hpp"
#include "engine/network/buffer.hpp"
#include "engine/network/channel_info.hpp"
#include "sim/base/assert.hpp"
#include "sim/base/callback.hpp"

namespace tailrace::engine {

class ChannelStateWriteResult;  // engine/task/channel_state_write_result.hpp

// The output state of a subpartition whose barrier may still time out: nothing if the barrier left
// in time, else what it overtook, or failed. Done once; further calls are ignored.
class ChannelStateDataFuture {
 public:
  enum class State : std::uint8_t { kOpen, kCompleted, kFailed };

  void complete(std::vector<Buffer> data) {
    if (state_ != State::kOpen) return;
    data_ = std::move(data);
    finish(State::kCompleted);
  }
  void fail() {
    if (state_ == State::kOpen) finish(State::kFailed);
  }
  // Runs at once if it is done. At most one listener.
  void when_done(base::InplaceFunction<void()> listener) {
    TAILRACE_ASSERT(!listener_);
    if (state_ != State::kOpen) {
      listener();
    } else {
      listener_ = std::move(listener);
    }
  }

  [[nodiscard]] State state() const { return state_; }
  // Requires: completed. Once.
  [[nodiscard]] std::vector<Buffer> take_data() { return std::move(data_); }

 private:
  void finish(State state) {
    state_ = state;
    if (auto listener = std::exchange(listener_, {})) listener();
  }

  State state_ = State::kOpen;
  std::vector<Buffer> data_;
  base::InplaceFunction<void()> listener_;
};

class ChannelStateWriter {
 public:
  // What `start_sequence_number` says when the number does not matter.
  static constexpr std::int32_t kSequenceNumberRestored = -1;
  static constexpr std::int32_t kSequenceNumberUnknown = -2;

  virtual ~ChannelStateWriter() = default;
  virtual void start(CheckpointId id, const CheckpointOptions& options) = 0;
  virtual void add_input_data(CheckpointId id, InputChannelInfo channel,
                              std::int32_t start_sequence_number, std::vector<Buffer> data) = 0;
  virtual void add_output_data(CheckpointId id, ResultSubpartitionInfo subpartition,
                               std::int32_t start_sequence_number, std::vector<Buffer> data) = 0;
  virtual void add_output_data_future(CheckpointId id, ResultSubpartitionInfo subpartition,
                                      std::int32_t start_sequence_number,
                                      std::shared_ptr<ChannelStateDataFuture> data) = 0;
  // No more buffers of the inputs, or of the outputs, belong to the checkpoint.
  virtual void finish_input(CheckpointId id) = 0;
  virtual void finish_output(CheckpointId id) = 0;
  // Also of checkpoints that were never started.
  virtual void abort(CheckpointId id) = 0;
  // What becomes of a checkpoint that was started. Once for each. Null: nothing is written here.
  [[nodiscard]] virtual std::shared_ptr<ChannelStateWriteResult> take_write_result(
      CheckpointId /*id*/) {
    return nullptr;
  }
  virtual void close() = 0;
};

// Flink's writer of a task without unaligned checkpoints (NO_OP).
class NoChannelStateWriter final : public ChannelStateWriter {
 public:
  void start(CheckpointId, const CheckpointOptions&) override {}
  void add_input_data(CheckpointId, InputChannelInfo, std::int32_t, std::vector<Buffer>) override {}
  void add_output_data(CheckpointId, ResultSubpartitionInfo, std::int32_t,
                       std::vector<Buffer>) override {}
  void add_output_data_future(CheckpointId, ResultSubpartitionInfo, std::int32_t,
                              std::shared_ptr<ChannelStateDataFuture>) override {}
  void finish_input(CheckpointId) override {}
  void finish_output(CheckpointId) override {}
  void abort(CheckpointId) override {}
  void close() override {}
};

}  // namespace tailrace::engine
