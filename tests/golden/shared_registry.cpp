// Replays golden/registry/shared_registry.jsonl (1.20), shared_registry_f110.jsonl (1.10), and the
// rows of golden/rows_coordinator that call a registry of shared state alone.
#include "tests/golden/shared_registry.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/state/f110/shared_state_registry_110.hpp"
#include "engine/state/f120/shared_state_registry_120.hpp"
#include "engine/state/incremental_remote_keyed_state_handle.hpp"

namespace tailrace::golden {
namespace {

using engine::CheckpointId;
using engine::FileStateHandle;
using engine::IncrementalRemoteKeyedStateHandle;
using engine::KeyedStateHandlePtr;
using engine::OperatorId;
using engine::OperatorState;
using engine::PlaceholderStreamStateHandle;
using engine::SharedStateRegistry110;
using engine::SharedStateRegistry120;
using engine::SharingFilesStrategy;
using engine::StreamStateHandle;
using engine::StreamStateHandlePtr;
using engine::TaskStateSnapshot;

// The recordings name files that lie in the root directory.
StreamStateHandlePtr file_named(const std::string& name) {
  return std::make_shared<const StreamStateHandle>(FileStateHandle{"/" + name, 1});
}
StreamStateHandlePtr placeholder_for(const std::string& name) {
  return std::make_shared<const StreamStateHandle>(PlaceholderStreamStateHandle{"/" + name, 1});
}
std::string recorded_name(const StreamStateHandle& handle) {
  return stream_name(handle).substr(1);
}

// What a history has come to, as the recordings have it.
class History {
 public:
  void remove(const StreamStateHandle& handle) { deleted_.push_back(recorded_name(handle)); }
  void remove_private_files(const engine::OperatorSubtaskState& state) {
    engine::FileNames paths;
    state.append_private_files(paths);
    for (const std::string* path : paths) deleted_.push_back(path->substr(1));
  }

  // Compares the errors and what was deleted; starts the next step.
  void end_step(const Json& step, const std::optional<std::string>& error) {
    const std::string where =
        "step " + std::to_string(number_++) + " (" + step.at("op").get<std::string>() + ") ";
    expect_equal(where + "error", step.contains("error"), error.has_value());
    if (step.contains("message")) expect_equal(where + "message", step.at("message"), *error);
    if (step.contains("deleted")) {
      auto expected = step.at("deleted").get<std::vector<std::string>>();
      std::sort(expected.begin(), expected.end());
      std::sort(deleted_.begin(), deleted_.end());
      expect_equal(where + "deleted", expected, deleted_);
    }
    all_deleted_.insert(all_deleted_.end(), deleted_.begin(), deleted_.end());
    if (step.contains("deletedSoFar")) {
      expect_equal(where + "deletedSoFar", step.at("deletedSoFar"), all_deleted_);
    }
    deleted_.clear();
  }
  void compare(const Json& step, const char* member, const Json& found) const {
    if (!step.contains(member)) return;
    expect_equal("step " + std::to_string(number_) + " " + member, step.at(member), found);
  }

 private:
  std::size_t number_ = 0;
  std::vector<std::string> deleted_;
  std::vector<std::string> all_deleted_;
};

// Streams of a direct history: `sameObject` is the one of that name that was made last.
class Streams {
 public:
  StreamStateHandlePtr make(const Json& step, const std::string& name) {
    const std::string how = step.value("how", "file");
    if (how == "placeholder") return placeholder_for(name);
    StreamStateHandlePtr& last = last_[name];
    if (how != "sameObject" || last == nullptr) last = file_named(name);
    return last;
  }

 private:
  std::map<std::string, StreamStateHandlePtr> last_;
};

std::string file_of(const Json& step) {
  const std::string key = step.at("key");
  return step.contains("file") && step.at("file").is_string() ? step.at("file").get<std::string>()
                                                              : key;
}

IncrementalRemoteKeyedStateHandle::Content content_of(CheckpointId cp, const std::string& suffix) {
  IncrementalRemoteKeyedStateHandle::Content content;
  content.key_group_range = {0, 127};
  content.checkpoint_id = cp;
  content.meta_state = file_named("meta-" + suffix);
  content.private_state.push_back({"CURRENT", file_named("private-" + suffix)});
  return content;
}

// ---- 1.10

class Registry110History {
 public:
  void replay(const Json& ops) {
    for (const Json& step : ops) play(step);
  }

