// The one file that several subtasks of a task manager write their buffers in flight to.
//
// Flink 1.20 ChannelStateCheckpointWriter, ChannelStatePendingResult, ChannelStateSerializerImpl (spec
// barriers.md 5.6). The file: a version, then buffers, each behind its length; both are 4-byte
// integers. Belongs to one writer thread, which waits for whatever goes to the store.
//   W1  All results are completed together, when every subtask that was registered has begun the
//       checkpoint and finished its input and its output; or all have failed.
//   W2  Once one result is done nothing is written any more.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/checkpoint/checkpoint_options.hpp"
#include "engine/network/buffer.hpp"
#include "engine/network/channel_info.hpp"
#include "engine/state/checkpoint_stream_factory.hpp"
#include "engine/task/channel_state_write_result.hpp"
#include "sim/base/lifeline.hpp"

namespace tailrace::engine::f120 {

// Flink SubtaskID: a subtask of the job.
struct ChannelStateSubtask {
  std::int32_t vertex = 0;
  std::int32_t subtask = 0;
  friend auto operator<=>(const ChannelStateSubtask&, const ChannelStateSubtask&) = default;
};

class ChannelStateCheckpointWriter {
 public:
  // What the thread does next: go on, or wait until `written` has run.
  enum class Next : std::uint8_t { kGo, kWait };

  // `written` outlives nothing: it runs once for each kWait. Requires: subtasks is not empty.
  ChannelStateCheckpointWriter(std::set<ChannelStateSubtask> subtasks, CheckpointId checkpoint,
                               CheckpointOptions options, FsCheckpointStreamFactory& streams,
                               base::InplaceFunction<void()> written);

  // Requires: not done; not twice for one subtask.
  void register_subtask_result(ChannelStateSubtask subtask,
                               std::shared_ptr<ChannelStateWriteResult> result);
  // It will never begin this checkpoint.
  [[nodiscard]] Next release_subtask(ChannelStateSubtask subtask);

  // Requires, as all below: the subtask has begun, and its input or output is not complete.
  [[nodiscard]] Next write_input(ChannelStateSubtask subtask, InputChannelInfo channel,
                                 const Buffer& buffer);
  [[nodiscard]] Next write_output(ChannelStateSubtask subtask, ResultSubpartitionInfo subpartition,
                                  const Buffer& buffer);
  [[nodiscard]] Next complete_input(ChannelStateSubtask subtask);
  [[nodiscard]] Next complete_output(ChannelStateSubtask subtask);

  // The subtask is the culprit: the others fail with CHANNEL_STATE_SHARED_STREAM_EXCEPTION.
  void fail(ChannelStateSubtask subtask, CheckpointFailureReason reason);
  void fail(CheckpointFailureReason reason);

  [[nodiscard]] bool is_done() const;
  // All results have been completed; the writer has nothing left to do.
  [[nodiscard]] bool is_completed() const { return completed_; }

 private:
  // Flink StateContentMetaInfo.
  struct Content {
    std::vector<std::int64_t> offsets;
    std::int64_t size_bytes = 0;
  };
  struct PendingResult {
    std::shared_ptr<ChannelStateWriteResult> result;
    std::map<InputChannelInfo, Content> inputs;
    std::map<ResultSubpartitionInfo, Content> outputs;
    bool all_inputs_received = false;
    bool all_outputs_received = false;
  };

  PendingResult& pending(ChannelStateSubtask subtask);
  Next write(Content& content, const Buffer& buffer);
  Next flush(std::int64_t bytes);
  Next try_finish_result();
  void finish_results(const StreamStateHandlePtr& stream);
  template <typename Info>
  std::vector<ChannelStateHandle<Info>> handles_of(std::int32_t subtask,
                                                   const std::map<Info, Content>& contents,
                                                   const StreamStateHandlePtr& stream) const;

  std::set<ChannelStateSubtask> to_register_;
  std::map<ChannelStateSubtask, PendingResult> results_;
  CheckpointId checkpoint_;
  CheckpointOptions options_;
  FsCheckpointStreamFactory& streams_;
  base::InplaceFunction<void()> written_;
  std::vector<std::byte> bytes_;
  std::int64_t ahead_ = 0;  // of bytes_, in the store already
  CheckpointStateOutputStream upload_;
  bool failed_ = false;
  bool completed_ = false;
  base::Lifeline lifeline_;
};

}  // namespace tailrace::engine::f120
