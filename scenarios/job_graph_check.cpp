// What can be seen of a job without running it: that it is a graph that Flink would accept.
#include <algorithm>

#include "scenarios/sections.hpp"

namespace tailrace::scenarios {
namespace {

using engine::PartitionerKind;

std::size_t at(std::int32_t index) {
  return static_cast<std::size_t>(index);
}

void check_names(const Job& job, Diagnostics& diagnostics) {
  for (std::size_t i = 0; i < job.operators.size(); ++i) {
    const OperatorSpec& op = job.operators[i];
    for (std::size_t j = 0; j < i; ++j) {
      const OperatorSpec& earlier = job.operators[j];
      if (!op.id.empty() && earlier.id == op.id) {
        diagnostics.error(op.position, "job.operators: the id " + in_quotes(op.id) +
                                           " is here twice; the first one is in line " +
                                           std::to_string(earlier.position.line));
      } else if (!op.uid.empty() && earlier.uid == op.uid) {
        diagnostics.error(op.position, "job.operators." + op.id + ": " + earlier.id +
                                           " has the same uid " + in_quotes(op.uid) +
                                           ", and state is known by it");
      }
    }
  }
}

// In an order in which inputs come first; shorter than the job if there is a cycle.
std::vector<std::int32_t> topological_order(const Job& job) {
  std::vector<std::int32_t> order;
  std::vector<bool> done(job.operators.size(), false);
  for (bool progress = true; progress;) {
    progress = false;
    for (std::size_t i = 0; i < job.operators.size(); ++i) {
      const OperatorSpec& op = job.operators[i];
      const bool ready = std::all_of(op.inputs.begin(), op.inputs.end(),
                                     [&](std::int32_t input) { return done[at(input)]; });
      if (done[i] || !ready) continue;
      done[i] = true;
      order.push_back(static_cast<std::int32_t>(i));
      progress = true;
    }
  }
  return order;
}

void report_cycle(const Job& job, const std::vector<std::int32_t>& order,
                  Diagnostics& diagnostics) {
  std::vector<bool> settled(job.operators.size(), false);
  for (const std::int32_t op : order) settled[at(op)] = true;
  // Going back from any operator that is not settled stays among those that are not, and so comes
  // round at last.
  std::int32_t here = 0;
  while (settled[at(here)]) ++here;
  std::vector<std::int32_t> path;
  while (std::find(path.begin(), path.end(), here) == path.end()) {
    path.push_back(here);
    for (const std::int32_t input : job.operators[at(here)].inputs) {
      if (!settled[at(input)]) {
        here = input;
        break;
      }
    }
  }
  path.erase(path.begin(), std::find(path.begin(), path.end(), here));
  std::reverse(path.begin(), path.end());
  const auto first = std::min_element(path.begin(), path.end());
  std::rotate(path.begin(), first, path.end());
  std::string text;
  for (const std::int32_t op : path) text += job.operators[at(op)].id + " -> ";
  text += job.operators[at(path.front())].id;
  diagnostics.error(job.operators[at(path.front())].position,
                    "job.operators: the job graph has a cycle: " + text);
}

void settle_parallelism(Job& job, const std::vector<std::int32_t>& order,
                        std::int32_t job_parallelism, Diagnostics& diagnostics) {
  for (const std::int32_t index : order) {
    OperatorSpec& op = job.operators[at(index)];
    const bool follows =
        !op.inputs.empty() && op.partitioner == PartitionerKind::kForward && !op.own_parallelism;
    if (follows) {
      op.parallelism = job.operators[at(op.inputs.front())].parallelism;
    } else if (!op.own_parallelism) {
      op.parallelism = job_parallelism;
    }
    for (const std::int32_t input : op.inputs) {
      const OperatorSpec& from = job.operators[at(input)];
      if (op.partitioner != PartitionerKind::kForward || from.parallelism == op.parallelism) {
        continue;
      }
      if (op.partitioner_is_default) {
        op.partitioner = PartitionerKind::kRebalance;
        break;
      }
      diagnostics.error(op.parallelism_position,
                        "job.operators." + op.id +
                            ": forward needs the same parallelism on both "
                            "sides; " +
                            from.id + " has " + std::to_string(from.parallelism) + " and " + op.id +
                            " has " + std::to_string(op.parallelism) + "; use by: rebalance");
    }
  }
}

// Flink StreamGraphGenerator.determineSlotSharingGroup: the group of the inputs if they are all in
// one, else the default one.
void settle_slot_sharing(Job& job, const std::vector<std::int32_t>& order) {
  for (const std::int32_t index : order) {
    OperatorSpec& op = job.operators[at(index)];
    if (op.slot_sharing_group.has_value()) continue;
    op.slot_sharing_group = "default";
    if (op.inputs.empty()) continue;
    const std::string group = *job.operators[at(op.inputs.front())].slot_sharing_group;
    const bool same = std::all_of(op.inputs.begin(), op.inputs.end(), [&](std::int32_t input) {
      return *job.operators[at(input)].slot_sharing_group == group;
    });
    if (same) op.slot_sharing_group = group;
  }
}

// An operator that follows its input into too many subtasks is no second mistake.
bool takes_over_mistake(const Job& job, const OperatorSpec& op, std::int32_t most) {
  if (op.own_parallelism || op.inputs.empty() || op.partitioner != PartitionerKind::kForward) {
    return false;
  }
  const OperatorSpec& from = job.operators[at(op.inputs.front())];
  return (from.max_parallelism > 0 ? from.max_parallelism : job.max_parallelism) == most;
}

void check_max_parallelism(const Job& job, Diagnostics& diagnostics) {
  for (const OperatorSpec& op : job.operators) {
    const std::int32_t most = op.max_parallelism > 0 ? op.max_parallelism : job.max_parallelism;
    if (most <= 0 || op.parallelism <= most) continue;
    if (takes_over_mistake(job, op, most)) continue;
    diagnostics.error(op.parallelism_position,
                      "job.operators." + op.id + ".parallelism: " + std::to_string(op.parallelism) +
                          " is above the max parallelism of " + std::to_string(most));
  }
}

void check_ends(const Job& job, Diagnostics& diagnostics) {
  std::vector<bool> read(job.operators.size(), false);
  for (const OperatorSpec& op : job.operators) {
    for (const std::int32_t input : op.inputs) read[at(input)] = true;
  }
  // Those who read something unknown may mean this one.
  const bool unknown = std::any_of(
      job.operators.begin(), job.operators.end(),
      [](const OperatorSpec& op) { return op.kind != OperatorKind::kSource && op.reads_unknown; });
  bool has_source = false;
  for (std::size_t i = 0; i < job.operators.size(); ++i) {
    const OperatorSpec& op = job.operators[i];
    has_source = has_source || op.kind == OperatorKind::kSource;
    if (op.kind != OperatorKind::kSink && !read[i] && !unknown) {
      diagnostics.error(op.position, "job.operators." + op.id +
                                         ": nothing reads from it; every path ends in a sink");
    }
  }
  if (!has_source) diagnostics.error(job.position, "job.operators: there is no source");
}

}  // namespace

void check_job_graph(Job& job, std::int32_t job_parallelism, Diagnostics& diagnostics) {
  check_names(job, diagnostics);
  const std::vector<std::int32_t> order = topological_order(job);
  if (order.size() < job.operators.size()) {
    report_cycle(job, order, diagnostics);
    return;
  }
  settle_parallelism(job, order, job_parallelism, diagnostics);
  settle_slot_sharing(job, order);
  check_max_parallelism(job, diagnostics);
  check_ends(job, diagnostics);
  check_shards(job, diagnostics);
}

std::vector<TimelineEntry::Rescale> with_followers(const Job& job,
                                                   std::vector<TimelineEntry::Rescale> changes) {
  std::vector<std::int32_t> parallelism(job.operators.size(), 0);  // 0: does not change
  for (const TimelineEntry::Rescale& change : changes)
    parallelism[at(change.op)] = change.parallelism;
  for (std::size_t next = 0; next < changes.size(); ++next) {
    const TimelineEntry::Rescale change = changes[next];
    const auto follow = [&](std::int32_t neighbour) {
      if (job.operators[at(neighbour)].own_parallelism || parallelism[at(neighbour)] != 0) return;
      parallelism[at(neighbour)] = change.parallelism;
      changes.push_back({neighbour, change.parallelism});
    };
    const OperatorSpec& op = job.operators[at(change.op)];
    if (op.partitioner == PartitionerKind::kForward) {
      for (const std::int32_t input : op.inputs) follow(input);
    }
    for (std::size_t other = 0; other < job.operators.size(); ++other) {
      const OperatorSpec& reader = job.operators[other];
      if (reader.partitioner == PartitionerKind::kForward &&
          std::find(reader.inputs.begin(), reader.inputs.end(), change.op) != reader.inputs.end()) {
        follow(static_cast<std::int32_t>(other));
      }
    }
  }
  return changes;
}

}  // namespace tailrace::scenarios
