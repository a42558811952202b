#include <span>
#include <utility>

#include "engine/barrier/checkpointed_inputs.hpp"
#include "engine/generation.hpp"
#include "engine/network/channel_selector.hpp"
#include "engine/network/network_environment.hpp"
#include "engine/network/record_writer.hpp"
#include "engine/network/result_partition.hpp"
#include "engine/network/single_input_gate.hpp"
#include "engine/state/checkpoint_stream_factory.hpp"
#include "engine/state/heap/heap_keyed_state_backend.hpp"
#include "engine/state/key_group_assignment.hpp"
#include "engine/state/operator_state_backend.hpp"
#include "engine/state/stream_task_state_initializer.hpp"
#include "engine/state/task_state_manager.hpp"
#include "engine/task/stream_task.hpp"
#include "engine/task/stream_task_checkpoints.hpp"
#include "engine/task/task_semantics.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {

// --- set-up ------------------------------------------------------------------------------------

void StreamTask::set_up_outputs() {
  const JobVertex& vertex = descriptor_->job_vertex();
  const std::optional<Time> started =
      ports_.random->fixed_time("task-start/" + std::to_string(vertex.chain.front().stream_node) +
                                "/" + std::to_string(descriptor_->subtask));
  for (std::size_t i = 0; i < descriptor_->outputs.size(); ++i) {
    const ResultPartitionDescriptor& output = descriptor_->outputs[i];
    const JobEdge& edge = vertex.outputs[i];
    std::unique_ptr<ResultPartition> partition = network_->create_partition(output, &set_up_error_);
    if (partition == nullptr) return;
    partitions_.push_back(std::move(partition));
    const JobVertex& target =
        descriptor_->graph->vertices[static_cast<std::size_t>(edge.target_vertex)];
    ChannelSelectorConfig selector;
    selector.kind = output.partitioner;
    selector.channels = output.subpartitions;
    selector.max_parallelism = target.max_parallelism;
    selector.type = output.type;
    selector.random = ports_.random;
    selector.random_stream = "partitioner/" + vertex.name + "/" + std::to_string(i) + "/" +
                             std::to_string(descriptor_->subtask);
    writers_.push_back(std::make_unique<RecordWriter>(
        *partitions_.back(), output.type, make_channel_selector(selector),
        edge.buffer_timeout.value_or(descriptor_->config.buffer_timeout), ports_, started,
        [this] { return ports_.compute->timer_lateness(client_); }));
    writers_.back()->set_availability_listener([this] { wake(); });
    partitions_.back()->set_all_data_processed_hook([this] { wake(); });
  }
}

// --- restore -----------------------------------------------------------------------------------

void StreamTask::invoke() {
  TAILRACE_ASSERT(set_up_error_.empty());
  if (io_metrics_) io_metrics_->mark_task_initialization_started();
  const JobVertex& vertex = descriptor_->job_vertex();
  chain_ = std::make_unique<OperatorChain>(vertex, writers_, *ports_.compute);
  state_.resize(chain_->size());
  // The directory of a checkpoint belongs to one job, so these three tell its files apart.
  const std::string owner = "v" + std::to_string(descriptor_->vertex) + "-s" +
                            std::to_string(descriptor_->subtask) + "-a" +
                            std::to_string(descriptor_->attempt_number);
  stream_factory_ = std::make_unique<FsCheckpointStreamFactory>(
      ports_, descriptor_->config.checkpoint_directory, descriptor_->config.inline_threshold_bytes,
      owner, semantics_->names_files_relative);
  state_manager_ = std::make_unique<TaskStateManagerImpl>(descriptor_->job, descriptor_->attempt,
                                                          descriptor_->restore, *host_);
  state_initializer_ = std::make_unique<StreamTaskStateInitializerImpl>(ports_, *state_manager_);
  make_channel_state_writer();
  make_checkpoints();
  restore_outputs();
}

void StreamTask::restore_operators() {
  if (!running_) return;
  // Said also without anything to read back.
  for (const auto& partition : partitions_) partition->finish_read_recovered_state();
  if (finished_on_restore_) {
    restored_operators_ = chain_->size();  // its operators have nothing to restore, and never open
  }
  restore_next_operator();
}

