// Replays golden/rows_coordinator/rows_10_7_f110: the task side of checkpoints in 1.10.
#include "tests/golden/barrier_rows.hpp"
#include "tests/golden/golden_registry.hpp"
#include "tests/golden/task_rows.hpp"

namespace tailrace::golden {
namespace {

void replay_row(const Json& line) {
  if (is_task_row(line)) {
    replay_task_row(line);
  } else if (is_barrier_row(line)) {
    replay_barrier_row(line);
  } else {
    throw MalformedCase("a row of an unknown kind: " + line.at("row").dump());
  }
}

const Registration kRows7("rows_coordinator/rows_10_7_f110.jsonl", &replay_row);

}  // namespace
}  // namespace tailrace::golden