 private:
  using States = SharedStateRegistry110::OperatorStates;

  static std::string backend_uuid(const std::string& name) {
    std::string number = name.substr(name.rfind('-') + 1);
    return "00000000-0000-0007-0000-" + std::string(12 - number.size(), '0') + number;
  }
  static States states_of(const Json& step) {
    const CheckpointId cp = step.at("cp");
    States states;
    OperatorState& state = states[OperatorId{}];
    for (const Json& handle : step.at("handles")) {
      const std::int32_t subtask = handle.at("subtask");
      auto content = content_of(cp, std::to_string(cp) + "-" + std::to_string(subtask));
      content.backend_id = backend_uuid(handle.at("backend"));
      for (const Json& file : handle.at("shared")) {
        const std::string name = file.at("file");
        content.shared_state.push_back(
            {file.at("key"), name == "placeholder" ? placeholder_for("") : file_named(name)});
      }
      state.subtasks[subtask].managed_keyed.push_back(
          std::make_shared<const IncrementalRemoteKeyedStateHandle>(std::move(content)));
    }
    return states;
  }
  void discard(const States& states) {
    for (const auto& [id, state] : states) {
      for (const auto& [subtask, own] : state.subtasks) history_.remove_private_files(own);
    }
    registry_.unregister_all(states);
  }

  void play(const Json& step) {
    const auto& op = step.at("op").get_ref<const std::string&>();
    std::optional<std::string> error;
    if (op == "register" || op == "unregister") {
      const std::string key = step.at("key");
      const auto outcome =
          op == "register" ? registry_.register_reference(key, streams_.make(step, file_of(step)))
                           : registry_.unregister_reference(key);
      if (outcome.ok()) {
        const StreamStateHandlePtr& handle = outcome.value().handle;
        history_.compare(step, "returned",
                         handle == nullptr ? Json() : Json(recorded_name(*handle)));
        history_.compare(step, "count", outcome.value().count);
      } else {
        error = outcome.error();
      }
    } else if (op == "close") {
      registry_.close();
    } else if (op == "complete") {
      States states = states_of(step);
      error = registry_.register_all(states);
      if (!error.has_value()) {
        Json files = Json::array();
        for (const auto& [subtask, state] : states.at(OperatorId{}).subtasks) {
          for (const KeyedStateHandlePtr& handle : state.managed_keyed) {
            Json own = Json::array();
            for (const auto& file : handle->as_incremental()->content().shared_state) {
              own.push_back(recorded_name(*file.handle));
            }
            files.push_back(std::move(own));
          }
        }
        history_.compare(step, "filesAfter", files);
      }
      completed_[step.at("cp").get<CheckpointId>()] = std::move(states);
    } else if (op == "subsume") {
      discard(completed_.at(step.at("cp").get<CheckpointId>()));
    } else if (op == "abort") {
      discard(states_of(step));
    } else if (op == "restore") {
      registry_.renew();
      for (const Json& cp : step.at("stored")) {
        if (!error.has_value()) {
          error = registry_.register_all_after_restored(completed_.at(cp.get<CheckpointId>()));
        }
      }
    } else {
      throw MalformedCase("unknown step: " + op);
    }
    history_.end_step(step, error);
  }

  History history_;
  Streams streams_;
  SharedStateRegistry110 registry_{
      [this](const StreamStateHandle& handle) { history_.remove(handle); }};
  std::map<CheckpointId, States> completed_;
};

// ---- 1.20

class Registry120History {
 public:
  void replay(const Json& ops) {
    for (const Json& step : ops) play(step);
  }

 private:
  static std::optional<SharingFilesStrategy> strategy_named(const std::string& name) {
    if (name == "FORWARD_BACKWARD") return SharingFilesStrategy::FORWARD_BACKWARD;
    if (name == "FORWARD") return SharingFilesStrategy::FORWARD;
    if (name == "NO_SHARING") return SharingFilesStrategy::NO_SHARING;
    if (name == "none") return std::nullopt;
    throw MalformedCase("unknown strategy: " + name);
  }