void StreamTask::make_checkpoints() {
  StreamTaskCheckpointsContext context;
  context.ports = ports_;
  context.streams = stream_factory_.get();
  context.channel_state = channel_state_.get();
  context.task = this;
  context.is_source = input_ == nullptr;
  context.max_concurrent_checkpoints = descriptor_->config.max_concurrent_checkpoints;
  context.final_checkpoint = stays_for_final_checkpoint();
  if (descriptor_->restore != nullptr) {
    context.restored = descriptor_->restore->restore_checkpoint_id;
    finished_on_restore_ = descriptor_->restore->snapshot.is_task_deployed_as_finished;
  }
  checkpoints_ = semantics_->make_checkpoints(context);
}

bool StreamTask::stays_for_final_checkpoint() const {
  return semantics_->has_end_of_data && descriptor_->config.checkpointing_enabled &&
         descriptor_->config.checkpoints_after_tasks_finish;
}

// Tail first, as Flink's OperatorChain initialises them.
void StreamTask::restore_next_operator() {
  if (!running_) return;
  if (restored_operators_ == chain_->size()) {
    // The time that reading the state back takes is paid before the operators open.
    computing_ = true;
    ports_.compute->run(client_, std::exchange(spent_, Duration{}), lifeline_.bind([this] {
      computing_ = false;
      if (running_) {
        start_running();
      } else {
        stop();
      }
    }));
    return;
  }
  const std::size_t index = chain_->size() - 1 - restored_operators_;
  const ChainedOperator& op = descriptor_->job_vertex().chain[index];
  OperatorStateRequest request;
  request.keyed = op.factory->is_keyed();
  request.keys = &op.factory->key_serializer();
  request.max_parallelism = descriptor_->max_parallelism;
  request.range = compute_key_group_range_for_operator_index(
      descriptor_->max_parallelism, descriptor_->parallelism, descriptor_->subtask);
  state_initializer_->initialize(
      op.id, request,
      lifeline_.bind(
          [this,
           index](base::Result<std::unique_ptr<StreamOperatorStateContext>, std::string> result) {
            if (!running_) return;
            if (!result.ok()) {
              host_->invokable_failed("Could not restore the state of " +
                                      descriptor_->job_vertex().chain[index].name + ": " +
                                      result.error());
              return;
            }
            state_[index] = std::move(result).value();
            spent_ += ports_.compute->price(state_[index]->restore_work);
            ++restored_operators_;
            restore_next_operator();
          }));
}

void StreamTask::start_running() {
  if (!finished_on_restore_) open_operators();
  if (descriptor_->restore != nullptr) {
    host_->state_restored(descriptor_->restore->snapshot.state_size_bytes());
  }
  open_ = true;
  if (has_inputs_to_restore()) {
    restore_inputs();
  } else {
    restored();
  }
  wake();
}

// The task's invoke proper begins.
void StreamTask::restored() {
  if (io_metrics_) io_metrics_->mark_task_start();
  host_->invokable_restored();
  schedule_debloating();
}

// Flink 1.20 StreamTask.scheduleBufferDebloater: the next one is due a period after this one ran.
void StreamTask::schedule_debloating() {
  const BufferDebloatConfiguration& debloat = network_->config().buffer_debloat;
  if (!debloat.enabled || gates_.empty()) return;
  register_timer(debloat.period, [this] {
    for (const auto& gate : gates_) gate->trigger_debloating();
    schedule_debloating();
  });
}

void StreamTask::open_operators() {
  contexts_.resize(chain_->size());
  for (std::size_t i = chain_->size(); i-- > 0;) {
    OperatorContext& context = contexts_[i];
    context.subtask = descriptor_->subtask;
    context.parallelism = descriptor_->parallelism;
    context.max_parallelism = descriptor_->max_parallelism;
    context.restored = state_[i]->restored;
    context.keyed_state = state_[i]->keyed_state.get();
    context.operator_state = state_[i]->operator_state.get();
    context.clock = ports_.clock;
    context.output = &chain_->output_of(i);
    chain_->at(i).initialize_state(context);
  }
  for (std::size_t i = chain_->size(); i-- > 0;) chain_->at(i).open();
}

}  // namespace tailrace::engine
