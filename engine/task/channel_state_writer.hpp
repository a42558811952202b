// Where the buffers in flight of an unaligned checkpoint are written.
//
// Flink 1.20 ChannelStateWriter. The calls are made in the order of spec coordinator.md; what
// they write is not part of a task's snapshot yet, so a task has the writer that Flink gives to jobs
// without unaligned checkpoints (NO_OP).
#pragma once

#include "engine/checkpoint/checkpoint_options.hpp"
#include "engine/ids.hpp"

namespace tailrace::engine {

class ChannelStateWriter {
 public:
  virtual ~ChannelStateWriter() = default;
  virtual void start(CheckpointId id, const CheckpointOptions& options) = 0;
  // No more buffers of the inputs, or of the outputs, belong to the checkpoint.
  virtual void finish_input(CheckpointId id) = 0;
  virtual void finish_output(CheckpointId id) = 0;
  // Also of checkpoints that were never started.
  virtual void abort(CheckpointId id) = 0;
  virtual void close() = 0;
};

class NoChannelStateWriter final : public ChannelStateWriter {
 public:
  void start(CheckpointId, const CheckpointOptions&) override {}
  void finish_input(CheckpointId) override {}
  void finish_output(CheckpointId) override {}
  void abort(CheckpointId) override {}
  void close() override {}
};

}  // namespace tailrace::engine
