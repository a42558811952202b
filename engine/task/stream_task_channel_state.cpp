// The buffers in flight of a task: who writes them, and how it gets them back.
#include <algorithm>
#include <utility>

#include "engine/network/local_buffer_pool.hpp"
#include "engine/network/network_semantics.hpp"
#include "engine/network/record_writer.hpp"
#include "engine/network/result_partition.hpp"
#include "engine/network/single_input_gate.hpp"
#include "engine/network/unpooled_segment.hpp"
#include "engine/state/checkpoint_stream_factory.hpp"
#include "engine/task/async_operations.hpp"
#include "engine/task/f120/sequential_channel_state_reader.hpp"
#include "engine/task/stream_task.hpp"
#include "engine/task/stream_task_checkpoints.hpp"
#include "engine/task/task_semantics.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

const OperatorSubtaskState* state_of(const JobManagerTaskRestore* restore, OperatorId id) {
  if (restore == nullptr) return nullptr;
  const auto found = restore->snapshot.operators.find(id);
  return found == restore->snapshot.operators.end() ? nullptr : &found->second;
}

const InflightDataRescaling* entry_of(const InflightDataRescalingDescriptor& descriptor,
                                      std::int32_t index) {
  const auto at = static_cast<std::size_t>(index);
  return at < descriptor.size() ? &descriptor[at] : nullptr;
}

std::vector<std::byte> copy_of(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

// A segment of the partition with those bytes, as whatever else is queued there has one: until it is
// consumed it is missing to the task. More than the partition may have (buffers that were cut up when
// they were persisted) is kept beside it; Flink's task would wait for its readers there.
NetworkBuffer& full_segment(LocalBufferPool& pool, std::int32_t subpartition,
                            std::span<const std::byte> bytes) {
  NetworkBuffer* const segment = pool.request_buffer(subpartition);
  if (segment == nullptr) return UnpooledSegment::make(copy_of(bytes));
  TAILRACE_ASSERT(bytes.size() <= segment->capacity());
  std::copy(bytes.begin(), bytes.end(), segment->data());
  segment->commit(static_cast<std::uint32_t>(bytes.size()));
  segment->finish();
  return *segment;
}

}  // namespace

void StreamTask::make_channel_state_writer() {
  if (!descriptor_->config.unaligned || semantics_->make_channel_state_writer == nullptr) return;
  ChannelStateContext context;
  context.vertex = descriptor_->vertex;
  context.subtask = descriptor_->subtask;
  context.max_subtasks_per_file = descriptor_->config.max_subtasks_per_channel_state_file;
  context.streams = stream_factory_.get();
  context.executors = channel_state_executors_;
  context.ports = &ports_;
  context.on_failure = lifeline_.bind([this](std::string cause) {
    if (running_) host_->invokable_failed(std::move(cause));
  });
  channel_state_ = cuts_.watch(semantics_->make_channel_state_writer(context));
  for (const auto& partition : partitions_) partition->set_channel_state_writer(*channel_state_);
  for (std::size_t i = 0; i < gates_.size(); ++i) {
    gates_[i]->set_channel_state_writer(*channel_state_, static_cast<std::int32_t>(i));
  }
}

// --- outputs -----------------------------------------------------------------------------------

void StreamTask::restore_outputs() {
  const OperatorSubtaskState* state =
      state_of(descriptor_->restore.get(), descriptor_->job_vertex().chain.back().id);
  if (state == nullptr || state->result_subpartitions.empty()) {
    restore_operators();
    return;
  }
  channel_state_reader_ = std::make_unique<f120::SequentialChannelStateReader>(ports_);
  channel_state_reader_->read(
      state->result_subpartitions,
      [this](const f120::SequentialChannelStateReader::Piece& piece) {
        restore_output(piece.outer, piece.inner, piece.subtask, piece.data);
      },
      lifeline_.bind([this](std::optional<std::string> error) {
        if (error) {
          host_->invokable_failed("Could not restore the state of the outputs: " + *error);
        } else {
          restore_operators();
        }
      }));
}

void StreamTask::restore_output(std::int32_t partition, std::int32_t subpartition,
                                std::int32_t old_subtask, std::span<const std::byte> data) {
  TAILRACE_ASSERT(partition >= 0 && static_cast<std::size_t>(partition) < partitions_.size());
  ResultPartition& target = *partitions_[static_cast<std::size_t>(partition)];
  const NetworkSemantics& network = target.semantics();
  const std::vector<std::int32_t> destinations =
      new_channels_of(entry_of(descriptor_->restore->output_rescaling, partition), subpartition);
  if (destinations.empty()) {
    host_->invokable_failed("Recovered data of an output that nobody reads any more");
    return;
  }
  const SubtaskConnectionDescriptor from{subpartition, old_subtask};
  const auto segment = static_cast<std::size_t>(descriptor_->config.segment_bytes);
  for (const std::int32_t destination : destinations) {
    target.add_buffer_consumer(
        BufferConsumer(network.serialize_event(from), network.data_type_of(from, false)),
        destination);
    for (std::size_t at = 0; at < data.size(); at += segment) {
      BufferConsumer consumer(full_segment(target.buffer_pool(), destination,
                                           data.subspan(at, std::min(segment, data.size() - at))));
      consumer.know_finished();
      target.add_buffer_consumer(std::move(consumer), destination);
    }
  }
}

