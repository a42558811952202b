// How a task tells the job manager about its checkpoints.
//
// Flink 1.10 CheckpointResponder. The task's room implements it with RemoteCalls.
#pragma once

#include "engine/checkpoint/messages.hpp"

namespace tailrace::engine {

class CheckpointResponder {
 public:
  virtual void acknowledge(AcknowledgeCheckpoint message) = 0;
  virtual void decline(DeclineCheckpoint message) = 0;

 protected:
  ~CheckpointResponder() = default;
};

}  // namespace tailrace::engine
