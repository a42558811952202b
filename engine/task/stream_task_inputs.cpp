// The inputs of a task: which gates they are, whose turn it is, and what ends them.
#include <algorithm>
#include <string>
#include <utility>

#include "engine/barrier/checkpointed_inputs.hpp"
#include "engine/generation.hpp"
#include "engine/network/network_environment.hpp"
#include "engine/network/single_input_gate.hpp"
#include "engine/network/union_input_gate.hpp"
#include "engine/observer.hpp"
#include "engine/task/stream_task.hpp"
#include "engine/task/task_semantics.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {

// --- set-up ------------------------------------------------------------------------------------

void StreamTask::set_up_inputs() {
  if (descriptor_->gates.empty() || !set_up_error_.empty()) return;
  for (const InputGateDescriptor& gate : descriptor_->gates) {
    gates_.push_back(network_->create_gate(
        gate, lifeline_.bind([this](std::string cause) { host_->invokable_failed(cause); })));
    // Flink resumes the channels behind the snapshot's synchronous part, which takes time.
    gates_.back()->set_resume_deferral([this, gate = gates_.size() - 1](ChannelIndex channel) {
      if (spent_.ns == 0) return false;
      resuming_.emplace_back(gate, channel);
      return true;
    });
    for (std::size_t i = 0; i < gate.channels.size(); ++i) readers_.emplace_back(gate.type);
  }
  make_inputs();
  CheckpointedInputsOptions options;
  options.mode = descriptor_->config.mode;
  options.page_bytes = descriptor_->config.segment_bytes;
  options.max_buffered_bytes = descriptor_->config.alignment_max_bytes;
  options.checkpoints_after_tasks_finish = descriptor_->config.checkpoints_after_tasks_finish;
  if (descriptor_->config.unaligned) {
    options.unaligned = true;
    options.initializer = this;
    options.mailbox_timers = &mail_timers_;
  }
  std::vector<InputToCheckpoint> to_checkpoint;
  for (const auto& input : operator_inputs_) {
    input->gate->set_availability_listener([this] { wake(); });
    if (options.unaligned) {
      input->gate->set_priority_listener([this, own = input.get()] { put_priority_mail(*own); });
    }
    to_checkpoint.push_back({input->gate, input.get()});
  }
  inputs_ = make_checkpointed_inputs(descriptor_->config.generation, to_checkpoint, options, *this,
                                     *ports_.clock);
  for (std::size_t i = 0; i < operator_inputs_.size(); ++i) {
    operator_inputs_[i]->checkpointed = &inputs_->input(static_cast<std::int32_t>(i));
  }
  demultiplex_inputs();
  if (has_inputs_to_restore()) return;
  for (const auto& member : gates_) member->request_partitions();
}

// Flink TwoInputStreamTask.init: gate g belongs to the input that its edge names. Gates of two inputs
// may come in any order.
void StreamTask::make_inputs() {
  const std::vector<JobEdge>& edges = descriptor_->job_vertex().inputs;
  std::vector<std::int32_t> numbers;
  for (std::size_t g = 0; g < gates_.size(); ++g) {
    numbers.push_back(g < edges.size() ? edges[g].type_number : 0);
  }
  std::vector<std::int32_t> in_order = numbers;
  std::sort(in_order.begin(), in_order.end());
  in_order.erase(std::unique(in_order.begin(), in_order.end()), in_order.end());
  for (const std::int32_t number : in_order) {
    Input& input = *operator_inputs_.emplace_back(std::make_unique<Input>(*this));
    ChannelIndex channel = 0;
    for (std::size_t g = 0; g < gates_.size(); ++g) {
      const bool own = numbers[g] == number;
      if (own) input.gates.push_back(gates_[g].get());
      for (std::int32_t c = 0; c < gates_[g]->channel_count(); ++c, ++channel) {
        if (own) input.channels.push_back(channel);
      }
    }
    input.gate = input.gates.front();
    if (input.gates.size() == 1) continue;
    input.union_gate = std::make_unique<UnionInputGate>(
        input.gates, network_->config().semantics->union_is_available_until_empty_poll);
    input.gate = input.union_gate.get();
  }
  input_ = operator_inputs_.front().get();
  if (operator_inputs_.size() > 1) {
    selection_.emplace(operator_inputs_.size(), semantics_->takes_turns_by_record);
  }
}

