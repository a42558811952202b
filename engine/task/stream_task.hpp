// One running subtask: reads its input, runs its operators, takes its checkpoints.
//
// Flink 1.10 StreamTask, OneInputStreamTask, SourceStreamTask, StreamInputProcessor. The task's
// thread is mapped to virtual time in slices: the task processes records of one buffer (a source:
// records that are due) until their priced work reaches Compute::slice(), then occupies a core for
// that long, and only then publishes what it has written. Between slices it runs its mails. So a
// barrier, a mail or a cancellation never falls inside a record, as in Flink.
//
// A write that finds no segment blocks the task inside the record (spec barriers.md 6.1): no mail
// runs until the writer has got rid of the rest.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/barrier/checkpoint_listener.hpp"
#include "engine/barrier/checkpointed_input.hpp"
#include "engine/checkpoint/messages.hpp"
#include "engine/network/record_deserializer.hpp"
#include "engine/observer.hpp"
#include "engine/ports.hpp"
#include "engine/scheduling/deployment.hpp"
#include "engine/state/checkpoint_responder.hpp"
#include "engine/task/mailbox.hpp"
#include "engine/task/operator_chain.hpp"
#include "sim/base/lifeline.hpp"

namespace tailrace::engine {

class AsyncCheckpointRunnable;
class CheckpointedInputs;
class InputGate;
class FsCheckpointStreamFactory;
class NetworkEnvironment;
class RecordWriter;
class ResultPartition;
class SingleInputGate;
struct StreamOperatorStateContext;
class StreamTaskStateInitializerImpl;
class TaskStateManagerImpl;

// What a running subtask tells the Task around it. All calls come from the task's own events.
class StreamTaskHost : public CheckpointResponder {
 public:
  virtual void state_restored(std::int64_t state_bytes) = 0;
  // The invokable has left its run loop by itself (FINISHED), or must end (FAILED).
  virtual void invokable_finished() = 0;
  virtual void invokable_failed(std::string cause) = 0;
  // After cancel(): the task's thread has come to rest.
  virtual void invokable_stopped() = 0;

 protected:
  ~StreamTaskHost() = default;
};

class StreamTask final : private CheckpointListener, private BarrierObserver {
 public:
  // Sets up partitions and gates (Flink Task.setupPartitionsAndGates).
  StreamTask(const Ports& ports, NetworkEnvironment& network,
             std::shared_ptr<const TaskDeploymentDescriptor> descriptor, StreamTaskHost& host);
  ~StreamTask();
  StreamTask(const StreamTask&) = delete;
  StreamTask& operator=(const StreamTask&) = delete;

  // Why the set-up failed (not enough buffers); empty if it did not.
  [[nodiscard]] const std::string& set_up_error() const { return set_up_error_; }

  // Restores the operators' state, then opens them and runs. Called when the task is RUNNING.
  void invoke();

  // Flink StreamTask.triggerCheckpointAsync, notifyCheckpointCompleteAsync: mails.
  void trigger_checkpoint(CheckpointMetaData meta, CheckpointOptions options,
                          bool advance_to_end_of_event_time);
  void notify_checkpoint_complete(CheckpointId id);

  // Stops at the end of the current slice; then the host is told.
  void cancel();

  // Hands over the partitions after the end of the task: consumers may still be reading.
  [[nodiscard]] std::vector<std::unique_ptr<ResultPartition>> take_partitions();

  // Observation.
  // Deserialised, or emitted by the source.
  [[nodiscard]] std::int64_t records_in() const { return records_in_; }
  [[nodiscard]] std::int64_t records_out() const;  // serialised
  [[nodiscard]] const TaskDeploymentDescriptor& descriptor() const { return *descriptor_; }
  [[nodiscard]] const std::vector<std::unique_ptr<ResultPartition>>& partitions() const {
    return partitions_;
  }
  [[nodiscard]] const std::vector<std::unique_ptr<SingleInputGate>>& gates() const {
    return gates_;
  }
  // Bytes of channel `channel` (over all gates, in order) that were deserialised so far.
  [[nodiscard]] std::int64_t bytes_consumed(ChannelIndex channel) const;

