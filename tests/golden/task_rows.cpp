#include "tests/golden/task_rows.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "engine/task/f110/stream_task_checkpoints_110.hpp"
#include "engine/task/f120/stream_task_checkpoints_120.hpp"
#include "tests/golden/task_rows_setup.hpp"

namespace tailrace::golden {
namespace {

using engine::CheckpointFailureReason;
using engine::CheckpointId;
using engine::CheckpointOptions;
using engine::CheckpointType;

bool about_says(const Json& line, std::string_view words) {
  return line.at("about").get<std::string>().find(words) != std::string::npos;
}

std::string step_name(std::size_t number) {
  return "step " + std::to_string(number) + ": ";
}

// The operators that took their snapshot before the one that threw.
std::int64_t snapshots_before_the_last(const Json& out) {
  return std::count_if(out.begin(), out.end(),
                       [](const Json& event) { return event.at("e") == "snapshot"; }) -
         1;
}

void run_async(ScriptTask& task, const Json& line, const Json& step) {
  const bool fails = about_says(line, "async part throws") || about_says(line, "async part fails");
  task.world().store_works = !fails;
  if (about_says(line, "while the task does not run")) task.running = false;
  task.run_async(step.at("n").get<std::size_t>());
  task.world().store_works = true;
}

CheckpointFailureReason reason_of(const Json& name) {
  for (int i = 0; i < engine::kCheckpointFailureReasons; ++i) {
    const auto reason = static_cast<CheckpointFailureReason>(i);
    if (name == engine::to_string(reason)) return reason;
  }
  throw MalformedCase("unknown reason " + name.dump());
}

// --- 1.10 --------------------------------------------------------------------------------------

class Script110 {
 public:
  explicit Script110(const Json& line)
      : line_(line),
        task_(ScriptTask::Style::k110, line.at("config").at("operators").get<std::size_t>()),
        checkpoints_(
            {.ports = task_.world().ports(), .streams = &task_.streams(), .task = &task_}) {
    task_.waiting = [this] { return checkpoints_.waits_for_savepoint(); };
  }

  void run() {
    std::size_t number = 0;
    for (const Json& step : line_.at("steps")) {
      const std::string where = step_name(number++);
      perform(step);
      expect_equal(where + "out", step.at("out"), task_.take_events());
      // The task throws whatever it is with an exception of its own around it.
      const std::string exception = task_.take_failure().empty() ? "" : "Exception";
      expect_equal(where + "exception", step.value("exception", ""), exception);
      expect_equal(where + "queuedAsync", step.at("queuedAsync"), task_.queued_async());
      expect_equal(where + "cancelled", step.at("cancelled"), Json(task_.cancelled()));
    }
    for (const Json& check : line_.at("checks")) {
      if (!check.at("what").get<std::string>().starts_with("released by")) continue;
      expect_equal("waits at the end", check.at("value"), checkpoints_.waits_for_savepoint());
      expect_equal("released", true, checkpoints_.is_released());
    }
  }

 private:
  void perform(const Json& step) {
    const Json& op = step.at("op");
    if (op == "barrier") {
      barrier(step);
    } else if (op == "mail") {
      mailbox_.put_first([this, id = step.at("complete").get<CheckpointId>()] {
        checkpoints_.notify_complete(id);
      });
    } else if (op == "complete") {
      checkpoints_.notify_complete(step.at("cp").get<CheckpointId>());
    } else if (op == "abortOnBarrier") {
      checkpoints_.abort_on_barrier(
          step.at("cp").get<CheckpointId>(),
          CheckpointFailureReason::CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER);
    } else if (op == "runAsync") {
      run_async(task_, line_, step);
    } else if (op == "cancel") {
      task_.running = false;
      checkpoints_.cancel();
    } else {
      throw MalformedCase("unknown operation " + op.dump());
    }
  }

  void barrier(const Json& step) {
    const Json& out = step.at("out");
    const bool throws =
        step.contains("exception") || std::any_of(out.begin(), out.end(), [](const Json& event) {
          return event.value("cause", "") ==
                 engine::to_string(CheckpointFailureReason::CHECKPOINT_DECLINED);
        });
    task_.throws_behind = throws ? snapshots_before_the_last(out) : -1;
    CheckpointOptions options;
    options.type = type_of(step.at("type"));
    checkpoints_.trigger_on_barrier({step.at("cp").get<CheckpointId>(), 0}, options, {});
    // The loop in which the task waits for its synchronous savepoint.
    while (checkpoints_.waits_for_savepoint() && mailbox_.has_urgent()) mailbox_.take_urgent()();
  }

  static CheckpointType type_of(const Json& name) {
    for (const auto type :
         {CheckpointType::CHECKPOINT, CheckpointType::SAVEPOINT, CheckpointType::SYNC_SAVEPOINT}) {
      if (name == engine::to_string(type)) return type;
    }
    throw MalformedCase("unknown type " + name.dump());
  }

