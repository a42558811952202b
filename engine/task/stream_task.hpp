// One running subtask: reads its input, runs its operators, takes its checkpoints.
//
// StreamTask, OneInputStreamTask, TwoInputStreamTask, SourceStreamTask, StreamInputProcessor of Flink
// 1.10 and 1.20. The task's
// thread is mapped to virtual time in slices: the task processes records of one buffer (a source:
// records that are due) until their priced work reaches Compute::slice(), then occupies a core for
// that long, and only then publishes what it has written. Between slices it runs its mails. So a
// barrier, a mail or a cancellation never falls inside a record, as in Flink.
//
// The end in 1.20 (spec coordinator.md ):
//   processing -> data ending  the source has finished or was stopped, or EndOfData is in from every
//                              channel; operators finish
//              -> data ended   EndOfData is out; an input task goes on reading events
//              -> loop left    all partitions before have ended (a source: at once); stays for its
//                              final checkpoint and until the next tasks have processed everything
//              -> closing      no mails any more; waits for asynchronous parts
//              -> ended        EndOfPartitionEvent is out
//
// A task whose head has a service time (Compute::service) takes its records one by one: the record is
// read, served, and then handed on, and mails run between two records. It needs no core for that, and
// what it reads and writes is part of the service.
//
// A write that finds no segment blocks the task inside the record (spec barriers.md 6.1): no mail
// runs until the writer has got rid of the rest.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/barrier/checkpoint_listener.hpp"
#include "engine/barrier/checkpointed_input.hpp"
#include "engine/barrier/inputs_checkpoint_initializer.hpp"
#include "engine/checkpoint/messages.hpp"
#include "engine/network/channel_state_writer.hpp"
#include "engine/observer.hpp"
#include "engine/ports.hpp"
#include "engine/scheduling/deployment.hpp"
#include "engine/state/checkpoint_responder.hpp"
#include "engine/task/channel_reader.hpp"
#include "engine/task/checkpointing_task.hpp"
#include "engine/task/input_selection.hpp"
#include "engine/task/mailbox.hpp"
#include "engine/task/operator_chain.hpp"
#include "engine/task/service_pacer.hpp"
#include "engine/task/task_cuts.hpp"
#include "engine/task/task_io_metrics.hpp"
#include "sim/base/lifeline.hpp"

namespace tailrace::engine {

namespace f120 {
class ChannelStateWriteRequestExecutorFactory;
class SequentialChannelStateReader;
}  // namespace f120
class AsyncOperationsPool;
class CheckpointedInputs;
class InputGate;
class FsCheckpointStreamFactory;
class NetworkEnvironment;
class RecordWriter;
class ResultPartition;
class SingleInputGate;
struct StreamOperatorStateContext;
class StreamTaskCheckpoints;
class StreamTaskStateInitializerImpl;
class TaskStateManagerImpl;
struct TaskSemantics;

// What a running subtask tells the Task around it. All calls come from the task's own events.
class StreamTaskHost : public CheckpointResponder {
 public:
  virtual void state_restored(std::int64_t state_bytes) = 0;
  // Its operators are open; from now on it takes part in checkpoints.
  virtual void invokable_restored() = 0;
  // 1.20: all its records have been processed; it waits for its final checkpoint.
  virtual void end_of_data() = 0;
  virtual void report_checkpoint_metrics(ReportCheckpointMetrics message) = 0;  // 1.20
  // The invokable has left its run loop by itself (FINISHED), or must end (FAILED).
  virtual void invokable_finished() = 0;
  virtual void invokable_failed(std::string cause) = 0;
  // After cancel(): the task's thread has come to rest.
  virtual void invokable_stopped() = 0;

