#include "engine/task/stream_task.hpp"

#include <algorithm>
#include <utility>

#include "engine/barrier/checkpointed_inputs.hpp"
#include "engine/generation.hpp"
#include "engine/network/f110/local_buffer_pool.hpp"
#include "engine/network/record_writer.hpp"
#include "engine/network/result_partition.hpp"
#include "engine/network/single_input_gate.hpp"
#include "engine/network/union_input_gate.hpp"
#include "engine/observer.hpp"
#include "engine/state/checkpoint_stream_factory.hpp"
#include "engine/state/heap/heap_keyed_state_backend.hpp"
#include "engine/state/operator_state_backend.hpp"
#include "engine/state/stream_task_state_initializer.hpp"
#include "engine/state/task_state_manager.hpp"
#include "engine/task/async_checkpoint_runnable.hpp"
#include "engine/task/f120/sequential_channel_state_reader.hpp"
#include "engine/task/stream_task_checkpoints.hpp"
#include "engine/task/task_semantics.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

// A source whose records cost nothing would never end its slice; so much at most without a look at
// the mailbox.
constexpr std::int32_t kSourceRecordsPerSliceMax = 4096;

}  // namespace

StreamTask::StreamTask(const Ports& ports, NetworkEnvironment& network,
                       std::shared_ptr<const TaskDeploymentDescriptor> descriptor,
                       StreamTaskHost& host, Time process_started,
                       f120::ChannelStateWriteRequestExecutorFactory* channel_state)
    : ports_(ports),
      network_(&network),
      descriptor_(std::move(descriptor)),
      host_(&host),
      semantics_(&task_semantics(descriptor_->config.generation)),
      client_{descriptor_->vertex, descriptor_->subtask},
      channel_state_executors_(channel_state),
      channel_state_(std::make_unique<NoChannelStateWriter>()),
      cuts_(*ports.observer, *descriptor_),
      async_pool_(semantics_->make_async_pool(*ports.timers)),
      pacer_(ports.compute->service_rules()) {
  served_ = service().has_value();
  if (semantics_->measures_time) io_metrics_.emplace(*ports_.clock, process_started);
  set_up_outputs();
  set_up_inputs();
}

StreamTask::~StreamTask() {
  // Whatever holds buffers goes before the gates and partitions that own them.
  async_pool_.reset();
  starting_.clear();
  mailbox_.clear();
  checkpoints_.reset();
  channel_state_reader_.reset();
  recovered_.clear();
  chain_.reset();
  readers_.clear();
  inputs_.reset();
  operator_inputs_.clear();
  writers_.clear();
  gates_.clear();
  partitions_.clear();
  channel_state_.reset();
}

SubtaskRef StreamTask::subtask_ref() const {
  return {descriptor_->vertex, descriptor_->subtask, descriptor_->attempt_number};
}

// --- the loop ----------------------------------------------------------------------------------

void StreamTask::wake() {
  if (!open_ || computing_ || waking_ || ended_) return;
  waking_ = true;
  ports_.timers->schedule({}, lifeline_.bind([this] {
    waking_ = false;
    if (!computing_) step();
  }));
}

void StreamTask::step() {
  if (ended_) return;
  if (canceled_) {
    stop();
    return;
  }
  if (blocked_inside_record()) {
    turn_to(TaskActivity::kHardBackPressured);
    return;  // its listener wakes us
  }
  if (rest_due_) {
    rest_after_emission();
    return;
  }
  if (data_ending_) announce_end_of_data();
  if (!closing_) run_mails();
  if (ended_ || canceled_) return;
  if (spent_.ns > 0 || !starting_.empty()) {
    pay();
    return;
  }
  if (checkpoints_->is_released()) {
    finish();
    return;
  }
  if (checkpoints_->waits_for_savepoint()) return;  // for its completion
  if (loop_left_) {
    finish_if_nothing_keeps_it();
    return;
  }
  if (!outputs_available()) {
    if (selection_) selection_->interrupted();
    turn_to(TaskActivity::kSoftBackPressured);
    return;
  }
  if (input_ != nullptr) {
    process_input();
  } else {
    process_source();
  }
}

void StreamTask::run_mails() {
  // A mail that costs time (a snapshot) is paid for before the next one runs.
  const bool only_urgent = checkpoints_->waits_for_savepoint();
  while (running_ && spent_.ns == 0 && starting_.empty() && !checkpoints_->is_released()) {
    if (only_urgent ? !mailbox_.has_urgent() : mailbox_.empty()) return;
    if (selection_) selection_->interrupted();
    turn_to(TaskActivity::kBusy);
    base::Callback mail = only_urgent ? mailbox_.take_urgent() : mailbox_.take();
    mail();
  }
}

