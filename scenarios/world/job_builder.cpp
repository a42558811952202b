#include "scenarios/world/job_builder.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

#include "engine/state/data_view.hpp"
#include "engine/task/operators/keyed_count.hpp"
#include "engine/task/operators/keyed_update.hpp"
#include "engine/task/operators/sinks.hpp"
#include "engine/task/operators/stateless.hpp"
#include "scenarios/diagnostics.hpp"
#include "scenarios/sections.hpp"
#include "scenarios/world/file_log.hpp"
#include "scenarios/world/shard_log.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::scenarios {
namespace {

// Enough partitions that every subtask of the largest parallelism has some, whoever it is: a
// subtask of 1.10 that is restored with none takes itself for a fresh one (spec rescale.md S-3.19)
// and would read partitions that others own.
constexpr std::int32_t kPartitionsPerSubtask = 4;
constexpr std::int32_t kPartitionsMin = 16;
// A log is kept in memory.
constexpr std::int64_t kTextBytesMax = std::int64_t{1} << 30;

// Flink's TextInputFormat decodes UTF-8 and reads U+FFFD where there is none. A record is that text
// from the beginning; otherwise the first serialisation would change it.
std::string as_java_reads_it(std::string text) {
  if (std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; })) return text;
  engine::DataOutputView out;
  out.write_string(text);
  const engine::Bytes bytes = out.take();
  engine::DataInputView(bytes).read_string(text);
  return text;
}

std::string read_file(const Scenario& scenario, const OperatorSpec& source) {
  std::ifstream file(source.file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || file.bad()) {
    throw ScenarioError(describe(scenario, source.position) + ": cannot read the file " +
                        source.file + " of source " + source.id);
  }
  text = as_java_reads_it(std::move(text));
  if (static_cast<std::int64_t>(text.size()) > kTextBytesMax / source.repeats) {
    throw ScenarioError(describe(scenario, source.position) + ": source " + source.id +
                        " would read " + std::to_string(text.size()) + " bytes " +
                        std::to_string(source.repeats) + " times over; at most 1 GiB in all");
  }
  std::string repeated;
  repeated.reserve(text.size() * static_cast<std::size_t>(source.repeats));
  for (std::int64_t i = 0; i < source.repeats; ++i) repeated += text;
  return repeated;
}

// The largest parallelism that the operator has in any submission of the run.
std::int32_t largest_parallelism(const Scenario& scenario, std::int32_t op) {
  const auto index = static_cast<std::size_t>(op);
  std::vector<std::int32_t> parallelism = initial_parallelism(scenario);
  std::int32_t largest = parallelism[index];
  for (const TimelineEntry& entry : scenario.timeline) {
    if (entry.action != ActionKind::kRescale) continue;
    parallelism = rescaled_parallelism(std::move(parallelism), entry.rescales);
    largest = std::max(largest, parallelism[index]);
  }
  return largest;
}

// The number of an operator's records, or their text, is what keyed state behind it goes by.
engine::RecordType output_type(const Scenario& scenario, std::int32_t op);

// All keys that the sources of shards before an operator have.
std::shared_ptr<const std::vector<std::int64_t>> keys_before(const Scenario& scenario,
                                                             std::int32_t op) {
  auto keys = std::make_shared<std::vector<std::int64_t>>();
  for (const std::int32_t source : shards_before(scenario.job, op)) {
    const OperatorSpec& spec = scenario.job.operators[static_cast<std::size_t>(source)];
    const std::vector<std::int64_t> all =
        ShardKeys(spec.keys, spec.shards, scenario.job.max_parallelism).all();
    keys->insert(keys->end(), all.begin(), all.end());
  }
  std::sort(keys->begin(), keys->end());
  keys->erase(std::unique(keys->begin(), keys->end()), keys->end());
  return keys;
}

std::shared_ptr<const engine::StreamOperatorFactory> keyed_factory_of(const Scenario& scenario,
                                                                      std::int32_t index) {
  const OperatorSpec& op = scenario.job.operators[static_cast<std::size_t>(index)];
  const engine::RecordType input =
      op.inputs.empty() ? engine::RecordType::kString : output_type(scenario, op.inputs.front());
  if (op.function != OperatorFunction::kUpdate) return engine::make_keyed_count_factory(input);
  engine::KeyedUpdateConfig config;
  config.input = input;
  config.bytes_per_key = op.state.bytes_per_key;
  config.update_ppm = op.state.update_ppm;
  if (op.state.preload) config.preload = keys_before(scenario, index);
  return engine::make_keyed_update_factory(std::move(config));
}

