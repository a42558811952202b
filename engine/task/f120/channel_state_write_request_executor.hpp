// The writer thread of buffers in flight that several subtasks of a job share in one task manager.
//
// Flink 1.20 ChannelStateWriteRequestExecutorImpl, ChannelStateWriteRequestDispatcherImpl,
// ChannelStateWriteRequestExecutorFactory (spec barriers.md 5.6).
//   E1  Requests run one after another in the order of their submission; a write waits until its bytes
//       have gone to the store.
//   E2  A request that waits for a future holds back the later ones of its subtask, and of no other.
//   E3  A buffer that was submitted stays referenced until it is written or its request is dropped.
//   E4  There is at most one checkpoint at a time; requests of older or aborted ones are dropped.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "engine/network/channel_state_writer.hpp"
#include "engine/ports.hpp"
#include "engine/state/checkpoint_stream_factory.hpp"
#include "engine/task/f120/channel_state_checkpoint_writer.hpp"
#include "sim/base/lifeline.hpp"

namespace tailrace::engine::f120 {

struct ChannelStateWriteRequest {
  struct Register {};
  struct Release {};
  struct Start {
    CheckpointOptions options;
    std::shared_ptr<ChannelStateWriteResult> result;
  };
  struct Write {
    std::variant<InputChannelInfo, ResultSubpartitionInfo> channel;
    std::vector<Buffer> data;
    std::shared_ptr<ChannelStateDataFuture> future = nullptr;  // of the data
    std::size_t written = 0;                                   // of the data
  };
  struct FinishInput {};
  struct FinishOutput {};
  struct Abort {};

  ChannelStateSubtask subtask;
  CheckpointId checkpoint = kNoCheckpoint;
  std::variant<Register, Release, Start, Write, FinishInput, FinishOutput, Abort> what;

  [[nodiscard]] bool is_ready() const;
};

class ChannelStateWriteRequestExecutor {
 public:
  // `ports` outlive this. `on_registered` runs once, when no further subtask may register: there are
  // `max_subtasks`, or a checkpoint has begun, or a subtask has gone.
  ChannelStateWriteRequestExecutor(const Ports& ports, FsCheckpointStreamFactory streams,
                                   std::int32_t max_subtasks,
                                   base::InplaceFunction<void()> on_registered);
  ~ChannelStateWriteRequestExecutor();
  ChannelStateWriteRequestExecutor(const ChannelStateWriteRequestExecutor&) = delete;
  ChannelStateWriteRequestExecutor& operator=(const ChannelStateWriteRequestExecutor&) = delete;

  // Requires: is_registering(); not twice for one subtask.
  void register_subtask(ChannelStateSubtask subtask);
  // With the last one the thread ends: what it has not written is dropped.
  void release_subtask(ChannelStateSubtask subtask);
  [[nodiscard]] bool is_registering() const { return registering_; }

  // Returns: false if the thread has died of an error; then the request is cancelled, and so is
  // every other one. Requires, of both: the subtask is registered.
  bool submit(ChannelStateWriteRequest request);
  bool submit_priority(ChannelStateWriteRequest request);

 private:
  using Next = ChannelStateCheckpointWriter::Next;

  void wake();
  void run();
  void complete_register();
  void await_first(ChannelStateSubtask subtask);
  void move_ready_requests(ChannelStateSubtask subtask);

  // Runs the front request, as far as it goes without waiting. kGo: it is done.
  Next dispatch(ChannelStateWriteRequest& request);
  Next start(const ChannelStateWriteRequest& request, ChannelStateWriteRequest::Start& start);
  Next write(ChannelStateSubtask subtask, ChannelStateWriteRequest::Write& write);
  void abort(const ChannelStateWriteRequest& request);
  [[nodiscard]] bool is_aborted(CheckpointId checkpoint) const {
    return checkpoint < ongoing_ || checkpoint <= max_aborted_;
  }
  void drop_aborted(ChannelStateWriteRequest& request);
  void fail_and_clear_writer(CheckpointFailureReason reason);
  static void cancel(ChannelStateWriteRequest& request, CheckpointFailureReason reason);
  void close();

  const Ports& ports_;
  FsCheckpointStreamFactory streams_;
  std::int32_t max_subtasks_;
  base::InplaceFunction<void()> on_registered_;
  bool registering_ = true;
  std::set<ChannelStateSubtask> subtasks_;

  std::deque<ChannelStateWriteRequest> ready_;
  std::map<ChannelStateSubtask, std::deque<ChannelStateWriteRequest>> unready_;
  bool waking_ = false;
  bool waiting_ = false;  // for the store, with the front request
  bool closed_ = false;
  bool broken_ = false;  // closed by an error

  std::set<ChannelStateSubtask> registered_;  // as the thread knows them
  CheckpointId ongoing_ = kNoCheckpoint;
  CheckpointId max_aborted_ = kNoCheckpoint;
  ChannelStateSubtask aborted_by_;
  std::unique_ptr<ChannelStateCheckpointWriter> writer_;
  std::unique_ptr<ChannelStateWriteRequest> current_;
  base::Lifeline lifeline_;
};

// Which executor a new subtask of a job gets, in one task manager.
class ChannelStateWriteRequestExecutorFactory {
 public:
  // `ports` outlive this and all executors.
  explicit ChannelStateWriteRequestExecutorFactory(const Ports& ports) : ports_(ports) {}

  // Registers the subtask. `streams`: for a new executor.
  [[nodiscard]] std::shared_ptr<ChannelStateWriteRequestExecutor> get_or_create(
      ChannelStateSubtask subtask, std::int32_t max_subtasks_per_file,
      const FsCheckpointStreamFactory& streams);

 private:
  const Ports& ports_;
  std::shared_ptr<ChannelStateWriteRequestExecutor> registering_;
  base::Lifeline lifeline_;
};

}  // namespace tailrace::engine::f120