void StreamTask::process_input() {
  if (current_ == nullptr && recovering_inputs_) {
    take_recovered();
    if (current_ == nullptr) return;
  }
  if (!turn_to_input()) return;
  if (current_ == nullptr) {
    std::optional<BufferOrEvent> item = poll(*input_);
    if (!running_ || ended_) return;
    if (item && !item->is_buffer()) {
      receive_event(item->channel, item->event());
      if (!running_ || ended_) return;
    }
    if (item && item->is_buffer()) {
      readers_[static_cast<std::size_t>(item->channel)].received(std::get<0>(item->item));
      if (!set_next_buffer(item->channel, std::move(std::get<0>(item->item)))) return;
    }
    if (spent_.ns > 0 || !starting_.empty() || checkpoints_->waits_for_savepoint()) {
      // A barrier was among what the gate has read: its snapshot comes before the next record.
      pay();
      return;
    }
    if (!item) {
      input_has_nothing();
      return;
    }
    if (!item->is_buffer()) {
      wake();  // an event; there may be more
      return;
    }
  }

  if (served_) {
    serve_next_record();
    return;
  }
  const Duration slice = ports_.compute->slice();
  Record record;
  bool output_ready = true;
  while (output_ready && chain_->spent() < slice) {
    if (!current_->next(record)) {
      current_ = nullptr;
      break;
    }
    ++records_in_;
    ++deserialised_records_;
    chain_->process(record);
    output_ready = outputs_available();
    if (selection_) {
      selection_->record_processed();
      if (!output_ready) selection_->interrupted();
      if (!turn_to_input() || current_ == nullptr) break;
    }
  }
  pay();
}

std::optional<Duration> StreamTask::service() const {
  return ports_.compute->service(client_, descriptor_->job_vertex().chain.front().stream_node);
}

Time StreamTask::serve_from(Time now) {
  return pacer_.serve(now, service().value_or(Duration{}),
                      [this] { return ports_.compute->wake_up(client_); });
}

void StreamTask::serve_next_record() {
  Record record;
  if (!current_->next(record)) {
    current_ = nullptr;
    wake();
    return;
  }
  served_text_.assign(record.text);
  served_record_ = {served_text_, record.number, record.created};
  const Time now = ports_.clock->now();
  const Time end = serve_from(now);
  turn_to(TaskActivity::kBusy);
  if (end == now) {
    hand_on();
    return;
  }
  computing_ = true;
  service_timer_ = ports_.timers->schedule(end - now, lifeline_.bind([this] {
    computing_ = false;
    service_timer_ = {};
    hand_on();
  }));
}

void StreamTask::hand_on() {
  ++records_in_;
  chain_->process(served_record_);
  if (selection_) {
    selection_->record_processed();
    if (!outputs_available()) selection_->interrupted();
  }
  publish_outputs();
  go_on_after_service();
}

bool StreamTask::set_next_buffer(ChannelIndex channel, Buffer buffer) {
  ChannelReader& reader = readers_[static_cast<std::size_t>(channel)];
  if (!reader.accepts_data()) {
    host_->invokable_failed("Channel select failed: data of a channel that nothing is mapped to");
    return false;
  }
  current_ = &reader;
  deserialised_bytes_ += buffer.size();
  reader.set_next_buffer(std::move(buffer));
  return true;
}

void StreamTask::receive_event(ChannelIndex channel, const RuntimeEvent& event) {
  if (const auto* end = std::get_if<EndOfData>(&event)) {
    receive_end_of_data(*end);
  } else if (const auto* from = std::get_if<SubtaskConnectionDescriptor>(&event)) {
    if (!readers_[static_cast<std::size_t>(channel)].select(*from)) {
      host_->invokable_failed("Cannot select a virtual channel that is not mapped");
    }
  } else if (std::holds_alternative<EndOfChannelState>(event)) {
    const auto ended = static_cast<std::size_t>(++input_->channels_at_end_of_recovery);
    if (ended == input_->channels.size()) end_upstream_recovery(*input_);
  }
}

