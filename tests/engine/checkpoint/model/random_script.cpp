#include "tests/engine/checkpoint/model/random_script.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

namespace tailrace::engine::test {
namespace {

using Json = nlohmann::json;

template <std::size_t N>
const char* pick(const std::array<const char*, N>& names, int choice) {
  return names.at(static_cast<std::size_t>(choice) % N);
}

constexpr std::array<const char*, 4> kRequests = {"checkpoint", "savepoint", "stopWithSavepoint",
                                                  "terminateWithSavepoint"};
constexpr std::array<const char*, 5> kDeclines110 = {"CHECKPOINT_DECLINED", "none", "other",
                                                     "CHECKPOINT_DECLINED_TASK_NOT_READY",
                                                     "CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER"};
constexpr std::array<const char*, 4> kTypes120 = {"CONFIGURED", "FULL", "INCREMENTAL", "null"};
constexpr std::array<const char*, 13> kDeclines120 = {
    "CHECKPOINT_DECLINED",
    "CHECKPOINT_ASYNC_EXCEPTION",
    "IO_EXCEPTION",
    "CHECKPOINT_DECLINED_TASK_NOT_READY",
    "CHECKPOINT_DECLINED_TASK_CLOSING",
    "CHECKPOINT_DECLINED_INPUT_END_OF_STREAM",
    "CHECKPOINT_DECLINED_SUBSUMED",
    "CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER",
    "CHANNEL_STATE_SHARED_STREAM_EXCEPTION",
    "TASK_CHECKPOINT_FAILURE",
    "TASK_FAILURE",
    "UNKNOWN_TASK_CHECKPOINT_NOTIFICATION_FAILURE",
    "CHECKPOINT_EXPIRED"};
constexpr std::array<const char*, 3> kAborts = {
    "JOB_FAILOVER_REGION", "CHECKPOINT_COORDINATOR_SUSPEND", "CHECKPOINT_EXPIRED"};
constexpr std::array<const char*, 4> kStates110 = {"RUNNING", "newAttempt", "none", "FINISHED"};
constexpr std::array<const char*, 6> kStates120 = {"newAttempt", "FINISHED", "INITIALIZING",
                                                   "none",       "FINISHED", "CANCELED"};
constexpr std::array<const char*, 3> kClaimModes = {"NO_CLAIM", "CLAIM", "LEGACY"};
constexpr std::array<const char*, 12> kHooks120 = {
    "ok", "null", "ok", "never", "fails", "ok", "never", "ok", "throws", "null", "ok", "never"};
constexpr std::array<const char*, 6> kCoordinators = {"ok", "ok@v", "ok", "ok@v", "ok", "ok@v"};
constexpr std::array<const char*, 4> kStatuses = {"FINISHED", "CANCELED", "FAILED", "SUSPENDED"};
constexpr std::array<const char*, 3> kPolicies = {"NEVER_RETAIN_AFTER_TERMINATION",
                                                  "RETAIN_ON_FAILURE", "RETAIN_ON_CANCELLATION"};

// Mostly a checkpoint that is pending, else one that is over or has not begun.
std::int64_t checkpoint_of(int choice, const Json& state) {
  const Json pending = state.value("pending", Json::array());
  if (!pending.empty() && choice % 8 != 7) {
    return pending.at(static_cast<std::size_t>(choice) % pending.size()).at("cp");
  }
  return 1 + choice / 8 % state.value("nextId", std::int64_t{1});
}

// Mostly a task of the job, seldom one that nobody knows.
std::int64_t task_of(int choice, const Json& config) {
  const std::int64_t tasks =
      config.at("sources").get<std::int64_t>() + config.at("others").get<std::int64_t>();
  return choice % 23 == 22 ? -1 : choice % tasks;
}

// The next one, if the tasks before have acknowledged in order; that makes checkpoints complete.
std::int64_t next_task(const Json& id, const Json& state, std::int64_t otherwise) {
  const Json pending = state.value("pending", Json::array());
  for (const Json& one : pending) {
    if (one.at("cp") == id && one.at("missing") > 0) return one.at("acked");
  }
  return otherwise;
}

std::int64_t time_of(int choice, const Json& config) {
  const std::int64_t interval =
      config.at("interval").is_null() ? 50 : config.at("interval").get<std::int64_t>();
  switch (choice % 5) {
    case 0:
      return choice % 13;
    case 1:
      return interval;
    case 2:
      return config.at("minPause").get<std::int64_t>();
    case 3:
      return std::min<std::int64_t>(config.at("timeout").get<std::int64_t>(), 300) / 2;
    default:
      return choice % 250;
  }
}

}  // namespace

rc::Gen<RawScript> raw_scripts() {
  const auto below_1000 = rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, 1000));
  return rc::gen::build<RawScript>(
      rc::gen::set(&RawScript::config,
                   rc::gen::container<std::vector<int>>(kConfigChoices, below_1000)),
      rc::gen::set(&RawScript::actions, rc::gen::container<std::vector<RawAction>>(
                                            rc::gen::tuple(below_1000, below_1000, below_1000))));
}

