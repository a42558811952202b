// The identities that every room of the engine uses.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>

#include "sim/base/strong_id.hpp"

namespace tailrace::engine {

// Checkpoints and savepoints share one counter; the first id is 1 (spec coordinator.md ).
using CheckpointId = std::int64_t;
inline constexpr CheckpointId kNoCheckpoint = -1;

// Position of a channel in its gate, counted from 0.
using ChannelIndex = std::int32_t;

// One life of one process (job manager or task manager). A process that comes back has a new id,
// so nothing that was sent to its predecessor can reach it. Assigned by the world, upwards from 1.
using ProcessId = base::StrongId<struct ProcessIdTag, std::uint32_t>;

// One attempt of one subtask: the key of acknowledgements (spec coordinator.md ). Assigned by
// the job manager, upwards from 1, never reused in a run.
using ExecutionAttemptId = base::StrongId<struct ExecutionAttemptIdTag, std::uint64_t>;

// One submission of a job. A rescale by savepoint submits anew and has a new one.
using JobId = base::StrongId<struct JobIdTag, std::uint32_t>;

// What one attempt of a producer subtask offers to its consumers.
struct ResultPartitionId {
  std::int32_t data_set = 0;   // IntermediateDataSet of the job graph
  std::int32_t partition = 0;  // the producer's subtask index
  ExecutionAttemptId producer;

  friend constexpr auto operator<=>(const ResultPartitionId&, const ResultPartitionId&) = default;
};

// Flink's 16-byte ids of operators and job vertices (spec rescale.md 1.2); printed as 32 hex digits.
struct OperatorId {
  std::array<std::uint8_t, 16> bytes{};

  friend constexpr auto operator<=>(const OperatorId&, const OperatorId&) = default;
  [[nodiscard]] std::string hex() const {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    text.reserve(32);
    for (const std::uint8_t byte : bytes) {
      text += kDigits[byte >> 4];
      text += kDigits[byte & 15];
    }
    return text;
  }
};
// Id of a chain: that of its head operator.
using JobVertexId = OperatorId;

// Which generation of Flink an engine follows. Only generation.hpp looks at it.
enum class Generation : std::uint8_t { kFlink110, kFlink120 };

// ExecutionState of Flink 1.10 and 1.20 (spec rescale.md S-1.1).
enum class ExecutionState : std::uint8_t {
  CREATED,
  SCHEDULED,
  DEPLOYING,
  RUNNING,
  FINISHED,
  CANCELING,
  CANCELED,
  FAILED,
  INITIALIZING,  // 1.20: between DEPLOYING and RUNNING, while state is restored
};
[[nodiscard]] constexpr bool is_terminal(ExecutionState state) {
  return state == ExecutionState::FINISHED || state == ExecutionState::CANCELED ||
         state == ExecutionState::FAILED;
}

// Flink 1.10 JobStatus.
enum class JobStatus : std::uint8_t {
  CREATED,
  RUNNING,
  FAILING,
  FAILED,
  CANCELLING,
  CANCELED,
  FINISHED,
  RESTARTING,
  SUSPENDED,
};
[[nodiscard]] const char* to_string(ExecutionState state);
[[nodiscard]] const char* to_string(JobStatus status);

}  // namespace tailrace::engine