std::shared_ptr<const engine::StreamOperatorFactory> factory_of(const Scenario& scenario,
                                                                std::int32_t index,
                                                                const JobEnds& ends) {
  const OperatorSpec& op = scenario.job.operators[static_cast<std::size_t>(index)];
  switch (op.kind) {
    case OperatorKind::kSource:
      return ends.logs.at(index)->source();
    case OperatorKind::kFlatMap:
    case OperatorKind::kMap:
      return op.function == OperatorFunction::kTokenize ? engine::make_tokenize_factory()
                                                        : engine::make_identity_factory();
    case OperatorKind::kKeyed:
      return keyed_factory_of(scenario, index);
    case OperatorKind::kSink:
      return op.guarantee == Guarantee::kExactlyOnce
                 ? engine::make_two_phase_commit_sink_factory(*ends.stores.at(index))
                 : engine::make_at_least_once_sink_factory(*ends.stores.at(index));
  }
  TAILRACE_ASSERT_MSG(false, "an operator of an unknown kind");
  return nullptr;
}

// What an operator emits: the keyed count pairs of text and count, everything else what it reads.
engine::RecordType output_type(const Scenario& scenario, std::int32_t op) {
  const OperatorSpec& spec = scenario.job.operators[static_cast<std::size_t>(op)];
  if (spec.function == OperatorFunction::kCount) return engine::RecordType::kStringLong;
  const bool unchanged =
      spec.function == OperatorFunction::kIdentity || spec.function == OperatorFunction::kUpdate;
  if (unchanged && !spec.inputs.empty()) return output_type(scenario, spec.inputs.front());
  return spec.shards > 0 ? engine::RecordType::kNumberedString : engine::RecordType::kString;
}

}  // namespace

JobEnds make_job_ends(const Scenario& scenario, const engine::Clock& clock) {
  JobEnds ends;
  for (std::size_t i = 0; i < scenario.job.operators.size(); ++i) {
    const OperatorSpec& op = scenario.job.operators[i];
    const auto index = static_cast<std::int32_t>(i);
    if (op.kind == OperatorKind::kSink) {
      ends.stores.emplace(index, std::make_unique<ExternalStore>(clock));
    }
    if (op.kind != OperatorKind::kSource) continue;
    if (op.shards > 0) {
      ends.logs.emplace(index, std::make_unique<ShardLog>(op, scenario.job.max_parallelism, clock));
      continue;
    }
    const std::int32_t partitions =
        std::max(kPartitionsMin, kPartitionsPerSubtask * largest_parallelism(scenario, index));
    ends.logs.emplace(
        index, op.made_up_records > 0
                   ? std::make_unique<FileLog>(MadeUpRecords{op.made_up_records, op.record_bytes},
                                               partitions, op.load, op.finite, clock)
                   : std::make_unique<FileLog>(read_file(scenario, op), partitions, op.load,
                                               op.finite, clock));
  }
  return ends;
}

engine::StreamGraph build_stream_graph(const Scenario& scenario,
                                       const std::vector<std::int32_t>& parallelism,
                                       const JobEnds& ends) {
  engine::StreamGraph graph;
  graph.job_name = scenario.name;
  graph.max_parallelism = scenario.job.max_parallelism > 0 ? scenario.job.max_parallelism
                                                           : scenario.flink.max_parallelism;
  graph.chaining_enabled = scenario.flink.operator_chaining;
  for (std::size_t i = 0; i < scenario.job.operators.size(); ++i) {
    const OperatorSpec& op = scenario.job.operators[i];
    const auto index = static_cast<std::int32_t>(i);
    engine::StreamNode node;
    node.name = op.id;
    node.uid = op.uid;
    node.parallelism = parallelism[i];
    node.max_parallelism = op.max_parallelism;
    node.chaining =
        op.kind == OperatorKind::kSource && op.chaining == engine::ChainingStrategy::ALWAYS
            ? engine::ChainingStrategy::HEAD
            : op.chaining;
    node.slot_sharing_group = op.slot_sharing_group.value_or("default");
    node.buffer_timeout = op.buffer_timeout;
    node.factory = factory_of(scenario, index, ends);
    graph.nodes.push_back(std::move(node));
    for (std::size_t in = 0; in < op.inputs.size(); ++in) {
      engine::StreamEdge edge;
      edge.source = op.inputs[in];
      edge.target = index;
      edge.input = static_cast<std::int32_t>(in);
      edge.type_number = op.separate_inputs ? static_cast<std::int32_t>(in) + 1 : 0;
      edge.partitioner = op.partitioner;
      edge.type = output_type(scenario, op.inputs[in]);
      graph.edges.push_back(edge);
    }
  }
  return graph;
}

std::vector<std::int32_t> initial_parallelism(const Scenario& scenario) {
  std::vector<std::int32_t> parallelism;
  for (const OperatorSpec& op : scenario.job.operators) parallelism.push_back(op.parallelism);
  return parallelism;
}

std::vector<std::int32_t> rescaled_parallelism(
    std::vector<std::int32_t> parallelism, const std::vector<TimelineEntry::Rescale>& rescales) {
  for (const TimelineEntry::Rescale& rescale : rescales) {
    parallelism[static_cast<std::size_t>(rescale.op)] = rescale.parallelism;
  }
  return parallelism;
}

}  // namespace tailrace::scenarios
