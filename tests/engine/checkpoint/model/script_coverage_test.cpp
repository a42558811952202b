// Random scripts are worth what they reach: everything that a recording can say must be among it.
#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "tests/engine/checkpoint/model/naive_coordinator.hpp"
#include "tests/engine/checkpoint/model/random_script.hpp"
#include "tests/engine/checkpoint/model/recorded_script.hpp"

namespace tailrace::engine::test {
namespace {

using Json = nlohmann::json;
using Counts = std::map<std::string, int>;

void count_event(const Json& event, Counts& counts) {
  const std::string kind = event.at("e");
  ++counts[kind];
  for (const char* member : {"reason", "type", "alignment"}) {
    if (!event.contains(member)) continue;
    const Json& value = event.at(member);
    ++counts[kind + " " + (value.is_null() ? "null" : value.get<std::string>())];
  }
  if (kind == "notifyComplete" && event.value("lastSubsumed", -1) >= 0) ++counts["subsumed"];
  if (kind == "notifyAborted" && event.at("latestCompleted") > 0) ++counts["aborted after one"];
  if (event.value("alignmentTimeout", Json()).is_number()) ++counts["timeoutable"];
  if (event.value("savepoint", false)) ++counts["failed savepoint"];
}

void count_step(const Json& step, Counts& counts) {
  const std::string op = step.at("op");
  ++counts["op " + op];
  if (op == "request") ++counts["request " + step.at("kind").get<std::string>()];
  if (op == "decline") ++counts["decline " + step.at("reason").get<std::string>()];
  if (op == "restoreSavepoint") ++counts["claim " + step.value("mode", "")];
  if (step.contains("exception")) ++counts["exception of " + op];
  if (op == "ack" && step.contains("shared")) {
    ++counts["shared files"];
    if (step.contains("exception") && step.at("out").empty()) ++counts["files not registered"];
  }
  if (step.contains("returned")) ++counts[op + " returned " + step.at("returned").dump()];
  if (step.at("queued") > 1) ++counts["several queued"];
  if (step.value("triggering", false)) ++counts["waits for a hook"];
  if (step.at("pending").size() > 2) ++counts["three pending"];
  bool completes = false;
  bool waits = step.value("triggering", false);
  for (const Json& event : step.at("out")) {
    count_event(event, counts);
    if (event.at("e") == "completed") completes = true;
  }
  if (completes && op == "hookDone") ++counts["completed by the trigger phase"];
  if (op == "ack" && waits) ++counts["acknowledged before it was triggered"];
}

// What shows only in the order of things.
void count_history(const Json& steps, Counts& counts) {
  std::int64_t newest = 0;
  for (const Json& step : steps) {
    for (const Json& event : step.at("out")) {
      if (event.at("e") != "completed") continue;
      const std::int64_t id = event.at("cp");
      if (id < newest) ++counts["completed after a newer one"];
      newest = std::max(newest, id);
    }
  }
}

// Of files that several checkpoints use. A late acknowledgement keeps its files until a later
// checkpoint has completed without them (C-59).
void count_sharing(const Json& steps, Counts& counts) {
  std::map<std::string, std::set<std::int64_t>> users;
  std::set<std::string> late;
  for (const Json& step : steps) {
    for (const Json& event : step.at("out")) {
      if (event.at("e") != "discardShared") continue;
      const std::string file = event.at("file");
      if (users[file].size() > 1) ++counts["deleted after several checkpoints"];
      if (step.at("op") == "ack" && late.contains(file)) ++counts["late file deleted"];
    }
    if (step.at("op") != "ack" || !step.contains("shared")) continue;
    const Json returned = step.value("returned", Json());
    for (const Json& file : step.at("shared")) {
      const std::string name = file.at("file");
      std::set<std::int64_t>& of_file = users[name];
      of_file.insert(step.at("cp").get<std::int64_t>());
      if (of_file.size() > 1 && returned == true) ++counts["file of several checkpoints"];
      if (returned == false && !step.contains("exception")) {
        ++counts["late shared file"];
        late.insert(name);
      }
    }
  }
}

Counts counts_of(ScriptDialect dialect, MakeNaiveCoordinator make) {
  constexpr int kScripts = 1500;
  constexpr int kSize = 100;
  Counts counts;
  rc::Random random(20'260'120);
  for (int i = 0; i < kScripts; ++i) {
    const RawScript script = raw_scripts()(random.split(), kSize).value();
    const Json line = record_on_model(script, dialect, make).line;
    for (const char* steps : {"steps", "steps2"}) {
      if (!line.contains(steps)) continue;
      for (const Json& step : line.at(steps)) count_step(step, counts);
      count_history(line.at(steps), counts);
      count_sharing(line.at(steps), counts);
    }
  }
  return counts;
}

void expect_each(const Counts& counts, const std::vector<std::string>& wanted) {
  for (const std::string& what : wanted) {
    const auto found = counts.find(what);
    EXPECT_GE(found == counts.end() ? 0 : found->second, 3) << what;
  }
}

const std::vector<std::string> kBoth = {"op start",
                                        "op stop",
                                        "op advance",
                                        "op request",
                                        "op requests",
                                        "op ack",
                                        "op decline",
                                        "op taskFailure",
                                        "op abortPending",
                                        "op taskState",
                                        "op restoreLatest",
                                        "op shutdown",
                                        "schedule",
                                        "trigger",
                                        "completed",
                                        "failed",
                                        "failJob",
                                        "notifyComplete",
                                        "requestDone",
                                        "requestFailed",
                                        "discardState",
                                        "locationDisposed",
                                        "completedDisposed",
                                        "restored",
                                        "hookTriggered",
                                        "hookRestored",
                                        "hookReset",
                                        "hookClosed",
                                        "exception of ack",
                                        "exception of decline",
                                        "exception of start",
                                        "ack returned false",
                                        "ack returned true",
                                        "request periodic",
                                        "request checkpoint",
                                        "request savepoint",
                                        "request stopWithSavepoint",
                                        "request terminateWithSavepoint",
                                        "requestFailed null",
                                        "three pending",
                                        "failed NOT_ALL_REQUIRED_TASKS_RUNNING",
                                        "failed PERIODIC_SCHEDULER_SHUTDOWN",
                                        "failed CHECKPOINT_EXPIRED",
                                        "failed CHECKPOINT_SUBSUMED",
                                        "failed CHECKPOINT_DECLINED",
                                        "failed CHECKPOINT_COORDINATOR_SUSPEND",
                                        "failed CHECKPOINT_COORDINATOR_SHUTDOWN",
                                        "failed FINALIZE_CHECKPOINT_FAILURE",
                                        "failed TRIGGER_CHECKPOINT_FAILURE",
                                        "failed JOB_FAILOVER_REGION"};

TEST(RandomScripts, OfTheDialectOf110ReachEverything) {
  const Counts counts = counts_of(ScriptDialect::k110, &make_naive_coordinator_110);
  expect_each(counts, kBoth);
  expect_each(counts, {"failJobDueToTaskFailure", "syncSavepointFailed", "failed JOB_FAILURE",
                       "failed EXCEPTION", "failed MINIMUM_TIME_BETWEEN_CHECKPOINTS",
                       "failed TOO_MANY_CONCURRENT_CHECKPOINTS", "failed ALREADY_QUEUED",
                       "trigger SYNC_SAVEPOINT"});
}

TEST(RandomScripts, OfTheDialectOf120ReachEverything) {
  const Counts counts = counts_of(ScriptDialect::k120, &make_naive_coordinator_120);
  expect_each(counts, kBoth);
  expect_each(counts, {"completed after a newer one",
                       "shared files",
                       "files not registered",
                       "file of several checkpoints",
                       "deleted after several checkpoints",
                       "late shared file",
                       "late file deleted",
                       "discardShared",
                       "op abortObject",
                       "exception of abortObject",
                       "exception of restoreInitial",
                       "op finishTask",
                       "op hookDone",
                       "op backlog",
                       "op restoreInitial",
                       "op restoreSavepoint",
                       "op shutdownStore",
                       "claim CLAIM",
                       "claim NO_CLAIM",
                       "claim LEGACY",
                       "request CONFIGURED",
                       "request FULL",
                       "request INCREMENTAL",
                       "exception of request",
                       "exception of restoreLatest",
                       "exception of restoreSavepoint",
                       "restoreLatest returned false",
                       "restoreInitial returned true",
                       "several queued",
                       "waits for a hook",
                       "completed by the trigger phase",
                       "acknowledged before it was triggered",
                       "subsumed",
                       "aborted after one",
                       "timeoutable",
                       "failed savepoint",
                       "trigger AT_LEAST_ONCE",
                       "trigger ALIGNED",
                       "trigger UNALIGNED",
                       "trigger Checkpoint",
                       "trigger Full Checkpoint",
                       "trigger Savepoint",
                       "trigger Suspend Savepoint",
                       "trigger Terminate Savepoint",
                       "notifyAborted",
                       "failJobDueToTaskFailure",
                       "coordinatorTriggered",
                       "coordinatorComplete",
                       "coordinatorAborted",
                       "coordinatorAbandons",
                       "coordinatorReset",
                       "requestFailed TOO_MANY_CHECKPOINT_REQUESTS",
                       "requestFailed MINIMUM_TIME_BETWEEN_CHECKPOINTS",
                       "failed IO_EXCEPTION",
                       "failed TASK_FAILURE",
                       "failed CHECKPOINT_ASYNC_EXCEPTION",
                       "failed CHECKPOINT_DECLINED_TASK_CLOSING"});
}

}  // namespace
}  // namespace tailrace::engine::test
