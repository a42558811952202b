// The tasks of a job and what the naive coordinator of 1.20 asks of them (spec coordinator.md 3.6):
// a vertex of sources and, all to all behind it, perhaps a second vertex.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace tailrace::engine::test {

struct NaivePlan120 {
  std::vector<std::int64_t> trigger;             // tasks
  std::map<std::int64_t, std::int64_t> awaited;  // attempt -> task
  std::vector<std::int64_t> commit;              // tasks
  std::set<std::int64_t> partly_finished;        // vertices
  std::set<std::int64_t> fully_finished;         // vertices
};

class NaiveJob120 {
 public:
  static constexpr std::int64_t kUnknownAttempt = 1'000'000;

  explicit NaiveJob120(const nlohmann::json& config)
      : sources_(config.at("sources").get<std::int64_t>()),
        after_finish_(config.at("afterFinish").get<bool>()) {
    const std::int64_t count = sources_ + config.at("others").get<std::int64_t>();
    for (std::int64_t task = 0; task < count; ++task) {
      tasks_.push_back({});
      new_attempt(task);
    }
  }

  void change(std::int64_t number, const std::string& state) {
    Task& task = tasks_.at(static_cast<std::size_t>(number));
    task.has_attempt = state != "none";
    if (state == "none") return;
    if (state == "newAttempt") new_attempt(number);
    task.state = state == "newAttempt" ? "RUNNING" : state;
  }

  // False: NOT_ALL_REQUIRED_TASKS_RUNNING.
  bool make_plan(NaivePlan120& plan) const {
    // Only FINISHED makes it a job with finished tasks; then every terminal one counts as such.
    bool any_finished = false;
    bool all_running = true;
    for (const Task& task : tasks_) {
      if (task.has_attempt && task.state == "FINISHED") any_finished = true;
      if (!task.has_attempt || task.state != "RUNNING") all_running = false;
    }
    if (!all_running && (!any_finished || !after_finish_)) return false;
    for (const Task& task : tasks_) {
      if (!task.has_attempt) return false;
    }
    for (std::int64_t vertex = 0; vertex < 2; ++vertex) {
      std::int64_t over = 0;
      std::int64_t alive = 0;
      for (const std::int64_t number : tasks_of(vertex)) {
        const Task& task = tasks_.at(static_cast<std::size_t>(number));
        if (is_finished(task)) {
          ++over;
          continue;
        }
        ++alive;
        if (task.state != "RUNNING") return false;
        plan.awaited[task.attempt] = number;
        plan.commit.push_back(number);
        // Fed by whoever of the vertex before is alive.
        if (vertex == 0 || !is_any_alive(0)) plan.trigger.push_back(number);
      }
      if (over > 0) (alive > 0 ? plan.partly_finished : plan.fully_finished).insert(vertex);
    }
    return true;
  }

  [[nodiscard]] std::int64_t vertex_of(std::int64_t task) const { return task < sources_ ? 0 : 1; }
  [[nodiscard]] bool has_vertex(std::int64_t vertex) const { return !tasks_of(vertex).empty(); }
  [[nodiscard]] bool has_attempt(std::int64_t task) const {
    return tasks_.at(static_cast<std::size_t>(task)).has_attempt;
  }
  [[nodiscard]] std::int64_t attempt_of(std::int64_t task) const {
    return task < 0 ? kUnknownAttempt : tasks_.at(static_cast<std::size_t>(task)).attempt;
  }

 private:
  struct Task {
    std::int64_t attempt = 0;
    bool has_attempt = true;
    std::string state = "RUNNING";
  };

  static bool is_finished(const Task& task) {
    return task.has_attempt &&
           (task.state == "FINISHED" || task.state == "CANCELED" || task.state == "FAILED");
  }
  [[nodiscard]] bool is_any_alive(std::int64_t vertex) const {
    for (const std::int64_t task : tasks_of(vertex)) {
      if (!is_finished(tasks_.at(static_cast<std::size_t>(task)))) return true;
    }
    return false;
  }
  [[nodiscard]] std::vector<std::int64_t> tasks_of(std::int64_t vertex) const {
    std::vector<std::int64_t> result;
    for (std::int64_t task = 0; task < static_cast<std::int64_t>(tasks_.size()); ++task) {
      if (vertex_of(task) == vertex) result.push_back(task);
    }
    return result;
  }
  void new_attempt(std::int64_t task) {
    tasks_.at(static_cast<std::size_t>(task)).attempt = ++last_attempt_;
  }

  std::int64_t sources_;
  bool after_finish_;
  std::vector<Task> tasks_;
  std::int64_t last_attempt_ = 0;
};

}  // namespace tailrace::engine::test