void StreamTask::process_source() {
  if (source_stopped_ || finished_on_restore_) {
    end_data(!source_stopped_ || stop_drains_);
    return;
  }
  SourceOperator& source = chain_->source();
  const Duration slice = ports_.compute->slice();
  std::int32_t emitted = 0;
  const std::int32_t most = served_ ? 1 : kSourceRecordsPerSliceMax;
  while (chain_->spent() < slice && emitted < most && outputs_available()) {
    if (!chain_->emit_next()) break;
    ++emitted;
  }
  records_in_ += emitted;
  if (emitted > 0) {
    if (served_) {
      rest_after_emission();
    } else {
      pay();
    }
    return;
  }
  if (source.finished()) {
    if (semantics_->has_end_of_data) {
      end_data(true);
    } else {
      finish();
    }
    return;
  }
  turn_to(TaskActivity::kIdle);
  ports_.timers->cancel(source_timer_);
  source_timer_ = {};
  if (const std::optional<Time> due = source.next_due(); due && *due < Time::max()) {
    source_timer_ = ports_.timers->schedule(
        *due - ports_.clock->now() + ports_.compute->timer_lateness(client_),
        lifeline_.bind([this] { wake(); }));
  }
}

// A source serves the record that it has just emitted, once all of it is in buffers: the next one waits.
void StreamTask::rest_after_emission() {
  publish_outputs();
  rest_due_ = blocked_inside_record();
  if (rest_due_) return;  // its listener wakes us
  const Time now = ports_.clock->now();
  const Time end = serve_from(now);
  if (end == now) {
    go_on_after_service();
    return;
  }
  turn_to(TaskActivity::kBusy);
  computing_ = true;
  service_timer_ = ports_.timers->schedule(end - now, lifeline_.bind([this] {
    computing_ = false;
    service_timer_ = {};
    go_on_after_service();
  }));
}

// What is chained behind may have cost something.
void StreamTask::go_on_after_service() {
  if (chain_->spent().ns > 0) {
    pay();
  } else {
    wake();
  }
}

// What the records of this slice cost beside their operators.
void StreamTask::charge_wire_work() {
  if (deserialised_records_ > 0 || deserialised_bytes_ > 0) {
    spent_ += ports_.compute->price(
        {WorkKind::kDeserialise, -1, deserialised_records_, deserialised_bytes_});
    deserialised_records_ = deserialised_bytes_ = 0;
  }
  std::int64_t records = 0;
  std::int64_t bytes = 0;
  for (const auto& writer : writers_) {
    records += writer->records_written();
    bytes += writer->bytes_written();
  }
  if (records > charged_records_) {
    spent_ += ports_.compute->price(
        {WorkKind::kSerialise, -1, records - charged_records_, bytes - charged_bytes_});
    charged_records_ = records;
    charged_bytes_ = bytes;
  }
}

void StreamTask::pay() {
  turn_to(TaskActivity::kBusy);
  spent_ += chain_->take_spent();
  if (!served_) charge_wire_work();
  computing_ = true;
  paying_since_ = ports_.clock->now();
  // What slows a client down slows its records; those of a served task take no CPU.
  ports_.compute->run(served_ ? ComputeClient{} : client_, std::exchange(spent_, Duration{}),
                      lifeline_.bind([this] { pay_done(); }));
}

void StreamTask::pay_done() {
  computing_ = false;
  publish_outputs();
  if (!beginning_.empty() && !canceled_) {
    for (base::Callback& perform : std::exchange(beginning_, {})) perform();
    if (spent_.ns > 0 || !starting_.empty()) {
      pay();
      return;
    }
  }
  for (auto& runnable : std::exchange(starting_, {})) {
    runnable->synchronous_part_ended((ports_.clock->now() - paying_since_).ns);
    async_pool_->execute(std::move(runnable));
  }
  for (const auto& [gate, channel] : resuming_) {
    if (!canceled_) gates_[gate]->resume_consumption(channel);
  }
  resuming_.clear();
  step();
}

bool StreamTask::blocked_inside_record() const {
  return std::any_of(writers_.begin(), writers_.end(),
                     [](const auto& writer) { return writer->is_blocked(); });
}

bool StreamTask::outputs_available() const {
  return std::all_of(writers_.begin(), writers_.end(),
                     [](const auto& writer) { return writer->is_available(); });
}

void StreamTask::publish_outputs() {
  for (const auto& writer : writers_) writer->publish();
}

// --- the end -----------------------------------------------------------------------------------

