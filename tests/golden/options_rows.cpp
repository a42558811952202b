#include "tests/golden/options_rows.hpp"

#include <map>
#include <string>
#include <vector>

#include "engine/checkpoint/checkpoint_options.hpp"
#include "engine/network/network_semantics.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::golden {
namespace {

using base::Duration;
using engine::AlignmentType;
using engine::CheckpointOptions;
using engine::CheckpointType;
using engine::DataType;

CheckpointOptions aligned_options() {
  return {};
}

CheckpointOptions options_with(AlignmentType alignment) {
  CheckpointOptions options;
  options.alignment = alignment;
  return options;
}

CheckpointOptions timeoutable_options() {
  CheckpointOptions options;
  options.aligned_checkpoint_timeout = Duration::millis(10);
  return options;
}

CheckpointOptions savepoint_options() {
  CheckpointOptions options;
  options.type = CheckpointType::SAVEPOINT;
  return options;
}

engine::RuntimeEvent barrier_of(const CheckpointOptions& options) {
  return engine::CheckpointBarrier{1, 0, options};
}

DataType type_of(const CheckpointOptions& options, bool priority) {
  return engine::network_semantics_120().data_type_of(barrier_of(options), priority);
}

// "ALIGNED/10 aligns timeoutable state".
std::string text_of(const CheckpointOptions& options) {
  std::string text = engine::to_string(options.alignment);
  if (options.aligned_checkpoint_timeout != Duration::max()) {
    text += "/" + std::to_string(options.aligned_checkpoint_timeout.ns / 1'000'000);
  }
  text += options.needs_alignment() ? " aligns" : " free";
  if (options.is_timeoutable()) text += " timeoutable";
  if (options.needs_channel_state()) text += " state";
  return text;
}

template <typename Texts>
std::string joined(const Texts& texts, const char* between) {
  std::string all;
  for (const auto& text : texts) {
    if (!all.empty()) all += between;
    all += text;
  }
  return all;
}

// L17 to L19: on a channel that supports no unaligned checkpoints, and back on one that does.
void replay_there_and_back(const Json& line, const CheckpointOptions& start) {
  expect_equal("start", line.at("start"), text_of(start));
  const CheckpointOptions unsupported = start.with_unaligned_unsupported();
  expect_equal("unsupported", line.at("unsupported"), text_of(unsupported));
  const CheckpointOptions again = unsupported.with_unaligned_supported();
  expect_equal("supportedAgain", line.at("supportedAgain"), text_of(again));
  expect_equal("the same as at the start", true, again == start);
}

void replay_refused(const Json& line) {
  const auto verdict = [](const CheckpointOptions& options) {
    return options.is_consistent() ? "made" : "error";
  };
  CheckpointOptions savepoint_unaligned = options_with(AlignmentType::UNALIGNED);
  savepoint_unaligned.type = CheckpointType::SAVEPOINT;
  CheckpointOptions unaligned_with_timeout = timeoutable_options();
  unaligned_with_timeout.alignment = AlignmentType::UNALIGNED;
  CheckpointOptions savepoint_with_timeout = timeoutable_options();
  savepoint_with_timeout.type = CheckpointType::SAVEPOINT;
  expect_equal("savepointUnaligned", line.at("savepointUnaligned"), verdict(savepoint_unaligned));
  expect_equal("unalignedWithTimeout", line.at("unalignedWithTimeout"),
               verdict(unaligned_with_timeout));
  expect_equal("savepointWithTimeout", line.at("savepointWithTimeout"),
               verdict(savepoint_with_timeout));
  for (const CheckpointOptions& made :
       {aligned_options(), timeoutable_options(), savepoint_options(),
        options_with(AlignmentType::UNALIGNED), options_with(AlignmentType::AT_LEAST_ONCE)}) {
    expect_equal("options that Flink makes", "made", verdict(made));
  }
}

void replay_needs_alignment(const Json& line) {
  std::vector<std::string> answers;
  for (const AlignmentType alignment :
       {AlignmentType::UNALIGNED, AlignmentType::ALIGNED, AlignmentType::FORCED_ALIGNED,
        AlignmentType::AT_LEAST_ONCE}) {
    answers.push_back(options_with(alignment).needs_alignment() ? "yes" : "no");
  }
  expect_equal("needsAlignment", line.at("needsAlignment"), joined(answers, " "));
}

// Exactly once, savepoint, unaligned, timeout: as the row lists them.
void replay_chosen(const Json& line) {
  struct Choice {
    bool exactly_once;
    CheckpointType type;
    bool unaligned;
    Duration timeout;
  };
  constexpr auto kCheckpoint = CheckpointType::CHECKPOINT;
  const Duration ten = Duration::millis(10);
  std::vector<std::string> chosen;
  for (const Choice& choice : std::vector<Choice>{
           {false, kCheckpoint, true, ten},
           {true, CheckpointType::SAVEPOINT, true, ten},
           {true, kCheckpoint, false, ten},
           {true, kCheckpoint, true, Duration{}},
           {true, kCheckpoint, true, Duration::max()},
           {true, kCheckpoint, true, ten},
       }) {
    const CheckpointOptions options = CheckpointOptions::for_config(
        choice.type, choice.exactly_once, choice.unaligned, choice.timeout);
    std::string text = engine::to_string(options.alignment);
    if (options.aligned_checkpoint_timeout != Duration::max()) {
      text += "/" + std::to_string(options.aligned_checkpoint_timeout.ns / 1'000'000);
    }
    chosen.push_back(text);
  }
  expect_equal("chosen", line.at("chosen"), joined(chosen, ", "));
}

void replay_as_unaligned(const Json& line) {
  std::vector<std::string> found;
  for (const CheckpointOptions& options :
       {options_with(AlignmentType::UNALIGNED), timeoutable_options(), aligned_options(),
        savepoint_options(), options_with(AlignmentType::AT_LEAST_ONCE)}) {
    try {
      found.push_back(text_of(options.as_unaligned()));
    } catch (const base::InvariantViolation&) {
      found.push_back("error");
    }
  }
  expect_equal("found", line.at("found"), joined(found, ", "));
}

// Flink's names.
std::string name_of_type(DataType type) {
  switch (type) {
    case DataType::kEventBuffer:
      return "EVENT_BUFFER";
    case DataType::kPrioritizedEventBuffer:
      return "PRIORITIZED_EVENT_BUFFER";
    case DataType::kAlignedCheckpointBarrier:
      return "ALIGNED_CHECKPOINT_BARRIER";
    case DataType::kTimeoutableAlignedCheckpointBarrier:
      return "TIMEOUTABLE_ALIGNED_CHECKPOINT_BARRIER";
    default:
      return "no barrier's";
  }
}

void replay_types(const Json& line) {
  std::vector<std::string> found;
  for (const CheckpointOptions& options :
       {timeoutable_options(), options_with(AlignmentType::UNALIGNED), aligned_options(),
        savepoint_options(), options_with(AlignmentType::AT_LEAST_ONCE)}) {
    for (const bool priority : {false, true}) {
      found.push_back(name_of_type(type_of(options, priority)));
    }
  }
  expect_equal("found", line.at("found"), joined(found, ", "));
}

void replay_sizes(const Json& line) {
  const engine::NetworkSemantics& semantics = engine::network_semantics_120();
  const std::vector<engine::RuntimeEvent> events{
      engine::EndOfPartitionEvent{},
      engine::CancelCheckpointMarker{1},
      barrier_of(aligned_options()),
      barrier_of(timeoutable_options()),
      barrier_of(options_with(AlignmentType::UNALIGNED)),
      barrier_of(savepoint_options()),
      barrier_of(options_with(AlignmentType::AT_LEAST_ONCE)),
      engine::EndOfData{},
      engine::EndOfChannelState{},
      engine::EventAnnouncement{engine::CheckpointBarrier{1, 0, timeoutable_options()}, 0},
  };
  std::vector<std::string> sent;
  std::vector<std::string> received;
  for (const engine::RuntimeEvent& event : events) {
    sent.push_back(std::to_string(semantics.serialize_event(event)->size()));
    received.push_back(std::to_string(semantics.serialize_event_at_receiver(event)->size()));
  }
  expect_equal("sizes",
               line.at("endOfPartition_cancel_aligned_timeoutable_unaligned_savepoint_"
                       "atLeastOnce_endOfData_endOfChannelState_announcement"),
               joined(sent, " "));
  expect_equal("madeByReceiver", line.at("madeByReceiver"), joined(received, " "));
}

using ReplayOptions = void (*)(const Json& line);

const std::map<std::string, ReplayOptions>& options_rows() {
  static const std::map<std::string, ReplayOptions> kRows{
      {"L17", [](const Json& line) { replay_there_and_back(line, timeoutable_options()); }},
      {"L18",
       [](const Json& line) {
         replay_there_and_back(line, options_with(AlignmentType::UNALIGNED));
       }},
      {"L19", [](const Json& line) { replay_there_and_back(line, aligned_options()); }},
      {"L19.savepoint", [](const Json& line) { replay_there_and_back(line, savepoint_options()); }},
      {"L19.atLeastOnce",
       [](const Json& line) {
         replay_there_and_back(line, options_with(AlignmentType::AT_LEAST_ONCE));
       }},
      {"L20", &replay_refused},
      {"L21", &replay_needs_alignment},
      {"L22", &replay_chosen},
      {"L.asUnaligned", &replay_as_unaligned},
      {"L.bufferTypes", &replay_types},
      {"L.eventSizes", &replay_sizes},
  };
  return kRows;
}

}  // namespace

bool is_options_row(const Json& line) {
  return options_rows().contains(line.value("id", std::string()));
}

void replay_options_row(const Json& line) {
  const auto found = options_rows().find(line.at("id").get<std::string>());
  if (found == options_rows().end()) throw MalformedCase("unknown row: " + line.at("id").dump());
  found->second(line);
}

}  // namespace tailrace::golden