// --- turns -------------------------------------------------------------------------------------

std::optional<BufferOrEvent> StreamTask::poll(Input& input) {
  std::optional<BufferOrEvent> item = input.checkpointed->poll_next();
  if (item) item->channel = input.channels[static_cast<std::size_t>(item->channel)];
  return item;
}

// What is read back comes in its own order, whichever input it belongs to.
bool StreamTask::turn_to_input() {
  if (!selection_ || recovering_inputs_ || selection_->goes_on()) return true;
  const std::optional<std::size_t> next = selection_->select(
      [this](std::size_t i) { return operator_inputs_[i]->checkpointed->is_available(); });
  if (!next) {
    turn_to(TaskActivity::kIdle);  // a gate wakes us
    return false;
  }
  input_->current = std::exchange(current_, nullptr);
  input_ = operator_inputs_[*next].get();
  current_ = std::exchange(input_->current, nullptr);
  return true;
}

void StreamTask::input_has_nothing() {
  const bool finished = input_->checkpointed->is_finished();
  if (!selection_) {
    if (finished) {
      leave_loop();
    } else {
      turn_to(TaskActivity::kIdle);  // the gate wakes us
    }
    return;
  }
  if (finished) {
    selection_->finished();
  } else {
    selection_->nothing_available();
  }
  if (selection_->all_finished()) {
    leave_loop();
  } else {
    wake();  // another one may have something
  }
}

bool StreamTask::inputs_finished() const {
  return std::all_of(operator_inputs_.begin(), operator_inputs_.end(),
                     [](const auto& input) { return input->checkpointed->is_finished(); });
}

void StreamTask::receive_end_of_data(const EndOfData& event) {
  Input& input = *input_;
  input.drains = input.drains && event.drain;
  if (static_cast<std::size_t>(++input.channels_at_end_of_data) < input.channels.size()) return;
  inputs_drain_ = inputs_drain_ && input.drains;
  if (selection_) selection_->data_ended();
  if (++inputs_at_end_of_data_ < operator_inputs_.size()) return;
  // Flink 1.20 MultipleInputSelectionHandler.calculateOverallStatus looks for the end of data of the
  // last input alone, and takes one that has stopped for one that has more: the next tasks of such a
  // task hear of no end of data when the job stops without drain.
  if (selection_ && !input.drains) return;
  end_data(inputs_drain_);
}

// --- barriers ----------------------------------------------------------------------------------

void StreamTask::Input::on_barrier_received(ChannelIndex channel, CheckpointId id) {
  const ChannelIndex own = channels[static_cast<std::size_t>(channel)];
  task->cuts_.on_barrier(own, id, task->bytes_consumed(own));
}

void StreamTask::Input::on_barrier_processed(ChannelIndex channel, CheckpointId id) {
  task->ports_.observer->on_barrier_processed(task->descriptor_->job, task->subtask_ref(), 0,
                                              channels[static_cast<std::size_t>(channel)], id);
}

// Between two records; also while there is no room in the outputs (spec barriers.md 5.2).
void StreamTask::process_priority_events(Input& input) {
  input.priority_mail = false;
  bool more = running_ && input.gate->is_priority_event_available();
  while (more) {
    const std::optional<BufferOrEvent> item = input.checkpointed->poll_next();
    if (!item) break;
    TAILRACE_ASSERT_MSG(item->has_priority, "only priority events may be polled between records");
    // A checkpoint that has begun is paid for before the next one begins.
    more = running_ && spent_.ns == 0 && item->more_priority_events;
  }
  if (input.gate->is_priority_event_available()) put_priority_mail(input);
}

void StreamTask::put_priority_mail(Input& input) {
  if (std::exchange(input.priority_mail, true)) return;
  mailbox_.put([this, &input] { process_priority_events(input); });
  wake();
}

}  // namespace tailrace::engine