void StreamTask::leave_loop() {
  turn_to(TaskActivity::kBusy);  // so Flink sees a task that waits for its end
  loop_left_ = true;
  if (semantics_->has_end_of_data) {
    finish_if_nothing_keeps_it();
  } else {
    finish();
  }
}

// Flink 1.20 StreamTask.afterInvoke. The mailbox stays open as long as it waits.
void StreamTask::finish_if_nothing_keeps_it() {
  if (checkpoints_->waits_for_final_checkpoint()) return;
  if (data_ended_ && stays_for_final_checkpoint() &&
      !std::all_of(partitions_.begin(), partitions_.end(),
                   [](const auto& partition) { return partition->all_data_processed(); })) {
    return;
  }
  if (!closing_) {
    closing_ = true;
    running_ = false;
    drain_mailbox();
  }
  if (stays_for_final_checkpoint() && checkpoints_->has_pending_checkpoints()) return;
  finish();
}

// The mails that are left find a task that does not run any more.
void StreamTask::drain_mailbox() {
  while (!mailbox_.empty()) mailbox_.take()();
}

void StreamTask::finish() {
  TAILRACE_ASSERT(!ended_ && !blocked_inside_record());
  close_operators();
  running_ = false;
  drain_mailbox();
  ended_ = true;
  publish_outputs();
  broadcast(EndOfPartitionEvent{});
  for (const auto& writer : writers_) writer->close();
  async_pool_->shut_down();
  checkpoints_->close();
  if (inputs_ != nullptr) inputs_->close();
  host_->invokable_finished();
}

void StreamTask::close_operators() {
  if (!open_ || finished_on_restore_) return;
  const std::size_t count = chain_->size();
  for (std::size_t i = 0; i < count; ++i) {
    chain_->at(semantics_->closes_tail_first ? count - 1 - i : i).close();
  }
}

void StreamTask::cancel() {
  if (ended_ || canceled_) return;
  canceled_ = true;
  running_ = false;
  // Closed: what they have written is discarded, nothing is declined.
  async_pool_->shut_down();
  if (checkpoints_ != nullptr) checkpoints_->cancel();
  starting_.clear();
  beginning_.clear();
  resuming_.clear();
  // Inside a slice the task's thread comes to rest at its end; otherwise at once, also when it
  // sleeps over a record or waits for a buffer inside one (the canceller interrupts it).
  if (service_timer_.value != 0) {
    ports_.timers->cancel(std::exchange(service_timer_, {}));
    computing_ = false;
  }
  if (!computing_) {
    ports_.timers->schedule({}, lifeline_.bind([this] {
      if (!computing_) stop();
    }));
  }
}

void StreamTask::stop() {
  if (ended_) return;
  ended_ = true;
  turn_to(TaskActivity::kBusy);
  close_operators();
  if (checkpoints_ != nullptr) checkpoints_->close();
  if (inputs_ != nullptr) inputs_->close();
  host_->invokable_stopped();
}

std::vector<std::unique_ptr<ResultPartition>> StreamTask::take_partitions() {
  writers_.clear();
  for (const auto& partition : partitions_) partition->set_all_data_processed_hook({});
  return std::move(partitions_);
}

// --- observation -------------------------------------------------------------------------------

std::int64_t StreamTask::records_out() const {
  std::int64_t records = 0;
  for (const auto& writer : writers_) records += writer->records_written();
  return records;
}

std::int64_t StreamTask::copies_out() const {
  std::int64_t copies = 0;
  for (const auto& writer : writers_) copies += writer->copies_written();
  return copies;
}

// Flink Task.isBackPressured.
bool StreamTask::is_back_pressured() const {
  return running_ && std::any_of(partitions_.begin(), partitions_.end(), [](const auto& partition) {
           return !partition->is_released() && !partition->buffer_pool().is_available();
         });
}

std::optional<Duration> StreamTask::checkpoint_alignment_time() const {
  if (inputs_ == nullptr) return std::nullopt;
  return inputs_->alignment_duration();
}

std::optional<Duration> StreamTask::checkpoint_start_delay() const {
  if (!semantics_->measures_time) return std::nullopt;
  if (inputs_ != nullptr) return inputs_->checkpoint_start_delay();
  return checkpoints_ != nullptr ? checkpoints_->checkpoint_start_delay() : Duration{};
}

std::int64_t StreamTask::bytes_consumed(ChannelIndex channel) const {
  return readers_[static_cast<std::size_t>(channel)].bytes;
}

}  // namespace tailrace::engine