 protected:
  ~StreamTaskHost() = default;
};

class StreamTask final : private CheckpointListener,
                         private CheckpointingTask,
                         private InputsCheckpointInitializer {
 public:
  // Sets up partitions and gates (Flink Task.setupPartitionsAndGates). `process_started`: of the
  // task manager; decides when metrics are updated. `channel_state`: with whom the task shares files
  // of buffers in flight; outlives it; null: with nobody.
  StreamTask(const Ports& ports, NetworkEnvironment& network,
             std::shared_ptr<const TaskDeploymentDescriptor> descriptor, StreamTaskHost& host,
             Time process_started = {},
             f120::ChannelStateWriteRequestExecutorFactory* channel_state = nullptr);
  ~StreamTask();
  StreamTask(const StreamTask&) = delete;
  StreamTask& operator=(const StreamTask&) = delete;

  // Why the set-up failed (not enough buffers); empty if it did not.
  [[nodiscard]] const std::string& set_up_error() const { return set_up_error_; }

  // Restores the operators' state, then opens them and runs. Once.
  void invoke();

  // Flink StreamTask.triggerCheckpointAsync, notifyCheckpoint*Async: mails. Dropped by a task that
  // is closing.
  // Returns: false if it was dropped.
  bool trigger_checkpoint(CheckpointMetaData meta, CheckpointOptions options,
                          bool advance_to_end_of_event_time);
  void notify_checkpoint_complete(CheckpointId id);
  void notify_checkpoint_aborted(CheckpointId id, CheckpointId latest_completed);  // 1.20
  void notify_checkpoint_subsumed(CheckpointId id);                                // 1.20

  // Stops at the end of the current slice; then the host is told.
  void cancel();

  // Hands over the partitions after the end of the task: consumers may still be reading.
  [[nodiscard]] std::vector<std::unique_ptr<ResultPartition>> take_partitions();

  // Observation.
  // Deserialised, or emitted by the source.
  [[nodiscard]] std::int64_t records_in() const { return records_in_; }
  [[nodiscard]] std::int64_t records_out() const;  // serialised
  // The same as its receivers count them: a broadcast is one for each of them.
  [[nodiscard]] std::int64_t copies_out() const;
  [[nodiscard]] const TaskDeploymentDescriptor& descriptor() const { return *descriptor_; }
  [[nodiscard]] const std::vector<std::unique_ptr<ResultPartition>>& partitions() const {
    return partitions_;
  }
  [[nodiscard]] const std::vector<std::unique_ptr<SingleInputGate>>& gates() const {
    return gates_;
  }
  // Flink's gauges of a task; reading them changes nothing.
  // Null in 1.10, which does not measure them.
  [[nodiscard]] const TaskIOMetrics* io_metrics() const {
    return io_metrics_ ? &*io_metrics_ : nullptr;
  }
  // Some output has no buffer right now. 1.10 samples this from outside.
  [[nodiscard]] bool is_back_pressured() const;
  // checkpointAlignmentTime: the running alignment so far, else the last one. None at a source.
  [[nodiscard]] std::optional<Duration> checkpoint_alignment_time() const;
  // checkpointStartDelayNanos (1.20): how long the latest checkpoint took to reach this task, from
  // its trigger to its first barrier here or, at a source, to the call.
  [[nodiscard]] std::optional<Duration> checkpoint_start_delay() const;
  // Bytes of channel `channel` (over all gates, in order) that were deserialised so far.
  [[nodiscard]] std::int64_t bytes_consumed(ChannelIndex channel) const;

 private:
  // One of the inputs of its operator: some of the task's gates, read as one. Several of them, or one
  // with several gates.
  struct Input final : BarrierObserver {
    explicit Input(StreamTask& owner) : task(&owner) {}
    void on_barrier_received(ChannelIndex channel, CheckpointId id) override;
    void on_barrier_processed(ChannelIndex channel, CheckpointId id) override;

    StreamTask* task;
    std::vector<InputGate*> gates;
    std::vector<ChannelIndex> channels;     // of the task, by channel of the input
    std::unique_ptr<InputGate> union_gate;  // with several gates
    InputGate* gate = nullptr;
    CheckpointedInput* checkpointed = nullptr;  // what reads the gate
    ChannelReader* current = nullptr;           // what current_ was at the end of its last turn
    bool priority_mail = false;                 // one is in the mailbox
    std::int32_t channels_at_end_of_recovery = 0;
    std::int32_t channels_at_end_of_data = 0;
    bool drains = true;  // no channel has stopped without drain
  };

  // The timers of its barrier handler: callbacks run as mails.
  class MailTimers final : public Timers {
   public:
    explicit MailTimers(StreamTask& task) : task_(task) {}
    TimerId schedule(Duration delay, Callback callback) override {
      return task_.register_timer(delay, std::move(callback));
    }
    void cancel(TimerId timer) override { task_.cancel_timer(timer); }

   private:
    StreamTask& task_;
  };

  void set_up_outputs();
  void set_up_inputs();
  void make_checkpoints();
  void make_channel_state_writer();
  // Buffers in flight that it is restored with (spec rescale.md S-4.1): those of the outputs before the
  // operators, those of the inputs while it runs already, before anything comes from the network.
  void restore_outputs();
  void restore_output(std::int32_t partition, std::int32_t subpartition, std::int32_t old_subtask,
                      std::span<const std::byte> data);
  void restore_operators();
  void restore_inputs();
  void restore_input(std::int32_t gate, std::int32_t channel, std::int32_t old_subtask,
                     std::span<const std::byte> data);
  void demultiplex_inputs();
  void take_recovered();
  void inputs_recovered();
  void end_upstream_recovery(const Input& input);
  [[nodiscard]] bool has_inputs_to_restore() const;
  void restore_next_operator();
  void start_running();
  void open_operators();
  void restored();
  // 1.20: runs all gates' debloating in a mail, once a period, from now on.
  void schedule_debloating();

  // Makes `step` run as an event of its own, once, unless the task is computing.
  void wake();
  void step();
  void run_mails();
  void process_input();
  // Gives the turn to the next input if the last one's is over. Returns: false if none has anything.
  bool turn_to_input();
  // The input whose turn it is has nothing, now or for good.
  void input_has_nothing();
  [[nodiscard]] std::optional<BufferOrEvent> poll(Input& input);
  [[nodiscard]] bool inputs_finished() const;
  void make_inputs();
  void process_priority_events(Input& input);
  void put_priority_mail(Input& input);
  // Gives a buffer to its channel. Returns: false if the task has failed.
  bool set_next_buffer(ChannelIndex channel, Buffer buffer);
  void process_source();
  // Reads the next record and serves it, then hands it on.
  void serve_next_record();
  void hand_on();
  void rest_after_emission();
  void go_on_after_service();
  [[nodiscard]] std::optional<Duration> service() const;
  Time serve_from(Time now);
  // Occupies a core for what has been spent, then publishes and goes on.
  void pay();
  void pay_done();
  void leave_loop();
  void finish_if_nothing_keeps_it();
  void drain_mailbox();
  void finish();
  void close_operators();
  void stop();

  void put_trigger(std::unique_ptr<CheckpointBarrier> trigger);
  void stop_source(std::unique_ptr<CheckpointBarrier> trigger);
  // Performs a checkpoint when the thread has done what comes before its barrier.
  void begin_checkpoint(base::Callback perform);
  void notify(base::Callback mail);
  void receive_event(ChannelIndex channel, const RuntimeEvent& event);
  void receive_end_of_data(const EndOfData& event);
  void end_data(bool drain);
  void announce_end_of_data();
  [[nodiscard]] bool stays_for_final_checkpoint() const;

  void turn_to(TaskActivity activity) {
    if (io_metrics_) io_metrics_->set_activity(activity);
  }
  [[nodiscard]] bool blocked_inside_record() const;
  [[nodiscard]] bool outputs_available() const;
  void broadcast(const RuntimeEvent& event);
  void publish_outputs();
  void charge_wire_work();

  // CheckpointListener
  void trigger_checkpoint_on_barrier(const CheckpointMetaData& meta,
                                     const CheckpointOptions& options,
                                     const AlignmentMetrics& metrics) override;
  void abort_checkpoint_on_barrier(CheckpointId id, CheckpointFailureReason reason) override;
  void alignment_ended(CheckpointId id, const AlignmentMetrics& metrics) override;
  // InputsCheckpointInitializer
  std::optional<CheckpointFailureReason> init_inputs_checkpoint(
      CheckpointId id, const CheckpointOptions& options) override;
  // CheckpointingTask
  [[nodiscard]] bool is_running() const override { return running_; }
  [[nodiscard]] AsyncCheckpointRunnable::Finished finished() const override;
  void prepare_snapshot_pre_barrier(CheckpointId id) override;
  void broadcast_event(const RuntimeEvent& event, bool priority) override;
  bool snapshot_state(const CheckpointMetaData& meta, const CheckpointOptions& options,
                      const AlignmentMetrics& alignment,
                      std::vector<OperatorSnapshotFutures>& futures) override;
  void submit(std::shared_ptr<AsyncCheckpointRunnable> runnable) override;
  void submit_close(std::shared_ptr<AsyncOperation> operation) override;
  void notify_operators_complete(CheckpointId id) override;
  void notify_operators_aborted(CheckpointId id) override;
  void notify_operators_subsumed(CheckpointId id) override;
  void prepare_input_snapshot(CheckpointId id, base::Callback done) override;
  void aligned_barrier_timeout(CheckpointId id) override;
  void abort_outputs(CheckpointId id) override;
  TimerId register_timer(Duration delay, base::Callback mail) override;
  void cancel_timer(TimerId timer) override;
  void acknowledge(CheckpointId id, const CheckpointMetrics& metrics,
                   std::shared_ptr<const TaskStateSnapshot> state) override;
  void decline(CheckpointId id, CheckpointFailureReason reason) override;
  void report_incomplete(CheckpointId id, const CheckpointMetrics& metrics) override;
  void fail(std::string cause) override;

  [[nodiscard]] SubtaskRef subtask_ref() const;

  Ports ports_;
  NetworkEnvironment* network_;
  std::shared_ptr<const TaskDeploymentDescriptor> descriptor_;
  StreamTaskHost* host_;
  const TaskSemantics* semantics_;
  ComputeClient client_;

  std::vector<std::unique_ptr<ResultPartition>> partitions_;
  std::vector<std::unique_ptr<RecordWriter>> writers_;
  std::vector<std::unique_ptr<SingleInputGate>> gates_;
  std::vector<std::unique_ptr<Input>> operator_inputs_;  // none: a source
  std::unique_ptr<CheckpointedInputs> inputs_;
  Input* input_ = nullptr;                   // whose turn it is; null: a source
  std::optional<InputSelection> selection_;  // with several inputs
  std::vector<ChannelReader> readers_;       // by channel, over all gates in order
  ChannelReader* current_ = nullptr;         // the channel whose buffer is being read
  MailTimers mail_timers_{*this};

  std::unique_ptr<TaskStateManagerImpl> state_manager_;
  std::unique_ptr<StreamTaskStateInitializerImpl> state_initializer_;
  std::unique_ptr<FsCheckpointStreamFactory> stream_factory_;
  std::vector<std::unique_ptr<StreamOperatorStateContext>> state_;  // by chain index
  std::vector<OperatorContext> contexts_;
  std::unique_ptr<OperatorChain> chain_;
  std::size_t restored_operators_ = 0;
  std::string set_up_error_;

  std::optional<TaskIOMetrics> io_metrics_;
  Mailbox mailbox_;
  Duration spent_;
  Time paying_since_;
  f120::ChannelStateWriteRequestExecutorFactory* channel_state_executors_;
  std::unique_ptr<ChannelStateWriter> channel_state_;
  TaskCuts cuts_;
  std::unique_ptr<StreamTaskCheckpoints> checkpoints_;
  // Once the synchronous part is paid for, they go to the pool.
  std::vector<std::shared_ptr<AsyncCheckpointRunnable>> starting_;
  std::unique_ptr<AsyncOperationsPool> async_pool_;
  std::vector<base::Callback> beginning_;  // checkpoints, when their start is paid for
  std::vector<std::pair<std::size_t, ChannelIndex>> resuming_;  // gate and channel, when paid for
  TimerId source_timer_;

  // With a service time. The record that is being served does not hold the buffer it came from.
  bool served_ = false;
  bool rest_due_ = false;  // of a source whose last record is not in buffers yet
  TimerId service_timer_;  // while a record is being served
  ServicePacer pacer_;
  std::string served_text_;
  Record served_record_;

  // 1.20: of the inputs, read back and not yet processed.
  struct RecoveredBuffer {
    ChannelIndex channel;
    SubtaskConnectionDescriptor from;
    Buffer data;
  };
  std::unique_ptr<f120::SequentialChannelStateReader> channel_state_reader_;
  std::deque<RecoveredBuffer> recovered_;
  bool recovering_inputs_ = false;
  bool inputs_read_back_ = false;

  bool open_ = false;    // operators are open, the loop runs
  bool running_ = true;  // Flink's isRunning: not cancelled, not finished
  bool canceled_ = false;
  bool computing_ = false;
  bool waking_ = false;
  bool ended_ = false;

  // 1.20.
  bool finished_on_restore_ = false;  // the checkpoint had it finished: no operator is ever called
  bool source_stopped_ = false;       // by a stop savepoint
  bool stop_drains_ = false;
  std::unique_ptr<CheckpointBarrier> stop_trigger_;  // of that savepoint
  std::size_t inputs_at_end_of_data_ = 0;
  bool inputs_drain_ = true;  // none of them has stopped without drain
  bool data_ending_ = false;
  bool data_drained_ = false;
  bool data_ended_ = false;
  bool loop_left_ = false;
  bool closing_ = false;

  std::int64_t records_in_ = 0;
  std::int64_t deserialised_records_ = 0;  // not yet charged
  std::int64_t deserialised_bytes_ = 0;
  std::int64_t charged_records_ = 0;  // of those written
  std::int64_t charged_bytes_ = 0;
  base::Lifeline lifeline_;
};

}  // namespace tailrace::engine