  std::optional<std::string> acknowledge(const Json& step) {
    const CheckpointId cp = step.at("cp");
    const std::string name = step.at("handle");
    auto content = content_of(cp, name.substr(name.find('-') + 1));
    content.state_handle_id = name;
    for (const Json& file : step.at("shared")) {
      const std::string path = file.at("file");
      content.shared_state.push_back(
          {path, file.at("placeholder").get<bool>() ? placeholder_for(path) : file_named(path)});
    }
    auto snapshot = std::make_shared<TaskStateSnapshot>();
    snapshot->operators[OperatorId{}].managed_keyed.push_back(
        std::make_shared<const IncrementalRemoteKeyedStateHandle>(std::move(content)));
    auto outcome = registry_.register_all(snapshot, cp);
    handles_[name] = std::move(outcome.snapshot);
    if (outcome.error.has_value()) return outcome.error;
    Json placeholders = Json::array();
    const auto& registered = handles_[name]->operators.at(OperatorId{}).managed_keyed.front();
    for (const auto& file : registered->as_incremental()->content().shared_state) {
      placeholders.push_back(is_placeholder(*file.handle));
    }
    history_.compare(step, "placeholdersAfter", placeholders);
    return std::nullopt;
  }

  std::optional<std::string> restore(const Json& step) {
    const CheckpointId cp = step.at("cp");
    auto content = content_of(cp, "restored");
    for (const Json& file : step.at("files")) {
      content.shared_state.push_back({file, file_named(file)});
    }
    SharedStateRegistry120::OperatorStates states;
    states[OperatorId{}].subtasks[0].managed_keyed.push_back(
        std::make_shared<const IncrementalRemoteKeyedStateHandle>(std::move(content)));
    return registry_.register_all_after_restored(states, cp, step.at("mode") == "CLAIM",
                                                 strategy_named(step.at("sharing")));
  }

  void play(const Json& step) {
    const auto& op = step.at("op").get_ref<const std::string&>();
    std::optional<std::string> error;
    if (op == "register") {
      const auto outcome = registry_.register_reference(
          step.at("key"), streams_.make(step, file_of(step)), step.at("cp").get<CheckpointId>(),
          step.value("prevent", false));
      if (outcome.ok()) {
        history_.compare(step, "returned", recorded_name(*outcome.value()));
      } else {
        error = outcome.error();
      }
    } else if (op == "unregister") {
      const auto in_use = registry_.unregister_unused_state(step.at("lowest").get<CheckpointId>());
      history_.compare(step, "inUse", in_use);
    } else if (op == "restore") {
      error = restore(step);
    } else if (op == "ack") {
      error = acknowledge(step);
    } else if (op == "complete") {
      registry_.checkpoint_completed(step.at("cp").get<CheckpointId>());
    } else if (op == "subsume" || op == "abort" || op == "lateDiscard") {
      for (const Json& name : step.at("handles")) {
        const auto& snapshot = handles_.at(name.get<std::string>());
        for (const auto& [id, state] : snapshot->operators) history_.remove_private_files(state);
      }
    } else {
      throw MalformedCase("unknown step: " + op);
    }
    history_.end_step(step, error);
  }

  History history_;
  Streams streams_;
  SharedStateRegistry120 registry_{
      [this](const StreamStateHandle& handle) { history_.remove(handle); }};
  std::map<std::string, SharedStateRegistry120::Snapshot> handles_;
};

const Registration kRegistry110("registry/shared_registry_f110.jsonl",
                                [](const Json& line) { replay_registry_110(line.at("ops")); });
const Registration kRegistry120("registry/shared_registry.jsonl",
                                [](const Json& line) { replay_registry_120(line.at("ops")); });

}  // namespace

void replay_registry_110(const Json& ops) {
  Registry110History().replay(ops);
}

void replay_registry_120(const Json& ops) {
  Registry120History().replay(ops);
}

bool is_registry_script(const Json& steps) {
  return !steps.empty() && steps.front().value("op", "") == "register";
}

}  // namespace tailrace::golden
