// How a run went, window by window, as plain data: what `tailrace run --series` adds to the result.
//
// Window w covers the virtual time [w, w + 1) * every; the last one may be cut short by the end of
// the run. Everything is gathered without an event and without a line of the trace, so a run with a
// series is the same run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/time.hpp"

namespace tailrace::analysis {

// Records that a subtask of an operator has served, over all its attempts: a source emitted them,
// the others took them in and were done with them.
struct ThroughputSeries {
  std::string op;
  std::int32_t subtask = 0;
  std::int64_t total = 0;
  std::vector<std::int64_t> records;  // by window; windows behind the last record may be missing
};

// From a record's creation to its effect, of those effects that came within one window.
struct LatencyWindow {
  std::int64_t window = 0;
  std::int64_t count = 0;  // never 0: empty windows are left out
  std::int64_t mean_ns = 0;
  std::int64_t p50_ns = 0;
  std::int64_t p99_ns = 0;
  std::int64_t max_ns = 0;
};

struct LatencySeries {
  std::string op;  // a sink
  std::vector<LatencyWindow> windows;
};

// A gauge of a task under Flink's name, as it stood at the end of each whole window.
struct MetricSeries {
  std::string op;  // the first operator of the task's chain
  std::int32_t subtask = 0;
  std::string name;
  bool in_thousandths = false;  // values are fractions times 1000, rounded
  // None: no such task ran just then, or its version does not measure it.
  std::vector<std::optional<std::int64_t>> values;
};

// One attempt of an operator's subtask.
struct AttemptRow {
  std::string op;
  std::int32_t subtask = 0;
  std::int32_t attempt = 0;          // counts those of this subtask in the run, from 0
  bool restored = false;             // it began with state
  base::Time initialised;            // its state was there
  std::optional<base::Time> opened;  // none: it never ran
  std::optional<base::Time> first_record;
  // Sources: when, for the first time, no record was overdue.
  std::optional<base::Time> caught_up;
};

// A source partition that an attempt reads again, from where its checkpoint was.
struct ReplayRow {
  std::string op;
  std::int32_t partition = 0;
  base::Time at;
  std::int64_t from = 0;     // records before the position in the checkpoint
  std::int64_t records = 0;  // that had been read behind it
};

// A task that failed by itself, at the moment when it did; the job manager hears of it later.
struct FailureRow {
  std::string op;  // the first operator of the task's chain
  std::int32_t subtask = 0;
  base::Time at;
  std::string cause;
};

// One submission of the job: the first one, and one for each rescale.
struct SubmissionRow {
  struct Vertex {
    std::string id;  // of the job vertex, 32 hex digits; the key of `tasks` in the history
    std::vector<std::string> operators;  // of its chain
    std::int32_t parallelism = 1;
  };
  std::vector<Vertex> vertices;
  base::Time submitted;
  std::optional<base::Time> running;  // all its subtasks, for the first time
};

struct Series {
  base::Duration every;
  std::int64_t windows = 0;  // whole ones
  std::vector<SubmissionRow> submissions;
  std::vector<ThroughputSeries> throughput;  // by operator, then subtask
  std::vector<LatencySeries> latency;        // by operator
  std::vector<MetricSeries> metrics;         // by operator, then subtask, then name
  std::vector<AttemptRow> attempts;          // in the order in which they began
  std::vector<ReplayRow> replays;            // in order of time
  std::vector<FailureRow> failures;          // in order of time
};

}  // namespace tailrace::analysis
