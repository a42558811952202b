#include "engine/ids.hpp"

namespace tailrace::engine {

const char* to_string(ExecutionState state) {
  switch (state) {
    case ExecutionState::CREATED:
      return "CREATED";
    case ExecutionState::SCHEDULED:
      return "SCHEDULED";
    case ExecutionState::DEPLOYING:
      return "DEPLOYING";
    case ExecutionState::RUNNING:
      return "RUNNING";
    case ExecutionState::FINISHED:
      return "FINISHED";
    case ExecutionState::CANCELING:
      return "CANCELING";
    case ExecutionState::CANCELED:
      return "CANCELED";
    case ExecutionState::FAILED:
      return "FAILED";
    case ExecutionState::INITIALIZING:
      return "INITIALIZING";
  }
  return "?";
}

const char* to_string(JobStatus status) {
  switch (status) {
    case JobStatus::CREATED:
      return "CREATED";
    case JobStatus::RUNNING:
      return "RUNNING";
    case JobStatus::FAILING:
      return "FAILING";
    case JobStatus::FAILED:
      return "FAILED";
    case JobStatus::CANCELLING:
      return "CANCELLING";
    case JobStatus::CANCELED:
      return "CANCELED";
    case JobStatus::FINISHED:
      return "FINISHED";
    case JobStatus::RESTARTING:
      return "RESTARTING";
    case JobStatus::SUSPENDED:
      return "SUSPENDED";
  }
  return "?";
}

}  // namespace tailrace::engine
