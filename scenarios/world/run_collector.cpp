#include "scenarios/world/run_collector.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/ledger.hpp"
#include "engine/generation.hpp"
#include "engine/graph/murmur3_128.hpp"
#include "engine/state/keyed_state_reader.hpp"
#include "engine/state/operator_state_backend.hpp"
#include "scenarios/sections.hpp"
#include "scenarios/world/job_settings.hpp"
#include "scenarios/world/trace_kinds.hpp"
#include "sim/base/assert.hpp"
#include "sim/base/hash.hpp"

namespace tailrace::scenarios {
namespace {

engine::OperatorId operator_id(const OperatorSpec& op) {
  return engine::OperatorId{engine::murmur3_128(op.uid)};
}

analysis::Dataflow::Function function_of(const OperatorSpec& op) {
  switch (op.kind) {
    case OperatorKind::kSource:
      return analysis::Dataflow::Function::kSource;
    case OperatorKind::kFlatMap:
    case OperatorKind::kMap:
      return op.function == OperatorFunction::kTokenize ? analysis::Dataflow::Function::kTokenize
                                                        : analysis::Dataflow::Function::kIdentity;
    case OperatorKind::kKeyed:
      return op.function == OperatorFunction::kCount ? analysis::Dataflow::Function::kCount
                                                     : analysis::Dataflow::Function::kIdentity;
    case OperatorKind::kSink:
      return analysis::Dataflow::Function::kSink;
  }
  TAILRACE_ASSERT_MSG(false, "an operator of an unknown kind");
  return {};
}

// What a dump says of the value of a key: a count, also of an update's value, which begins with how
// often it was replaced.
std::int64_t number_of(const OperatorSpec& op, std::string_view value) {
  if (op.function == OperatorFunction::kUpdate) {
    std::uint64_t number = 0;  // text of bytes: hexadecimal
    value = value.substr(0, 2 * sizeof number);
    std::from_chars(value.data(), value.data() + value.size(), number, 16);
    return static_cast<std::int64_t>(number);
  }
  std::int64_t number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  return number;
}

bool holds_data_in_flight(const engine::CompletedCheckpoint& checkpoint) {
  for (const auto& [id, state] : checkpoint.operator_states) {
    for (const auto& [subtask, part] : state.subtasks) {
      if (!part.input_channels.empty() || !part.result_subpartitions.empty()) return true;
    }
  }
  return false;
}

bool is_ever_rescaled(const Scenario& scenario, std::int32_t op) {
  const auto changes_it = [&](const TimelineEntry::Rescale& change) {
    return change.op == op &&
           change.parallelism != scenario.job.operators[static_cast<std::size_t>(op)].parallelism;
  };
  return std::any_of(scenario.timeline.begin(), scenario.timeline.end(),
                     [&](const TimelineEntry& entry) {
                       return std::any_of(entry.rescales.begin(), entry.rescales.end(), changes_it);
                     });
}

}  // namespace

engine::Blob RunCollector::read(const engine::StreamStateHandle& handle) const {
  if (const auto* bytes = std::get_if<engine::ByteStreamStateHandle>(&handle)) {
    return std::make_shared<const std::vector<std::byte>>(bytes->bytes);
  }
  const auto found = blobs_->find(std::get<engine::FileStateHandle>(handle).path);
  return found == blobs_->end() ? nullptr : found->second;
}

std::map<std::int32_t, std::int64_t> RunCollector::positions(std::int32_t source) const {
  std::map<std::int32_t, std::int64_t> lines;
  const OperatorSpec& op = scenario_->job.operators[static_cast<std::size_t>(source)];
  const auto state = snapshot_->operator_states.find(operator_id(op));
  if (state == snapshot_->operator_states.end()) return lines;
  const SourceLog& log = *ends_->logs.at(source);
  for (const auto& [subtask, part] : state->second.subtasks) {
    std::vector<engine::FetchedStream> streams;
    for (const engine::OperatorStateHandle& handle : part.managed_operator) {
      engine::Blob stream = read(*handle.delegate);
      TAILRACE_ASSERT_MSG(stream != nullptr, "a state file of the last snapshot is gone");
      streams.emplace_back(std::move(stream));
    }
    engine::OperatorStateBackend backend;
    const auto restored = backend.restore(part.managed_operator, streams);
    TAILRACE_ASSERT_MSG(restored.ok(), restored.error());
    for (const engine::PartitionPosition& position : log.positions(backend)) {
      const bool first =
          lines.emplace(position.partition, log.lines_before(position.partition, position.position))
              .second;
      TAILRACE_ASSERT_MSG(first, "a partition of a source has two owners");
    }
  }
  // A subtask that has finished has handed out all of its partitions, and keeps no position.
  if (state->second.fully_finished || !state->second.finished_subtasks.empty()) {
    for (std::int32_t partition = 0; partition < log.partition_count(); ++partition) {
      lines.emplace(partition, log.lines_in(partition));
    }
  }
  return lines;
}

analysis::Audit RunCollector::audit_against(const LinesOf& lines_of) const {
  analysis::Dataflow dataflow;
  const Job& job = scenario_->job;
  for (const OperatorSpec& op : job.operators) {
    std::int32_t copies = 1;
    if (op.partitioner == engine::PartitionerKind::kBroadcast && !op.inputs.empty()) {
      copies = op.parallelism;
    }
    const bool numbered = op.function == OperatorFunction::kCount && !op.inputs.empty() &&
                          emits_numbered_records(job, op.inputs.front());
    dataflow.nodes.push_back({function_of(op), op.inputs, copies, numbered});
  }
  analysis::Ledger ledger(dataflow);
  for (const auto& [source, log] : ends_->logs) {
    for (std::int32_t partition = 0; partition < log->partition_count(); ++partition) {
      log->for_each_line(partition, lines_of(*log, source, partition),
                         [&](std::string_view line) { ledger.offer(source, line); });
    }
  }
  for (const auto& [sink, store] : ends_->stores) {
    for (const ExternalStore::Effect& effect : store->committed()) {
      ledger.commit(sink, store->text(effect), effect.number);
    }
  }
  return ledger.audit();
}

std::optional<analysis::Audit> RunCollector::audit() const {
  // How many copies of a record a broadcast makes depends on when it was sent, if the operator is
  // ever rescaled: nobody outside the job knows.
  for (std::size_t i = 0; i < scenario_->job.operators.size(); ++i) {
    if (scenario_->job.operators[i].partitioner == engine::PartitionerKind::kBroadcast &&
        is_ever_rescaled(*scenario_, static_cast<std::int32_t>(i))) {
      return std::nullopt;
    }
  }
  if (finished_by_itself_) {
    return audit_against([](const SourceLog& log, std::int32_t, std::int32_t partition) {
      return log.lines_in(partition);
    });
  }
  if (snapshot_ == nullptr && !cut_) return std::nullopt;
  // What is in flight in it counts as read and has no effect yet, without being lost.
  if (cut_ && snapshot_ != nullptr && holds_data_in_flight(*snapshot_)) return std::nullopt;

  std::map<std::int32_t, std::map<std::int32_t, std::int64_t>> covered;
  if (snapshot_ != nullptr) {
    for (const auto& [source, log] : ends_->logs) covered.emplace(source, positions(source));
  }
  analysis::Audit audit =
      audit_against([&covered](const SourceLog&, std::int32_t source, std::int32_t partition) {
        const auto& lines = covered[source];
        const auto found = lines.find(partition);
        return found == lines.end() ? std::int64_t{0} : found->second;
      });
  if (cut_) {
    // Lost is what the last checkpoint covers and nobody has seen. What came after it was read, too,
    // and a sink that does not wait for checkpoints has written it: once is not too often.
    audit.duplicated =
        audit_against([](const SourceLog& log, std::int32_t, std::int32_t partition) {
          return log.lines_read(partition);
        }).duplicated;
  }
  return audit;
}

std::optional<std::int64_t> RunCollector::orphaned_blobs() const {
  // A run that was broken off has unfinished business; one that was cut, or whose job could not be
  // stopped, too: it still refers to its checkpoints.
  const bool runs_on = cut_ && reason_ != analysis::FinishReason::kCanceled;
  if (reason_ == analysis::FinishReason::kInterrupted || runs_on ||
      !scenario_->stop_with_savepoint ||
      scenario_->flink.retention != CheckpointRetention::NEVER_RETAIN) {
    return std::nullopt;
  }
  // Savepoints belong to the user; everything else has been given back by now.
  const std::string mine = std::string(kSavepointDirectory) + '/';
  return std::count_if(blobs_->begin(), blobs_->end(),
                       [&mine](const auto& blob) { return !blob.first.starts_with(mine); });
}

void RunCollector::collect_state(RunOutcome& outcome) const {
  if (snapshot_ == nullptr) return;
  for (const OperatorSpec& op : scenario_->job.operators) {
    const auto state = snapshot_->operator_states.find(operator_id(op));
    if (state == snapshot_->operator_states.end()) continue;
    for (const auto& [subtask, part] : state->second.subtasks) {
      engine::TaskStateSnapshot snapshot;
      snapshot.operators.emplace(state->first, part);
      const auto entries = engine::for_each_keyed_state_entry(
          snapshot, state->second.max_parallelism,
          [this](const std::string& path) {
            const auto found = blobs_->find(path);
            return found == blobs_->end() ? nullptr : found->second;
          },
          [&](const engine::KeyedStateEntry& entry) {
            DumpRow row{entry.key, 0, op.id};
            row.number = number_of(op, entry.value);
            outcome.state.push_back(std::move(row));
          });
      TAILRACE_ASSERT_MSG(entries.ok(), entries.error());
    }
  }
}

RunOutcome RunCollector::collect(RunRecorder& recorder, sim::Simulation& simulation,
                                 const RunOptions& options) const {
  RunOutcome outcome;
  analysis::RunResult& result = outcome.result;
  result.name = scenario_->name;
  result.seed = scenario_->seed;
  result.version = engine::name_of(scenario_->flink.generation);
  result.finished = reason_;
  result.virtual_time = simulation.now() - Time{};

  for (const auto& [source, log] : ends_->logs) result.records_in += log->lines_offered();
  for (const auto& [sink, store] : ends_->stores) {
    base::RunningHash effects;
    for (const ExternalStore::Effect& effect : store->committed()) {
      const std::string_view text = store->text(effect);
      effects.add(text);
      effects.add(effect.number);
      effects.add(effect.committed.ns);
      result.latency_ns.push_back((effect.committed - effect.created).ns);
      result.last_progress = std::max(result.last_progress.value_or(Time{}), effect.committed);
      if (options.collect_sink) {
        outcome.sink.push_back({std::string(text), effect.number,
                                scenario_->job.operators[static_cast<std::size_t>(sink)].id});
      }
    }
    const auto count = static_cast<std::int64_t>(store->committed().size());
    result.records_out += count;
    recorder.trace(trace_kind::kEffects, sink, count, static_cast<std::int64_t>(effects.value()));
  }
  result.audit = audit();
  result.orphaned_blobs = orphaned_blobs();
  if (options.collect_state) collect_state(outcome);
  recorder.fill(result);
  result.events = static_cast<std::int64_t>(simulation.events_processed());
  result.trace_hash = simulation.trace().hash();
  return outcome;
}

}  // namespace tailrace::scenarios