  const Json& line_;
  ScriptTask task_;
  engine::Mailbox mailbox_;
  engine::StreamTaskCheckpoints110 checkpoints_;
};

// --- 1.20 --------------------------------------------------------------------------------------

CheckpointOptions options_120(const Json& name) {
  CheckpointOptions options;
  if (name == "aligned") return options;
  if (name == "savepoint") {
    options.type = CheckpointType::SAVEPOINT;
  } else if (name == "unaligned") {
    options.alignment = engine::AlignmentType::UNALIGNED;
  } else if (name == "timeoutable") {
    options.aligned_checkpoint_timeout = engine::Duration::millis(1000);
  } else if (name == "forcedAligned") {
    options.alignment = engine::AlignmentType::FORCED_ALIGNED;
  } else if (name == "forcedAlignedTimeoutable") {
    options.alignment = engine::AlignmentType::FORCED_ALIGNED;
    options.aligned_checkpoint_timeout = engine::Duration::millis(1000);
  } else {
    throw MalformedCase("unknown options " + name.dump());
  }
  return options;
}

class Script120 {
 public:
  explicit Script120(const Json& line)
      : line_(line),
        task_(ScriptTask::Style::k120, 1),
        coordinator_(task_.world().ports(), task_.streams(), task_, task_,
                     line.at("config").at("maxRecordedAborts").get<std::int32_t>()) {}

  void run() {
    std::size_t number = 0;
    for (const Json& step : line_.at("steps")) {
      const std::string where = step_name(number++);
      perform(step);
      expect_equal(where + "out", step.at("out"), task_.take_events());
      // Whatever an operator throws arrives as a checkpoint exception.
      const std::string exception = task_.take_failure().empty() ? "" : "CheckpointException";
      expect_equal(where + "exception", step.value("exception", ""), exception);
      expect_equal(where + "queuedAsync", step.at("queuedAsync"), task_.queued_async());
      expect_equal(where + "asyncRegistered", step.at("asyncRegistered"),
                   coordinator_.async_checkpoint_runnable_size());
      expect_equal(where + "abortedSet", step.at("abortedSet"),
                   coordinator_.aborted_checkpoint_size());
    }
    for (const Json& check : line_.at("checks")) {
      if (check.at("what") != "futures cancelled") continue;
      const auto& cancelled = task_.cancelled();
      expect_equal("futures cancelled", check.at("ok"),
                   std::find(cancelled.begin(), cancelled.end(), true) != cancelled.end());
    }
  }

 private:
  void perform(const Json& step) {
    const Json& op = step.at("op");
    if (op == "runAsync") {
      run_async(task_, line_, step);
      return;
    }
    if (op == "cancel") {
      coordinator_.cancel();
      return;
    }
    const auto id = step.at("cp").get<CheckpointId>();
    if (op == "checkpoint") {
      // The one operator of the script has handed over its futures when the chain throws.
      task_.throws_behind = step.contains("exception") ? 1 : -1;
      coordinator_.checkpoint_state({id, 0}, options_120(step.at("options")), {});
    } else if (op == "abort") {
      coordinator_.notify_checkpoint_aborted(id);
    } else if (op == "abortOnBarrier") {
      const std::string reason =
          engine::to_string(CheckpointFailureReason::CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER);
      coordinator_.abort_checkpoint_on_barrier(id, reason_of(step.value("reason", reason)));
    } else if (op == "complete") {
      coordinator_.notify_checkpoint_complete(id);
    } else {
      throw MalformedCase("unknown operation " + op.dump());
    }
  }

  const Json& line_;
  ScriptTask task_;
  engine::SubtaskCheckpointCoordinator120 coordinator_;
};

// What the operator of a whole task hears.
void replay_notices_120(const Json& line) {
  ScriptTask task(ScriptTask::Style::k120, 1);
  engine::StreamTaskCheckpointsContext context{.ports = task.world().ports(),
                                               .streams = &task.streams(),
                                               .channel_state = &task,
                                               .task = &task};
  constexpr std::string_view kRestored = "restored from ";
  const auto about = line.at("about").get<std::string>();
  if (about.starts_with(kRestored)) context.restored = std::stoll(about.substr(kRestored.size()));
  engine::StreamTaskCheckpoints120 checkpoints(context);

  std::size_t number = 0;
  for (const Json& step : line.at("steps")) {
    const auto id = step.at("cp").get<CheckpointId>();
    if (step.at("op") == "complete") {
      checkpoints.notify_complete(id);
    } else if (step.at("op") == "abort") {
      checkpoints.notify_aborted(id, step.at("latestCompleted").get<CheckpointId>());
    } else {
      throw MalformedCase("unknown operation " + step.at("op").dump());
    }
    Json heard = Json::array();
    for (const Json& event : task.take_events()) {
      const Json& e = event.at("e");
      if (e == "channelStateAbort") continue;  // not the operator's
      const char* verb = e == "operatorComplete" ? "complete " : "abort ";
      heard.push_back(verb + std::to_string(event.at("cp").get<CheckpointId>()));
    }
    expect_equal(step_name(number++) + "heard", step.at("heard"), heard);
  }
}

}  // namespace

bool is_task_row(const Json& line) {
  static constexpr std::array<std::string_view, 12> kRows{"C-91", "C-92",  "C-93",  "C-94",
                                                          "C-95", "C-96",  "C-97",  "C-98",
                                                          "C-99", "C-100", "C-101", "C-102"};
  const auto row = line.at("row").get<std::string>();
  return std::find(kRows.begin(), kRows.end(), row) != kRows.end();
}

void replay_task_row(const Json& line) {
  if (line.at("flink") == "1.10") {
    Script110(line).run();
  } else if (line.contains("config") && line.at("config").is_object()) {
    Script120(line).run();
  } else {
    replay_notices_120(line);
  }
}

}  // namespace tailrace::golden