// --- inputs ------------------------------------------------------------------------------------

bool StreamTask::has_inputs_to_restore() const {
  const OperatorSubtaskState* state =
      state_of(descriptor_->restore.get(), descriptor_->job_vertex().chain.front().id);
  return !gates_.empty() && state != nullptr && !state->input_channels.empty();
}

void StreamTask::demultiplex_inputs() {
  if (descriptor_->restore == nullptr) return;
  const InflightDataRescalingDescriptor& descriptor = descriptor_->restore->input_rescaling;
  std::size_t reader = 0;
  for (std::size_t g = 0; g < gates_.size(); ++g) {
    const InflightDataRescaling* entry = entry_of(descriptor, static_cast<std::int32_t>(g));
    const bool rescales = entry != nullptr && entry->type == InflightDataRescaling::Type::RESCALING;
    std::shared_ptr<ChannelSelector> filter;
    if (rescales && !entry->ambiguous_subtasks.empty()) {
      ChannelSelectorConfig config;
      config.kind = descriptor_->job_vertex().inputs[g].partitioner;
      config.channels = descriptor_->parallelism;
      config.max_parallelism = descriptor_->max_parallelism;
      config.type = descriptor_->gates[g].type;
      filter = make_channel_selector(config);
    }
    for (std::int32_t c = 0; c < gates_[g]->channel_count(); ++c, ++reader) {
      if (rescales) {
        readers_[reader].demultiplex(entry->virtual_channels(c), filter, descriptor_->subtask);
      }
    }
  }
}

void StreamTask::restore_inputs() {
  const OperatorSubtaskState& state =
      *state_of(descriptor_->restore.get(), descriptor_->job_vertex().chain.front().id);
  recovering_inputs_ = true;
  channel_state_reader_ = std::make_unique<f120::SequentialChannelStateReader>(ports_);
  channel_state_reader_->read(
      state.input_channels,
      [this](const f120::SequentialChannelStateReader::Piece& piece) {
        restore_input(piece.outer, piece.inner, piece.subtask, piece.data);
      },
      lifeline_.bind([this](std::optional<std::string> error) {
        if (error) {
          host_->invokable_failed("Could not restore the state of the inputs: " + *error);
          return;
        }
        inputs_read_back_ = true;
        wake();
      }));
}

void StreamTask::restore_input(std::int32_t gate, std::int32_t channel, std::int32_t old_subtask,
                               std::span<const std::byte> data) {
  TAILRACE_ASSERT(gate >= 0 && static_cast<std::size_t>(gate) < gates_.size());
  ChannelIndex first = 0;
  for (std::int32_t g = 0; g < gate; ++g) {
    first += gates_[static_cast<std::size_t>(g)]->channel_count();
  }
  const std::vector<std::int32_t> destinations =
      new_channels_of(entry_of(descriptor_->restore->input_rescaling, gate), channel);
  if (destinations.empty()) {
    host_->invokable_failed("Recovered data of an input that nobody writes to any more");
    return;
  }
  for (const std::int32_t destination : destinations) {
    recovered_.push_back(
        {first + destination, {old_subtask, channel}, UnpooledSegment::make_buffer(copy_of(data))});
  }
  wake();
}

// What the task processes before it asks for anything from the network.
void StreamTask::take_recovered() {
  if (recovered_.empty()) {
    if (inputs_read_back_) inputs_recovered();
    return;
  }
  RecoveredBuffer next = std::move(recovered_.front());
  recovered_.pop_front();
  if (!readers_[static_cast<std::size_t>(next.channel)].select(next.from)) {
    host_->invokable_failed("Cannot select a virtual channel that is not mapped");
    return;
  }
  readers_[static_cast<std::size_t>(next.channel)].recovered(next.data);
  set_next_buffer(next.channel, std::move(next.data));
}

void StreamTask::inputs_recovered() {
  recovering_inputs_ = false;
  for (const auto& gate : gates_) gate->request_partitions();
  restored();
  wake();
}

// All that was in flight before is through (S-4.9).
void StreamTask::end_upstream_recovery(const Input& input) {
  for (const ChannelIndex channel : input.channels) {
    if (!readers_[static_cast<std::size_t>(channel)].end_recovery()) {
      host_->invokable_failed("A channel has recovered data that was not read to its end");
      return;
    }
  }
}

}  // namespace tailrace::engine
