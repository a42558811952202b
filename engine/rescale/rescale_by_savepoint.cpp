#include "engine/rescale/rescale_by_savepoint.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "engine/graph/streaming_job_graph_generator.hpp"

namespace tailrace::engine {

base::Result<JobSubmission, std::string> with_parallelisms(JobSubmission submission,
                                                           const Parallelisms& parallelisms) {
  std::vector<StreamNode>& nodes = submission.graph.nodes;
  for (const auto& [name, parallelism] : parallelisms) {
    const auto node = std::find_if(nodes.begin(), nodes.end(),
                                   [&name](const StreamNode& n) { return n.name == name; });
    if (node == nodes.end()) return base::Failure{"there is no operator '" + name + "' to rescale"};
    node->parallelism = parallelism;
  }
  const base::Result<JobGraph, std::string> graph = generate_job_graph(submission.graph);
  if (!graph) return base::Failure{graph.error()};
  return submission;
}

void rescale_by_savepoint(JobManager& job_manager, JobId job, const Parallelisms& parallelisms,
                          std::string target_directory, const base::Lifeline& client,
                          RescaleDone done) {
  base::Result<JobSubmission, std::string> next =
      with_parallelisms(job_manager.submission(job), parallelisms);
  if (!next) {
    done(base::Failure{next.error()});
    return;
  }
  struct Step {
    JobManager& job_manager;
    JobSubmission next;
    RescaleDone done;
  };
  auto step =
      std::unique_ptr<Step>(new Step{job_manager, std::move(next).value(), std::move(done)});
  job_manager.stop_with_savepoint(job, std::move(target_directory), false,
                                  client.bind([step = std::move(step)](StopResult stopped) {
                                    if (!stopped.ok()) {
                                      step->done(base::Failure{stopped.error()});
                                      return;
                                    }
                                    step->next.savepoint_path = stopped.value()->external_pointer();
                                    step->done(step->job_manager.submit_job(std::move(step->next)));
                                  }));
}

}  // namespace tailrace::engine