 private:
  // One channel's deserializer; records span buffers.
  struct Reader;

  void set_up_outputs();
  void set_up_inputs();
  void restore_next_operator();
  void start_running();

  // Makes `step` run as an event of its own, once, unless the task is computing.
  void wake();
  void step();
  void run_mails();
  void process_input();
  void process_source();
  // Occupies a core for what has been spent, then publishes and goes on.
  void pay();
  void pay_done();
  void finish();
  void stop();

  [[nodiscard]] bool blocked_inside_record() const;
  [[nodiscard]] bool outputs_available() const;
  void broadcast(const RuntimeEvent& event);
  void publish_outputs();
  void charge_wire_work();

  bool perform_checkpoint(const CheckpointMetaData& meta, const CheckpointOptions& options,
                          const AlignmentMetrics& metrics);
  void snapshot_operators(const CheckpointMetaData& meta, const CheckpointOptions& options,
                          const AlignmentMetrics& metrics);
  void complete_checkpoint(CheckpointId id);
  void forget(const AsyncCheckpointRunnable& runnable);

  // CheckpointListener
  void trigger_checkpoint_on_barrier(const CheckpointMetaData& meta,
                                     const CheckpointOptions& options,
                                     const AlignmentMetrics& metrics) override;
  void abort_checkpoint_on_barrier(CheckpointId id, CheckpointFailureReason reason) override;
  // BarrierObserver
  void on_barrier_processed(ChannelIndex channel, CheckpointId id) override;
  void decline(CheckpointId id, CheckpointFailureReason reason);

  [[nodiscard]] SubtaskRef subtask_ref() const;

  Ports ports_;
  NetworkEnvironment* network_;
  std::shared_ptr<const TaskDeploymentDescriptor> descriptor_;
  StreamTaskHost* host_;
  ComputeClient client_;

  std::vector<std::unique_ptr<ResultPartition>> partitions_;
  std::vector<std::unique_ptr<RecordWriter>> writers_;
  std::vector<std::unique_ptr<SingleInputGate>> gates_;
  std::unique_ptr<InputGate> union_gate_;  // with several gates
  std::unique_ptr<CheckpointedInputs> inputs_;
  CheckpointedInput* input_ = nullptr;  // null: a source
  std::vector<Reader> readers_;         // by channel of input_
  Reader* current_ = nullptr;           // the channel whose buffer is being read

  std::unique_ptr<TaskStateManagerImpl> state_manager_;
  std::unique_ptr<StreamTaskStateInitializerImpl> state_initializer_;
  std::unique_ptr<FsCheckpointStreamFactory> stream_factory_;
  std::vector<std::unique_ptr<StreamOperatorStateContext>> state_;  // by chain index
  std::vector<OperatorContext> contexts_;
  std::unique_ptr<OperatorChain> chain_;
  std::size_t restored_operators_ = 0;
  std::string set_up_error_;

  Mailbox mailbox_;
  Duration spent_;
  Time paying_since_;
  std::vector<std::unique_ptr<AsyncCheckpointRunnable>> starting_;  // once the sync part is paid
  std::vector<std::unique_ptr<AsyncCheckpointRunnable>> async_;
  std::optional<CheckpointId> sync_savepoint_;
  TimerId source_timer_;

  bool open_ = false;    // operators are open, the loop runs
  bool running_ = true;  // Flink's isRunning: not cancelled, not finished
  bool computing_ = false;
  bool waking_ = false;
  bool finish_requested_ = false;
  bool ended_ = false;

  std::int64_t records_in_ = 0;
  std::int64_t deserialised_records_ = 0;  // not yet charged
  std::int64_t deserialised_bytes_ = 0;
  std::int64_t charged_records_ = 0;  // of those written
  std::int64_t charged_bytes_ = 0;
  base::Lifeline lifeline_;
};

}  // namespace tailrace::engine