Json config_of(const RawScript& script, ScriptDialect dialect) {
  const auto choice = [&script](std::size_t i) { return script.config.at(i); };
  const bool of_110 = dialect == ScriptDialect::k110;
  Json config;
  config["sources"] = 1 + choice(0) % 3;
  config["others"] = choice(1) % 3;
  config["interval"] = choice(2) % 5 == 4 ? Json() : Json(10 + choice(2) % 120);
  config["timeout"] = choice(3) % 3 == 0 ? 600'000 : 10 + choice(3) % 200;
  config["minPause"] = choice(4) % 2 == 0 ? 0 : choice(4) % 150;
  config["maxConcurrent"] = 1 + choice(5) % 3;
  config["tolerable"] = choice(6) % 4 == 0 ? 2147483647 : choice(6) % 3;
  config["retained"] = 1 + choice(7) % 3;
  config["start"] = 1'000'000;
  if (choice(8) % 3 != 0) config["retention"] = pick(kPolicies, choice(8));
  if (choice(9) % 6 == 5) {
    config["idFails"] = {{std::to_string(1 + choice(9) % 4), choice(9) % 4 < 2 ? "io" : "runtime"}};
  }
  if (choice(10) % 6 == 5) {
    config["storeFails"] = {
        {std::to_string(1 + choice(10) % 4), choice(10) % 4 < 2 ? "error" : "uncertain"}};
  }
  if (choice(11) % 6 == 5) config["metadataFails"] = {1 + choice(11) % 5};
  if (choice(12) % 4 == 3) {
    config["hooks"] = {{"h1", choice(12) % 40 < 24   ? "ok"
                              : choice(12) % 40 < 32 ? "null"
                                                     : "fails"}};
    if (choice(12) % 3 == 0) config["hooks"]["h2"] = "ok";
  }
  if (of_110) {
    config["preferCheckpoint"] = choice(13) % 2 == 1;
    return config;
  }
  config["exactlyOnce"] = choice(13) % 5 != 4;
  const bool unaligned = choice(14) % 3 == 2;
  config["unaligned"] = unaligned;
  if (unaligned) config["maxConcurrent"] = 1;
  config["alignmentTimeout"] = unaligned && choice(14) % 2 == 1 ? 30 : 0;
  config["afterFinish"] = choice(15) % 4 != 3;
  config.erase("hooks");
  if (choice(12) % 4 == 3) config["hooks"]["h1"] = pick(kHooks120, choice(12) / 4);
  if (choice(12) % 12 == 3) config["hooks"]["h2"] = pick(kHooks120, choice(12) / 12);
  if (choice(16) % 12 == 11) config["rpcFails"] = {task_of(choice(16) % 22, config)};
  if (choice(17) % 4 == 3) config["coordinators"] = {pick(kCoordinators, choice(17) / 4)};
  if (choice(17) % 8 == 7) config["coordinators"].push_back(choice(17) % 15 == 14 ? "fails" : "ok");
  if (choice(18) % 4 == 3 && !config["interval"].is_null()) {
    const int slower = config["interval"].get<int>() + choice(18) % 100;
    config["backlogInterval"] = choice(18) % 8 == 7 ? 0 : slower;
  }
  return config;
}

