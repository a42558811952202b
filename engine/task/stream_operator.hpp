// Operators: what a chain is made of.
//
// Flink 1.10 StreamOperator, OneInputStreamOperator, SourceFunction (spec coordinator.md 5.1,
// rescale.md 8). An operator runs on its task's mailbox; no function here suspends.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "engine/ids.hpp"
#include "engine/ports.hpp"
#include "engine/record.hpp"
#include "engine/state/key_serializer.hpp"

namespace tailrace::engine {

class HeapKeyedStateBackend;
class OperatorStateBackend;

// What an operator may use. Outlives the operator.
struct OperatorContext {
  std::int32_t subtask = 0;
  std::int32_t parallelism = 1;
  std::int32_t max_parallelism = 128;
  bool restored = false;                         // Flink's isRestored (S-1.14)
  HeapKeyedStateBackend* keyed_state = nullptr;  // only if the factory is keyed
  OperatorStateBackend* operator_state = nullptr;
  const Clock* clock = nullptr;
  Output* output = nullptr;  // to the next operators
};

class StreamOperator {
 public:
  virtual ~StreamOperator() = default;

  // Registers and reads state. Once, before anything else.
  virtual void initialize_state(const OperatorContext& context) = 0;
  virtual void open() {}
  virtual void process(const Record& record) = 0;
  // Flink's prepareSnapshotPreBarrier: what is still to be emitted before the barrier.
  virtual void prepare_snapshot_pre_barrier(CheckpointId checkpoint) {
    static_cast<void>(checkpoint);
  }
  // Flink's snapshotState: writes what is not in a backend into the operator state backend.
  virtual void snapshot_state(CheckpointId checkpoint) { static_cast<void>(checkpoint); }
  virtual void notify_checkpoint_complete(CheckpointId checkpoint) {
    static_cast<void>(checkpoint);
  }
  // 1.20.
  virtual void notify_checkpoint_aborted(CheckpointId checkpoint) { static_cast<void>(checkpoint); }
  // 1.20: the input has ended (BoundedOneInput); then no record comes any more, also not from
  // operators before (StreamOperator.finish). Both may emit. Not called if the job stops without
  // drain. What is not in a checkpoint yet is in the final one.
  virtual void end_input() {}
  virtual void finish() {}
  // End of the task, also after a failure; gives back what is outside.
  virtual void close() {}
};

// The head of a source chain.
class SourceOperator : public StreamOperator {
 public:
  void process(const Record& record) final;  // never called: a source has no input

  // Emits at most one record into the context's output. Nothing: no record is due; `next_due` then
  // says when to ask again (none: never, or the source has ended).
  virtual bool emit_next() = 0;
  [[nodiscard]] virtual std::optional<Time> next_due() const = 0;
  [[nodiscard]] virtual bool finished() const = 0;
};

class StreamOperatorFactory {
 public:
  virtual ~StreamOperatorFactory() = default;

  [[nodiscard]] virtual std::unique_ptr<StreamOperator> create() const = 0;
  [[nodiscard]] virtual bool is_source() const { return false; }
  [[nodiscard]] virtual bool is_keyed() const { return false; }
  // Of its keys; keyed operators only.
  [[nodiscard]] virtual const KeySerializer& key_serializer() const {
    return string_key_serializer();
  }
};

}  // namespace tailrace::engine