namespace {

bool contains(const Json& list, const Json& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// A checkpoint whose metadata can be read without giving out an id for the second time.
Json readable(const Json& state, bool is_new) {
  const Json written = state.value("written", Json::array());
  if (written.empty() || !state.at("pending").empty() || !state.contains("nextId")) {
    if (!is_new || written.empty()) return {};
  }
  const Json retained = state.at("retained");
  const Json newest = written.back();
  if (contains(retained, newest)) return {};
  return is_new || newest == state.at("nextId").get<std::int64_t>() - 1 ? newest : Json();
}

std::size_t written_count(const Json& state) {
  return state.value("written", Json::array()).size();
}

// What an operator coordinator has stored is not read back, so whether it is missed is not asked.
Json restore_of(int choice, const Json& config, const Json& state, bool is_new) {
  const Json id = readable(state, is_new);
  if (choice % 4 < 2 && !id.is_null()) {
    return {{"op", "restoreSavepoint"},
            {"cp", id},
            {"mode", pick(kClaimModes, choice / 4 + static_cast<int>(written_count(state)))},
            {"allowNonRestored", config.contains("coordinators") || choice % 5 < 2}};
  }
  return {{"op", choice % 4 == 3 ? "restoreInitial" : "restoreLatest"}};
}

// The second life of a job: with other hooks perhaps, and nothing fails at once.
Json config_of_restart(int choice, const Json& config) {
  Json next = config;
  next.erase("storeFails");
  next.erase("idFails");
  if (choice % 4 == 3) next["hooks"] = {{"h2", "ok"}};
  if (choice % 8 == 7) next.erase("hooks");
  return next;
}

// The files of an incremental keyed state: a new one, and mostly one that is there from before.
Json shared_files(int choice, const Json& state, int number) {
  Json files = Json::array();
  const Json registered = state.value("registered", Json::array());
  if (!registered.empty() && choice % 6 != 0) {
    const Json& known = registered.at(static_cast<std::size_t>(choice) % registered.size());
    files.push_back({{"file", known}, {"placeholder", choice % 5 != 0}});
  }
  if (choice % 3 != 0 || files.empty()) {
    files.push_back({{"file", "k" + std::to_string(number)}, {"placeholder", choice % 30 == 6}});
  }
  return files;
}

// What only the coordinator of 1.20 can be asked; null: something else is to be done.
Json operation_of_120(const RawAction& action, const Json& config, const Json& state, int number) {
  const auto [kind, a, b] = action;
  if (state.value("restarted", false) && !state.contains("out"))
    return restore_of(b, config, state, true);
  if (state.value("triggering", false) && a % 4 == 3) {
    return {{"op", "hookDone"}, {"hook", b % 2 == 0 ? "h1" : "h2"}};
  }
  if (kind >= 250 && kind < 370 && b % 11 == 9) {
    return {{"op", "request"}, {"request", number}, {"kind", pick(kTypes120, a)}};
  }
  if (kind == 912) {  // no caller in Flink does this, but the object has it
    const Json pending = state.value("pending", Json::array());
    if (!pending.empty() && pending.front().at("acked") >= 0) {
      return {{"op", "abortObject"},
              {"cp", pending.front().at("cp")},
              {"reason", b % 2 == 0 ? "CHECKPOINT_SUBSUMED" : "CHECKPOINT_EXPIRED"}};
    }
  }
  if (kind >= 880 && kind < 887 && config.contains("hooks")) {
    return {{"op", "hookDone"}, {"hook", b % 2 == 0 ? "h1" : "h2"}};
  }
  if (a % 16 == 5 && !readable(state, false).is_null()) return restore_of(0, config, state, false);
  // What begins before another checkpoint's completion, and failure, may complete after it.
  const Json pending = state.value("pending", Json::array());
  if (!pending.empty() && kind >= 250 && kind < 480) {
    const Json& oldest = pending.front().at("cp");
    const Json retained = state.at("retained");
    if (state.at("failureCount") > 0) {
      return {{"op", "ack"}, {"cp", oldest}, {"task", next_task(oldest, state, 0)}};
    }
    if (!retained.empty() && oldest < retained.back()) {
      if (pending.size() == 1) {
        return {{"op", "request"}, {"request", number}, {"kind", "checkpoint"}};
      }
      return {{"op", "decline"},
              {"cp", pending.back().at("cp")},
              {"task", 0},
              {"reason", "CHECKPOINT_DECLINED"}};
    }
  }
  // Starting anew ends everything that is pending, so that little would ever complete.
  if (kind >= 790 && kind < 850 && state.value("periodicOn", false) && a % 4 != 3) {
    const std::int64_t id = checkpoint_of(a, state);
    return {{"op", "ack"}, {"cp", id}, {"task", next_task(id, state, 0)}};
  }
  const bool has_backlog = config.contains("backlogInterval");
  if (has_backlog && kind >= 720 && kind < 895 && kind % 5 == 4) {
    return {{"op", "backlog"}, {"operator", b % 2}, {"on", a % 3 != 2}};
  }
  // A task that does not run keeps everything from beginning, so most of this is healing.
  if (kind >= 915 && kind < 945) {
    const std::int64_t task = std::max<std::int64_t>(0, task_of(b, config));
    if (kind < 918) return {{"op", "finishTask"}, {"task", task}};
    const char* healed = a % 4 == 0 ? "newAttempt" : "RUNNING";
    return {{"op", "taskState"},
            {"task", task},
            {"state", kind < 941 ? healed : pick(kStates120, a / 2)}};
  }
  if (kind == 964 && a % 8 == 7) {  // more than can wait
    Json requests = Json::array();
    for (int i = 0; i < 1003; ++i) {
      const char* what = i < 999 + b % 3 ? "checkpoint" : "savepoint";
      requests.push_back({{"request", 100'000'000 + number * 2'000 + i},
                          {"kind", i % 7 == a % 7 ? "periodic" : what}});
    }
    return {{"op", "requests"}, {"requests", requests}};
  }
  if (kind >= 965 && kind < 990) return restore_of(b, config, state, false);
  if (kind >= 990 && kind < 996 && !state.value("restarted", false)) {
    return {{"op", "restart"}, {"config", config_of_restart(a, config)}};
  }
  if (kind >= 990 && kind < 996) return restore_of(b, config, state, false);
  if (kind >= 996 && state.value("shutDown", false)) {
    return {{"op", "shutdownStore"}, {"status", pick(kStatuses, a)}};
  }
  return {};
}

}  // namespace

Json operation_of(const RawAction& action, const Json& config, const Json& state, int number,
                  ScriptDialect dialect) {
  const auto [kind, a, b] = action;
  const bool of_110 = dialect == ScriptDialect::k110;
  if (!of_110) {
    Json operation = operation_of_120(action, config, state, number);
    if (!operation.is_null()) return operation;
  }
  if (kind < 250) return {{"op", "advance"}, {"ms", time_of(a, config)}};
  if (kind < 370) {
    const char* what = b % 11 == 10 ? "periodic" : pick(kRequests, a % 10 < 6 ? 0 : a);
    return {{"op", "request"}, {"request", number}, {"kind", what}};
  }
  if (kind < 720) {
    Json step{{"op", "ack"}, {"cp", checkpoint_of(a, state)}, {"task", task_of(b, config)}};
    if (kind % 3 == 0) step["state"] = "s" + std::to_string(number);
    if (kind % 41 == 0) step["otherJob"] = true;
    if (!of_110 && b % 4 != 3) step["task"] = next_task(step.at("cp"), state, step.at("task"));
    if (!of_110 && kind % 6 == 0) step["union"] = true;
    if (!of_110 && kind % 33 == 0) step["state"] = "";
    if (!of_110 && a % 5 < 2) step["shared"] = shared_files(kind + b, state, number);
    return step;
  }
  if (kind < 790) {
    Json step{{"op", "decline"},
              {"cp", checkpoint_of(a, state)},
              {"task", task_of(b, config)},
              {"reason", of_110 ? pick(kDeclines110, kind) : pick(kDeclines120, kind)}};
    if (a % 29 == 28) step["otherJob"] = true;
    return step;
  }
  if (kind < 850) return {{"op", "start"}};
  if (kind < 870) return {{"op", "stop"}};
  if (kind < 895) return {{"op", "taskFailure"}, {"task", task_of(b, config)}};
  if (kind < 915) return {{"op", "abortPending"}, {"reason", pick(kAborts, a)}};
  if (kind < 945) {
    return {{"op", "taskState"},
            {"task", std::max<std::int64_t>(0, task_of(b, config))},
            {"state", a % 2 == 0 ? "RUNNING" : pick(kStates110, a)}};
  }
  if (kind < 965) {
    Json requests = Json::array();
    for (int i = 0; i < 2 + a % 4; ++i) {
      requests.push_back(
          {{"request", 100'000 + number * 10 + i}, {"kind", pick(kRequests, b + i)}});
    }
    return {{"op", "requests"}, {"requests", requests}};
  }
  if (kind < 990) {
    Json step{{"op", "restoreLatest"}};
    if (of_110) step["errorIfNone"] = a % 2 == 1;
    return step;
  }
  Json step{{"op", "shutdown"}};
  if (of_110) step["status"] = pick(kStatuses, a);
  return step;
}

}  // namespace tailrace::engine::test
