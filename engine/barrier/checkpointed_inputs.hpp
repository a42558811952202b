// All inputs of one task, and the one barrier handler that they share.
//
// Flink makes them in InputProcessorUtil. The task owns this object and destroys it before its
// gates: items that wait for an alignment to end still hold network buffers.
#pragma once

#include <cstdint>

#include "engine/barrier/checkpointed_input.hpp"
#include "engine/ids.hpp"
#include "engine/network/events.hpp"
#include "sim/base/assert.hpp"
#include "sim/base/callback.hpp"
#include "sim/base/time.hpp"

namespace tailrace::engine {

class InputsCheckpointInitializer;  // engine/barrier/inputs_checkpoint_initializer.hpp
class Timers;                       // engine/ports.hpp

enum class CheckpointingMode : std::uint8_t;  // engine/scheduling/deployment.hpp

struct CheckpointedInputsOptions {
  CheckpointingMode mode;
  // taskmanager.memory.segment-size: what each stored item counts for, whatever its real size.
  std::int64_t page_bytes = 32 * 1024;
  // task.checkpoint.alignment.max-size; -1: no limit, else > 0.
  std::int64_t max_buffered_bytes = -1;
  // 1.20, execution.checkpointing.checkpoints-after-tasks-finish: an input that has ended counts as
  // one whose barrier is in; otherwise its end aborts what is pending.
  bool checkpoints_after_tasks_finish = true;
  // 1.20, execution.checkpointing.unaligned.enabled: barriers may overtake data. Then the two below
  // are needed; they outlive the inputs.
  bool unaligned = false;
  InputsCheckpointInitializer* initializer = nullptr;
  Timers* mailbox_timers = nullptr;  // callbacks run as mails of the task
};

// One gate of a task and who watches it.
struct InputToCheckpoint {
  InputGate* gate = nullptr;
  BarrierObserver* observer = nullptr;  // null: nobody
};

class CheckpointedInputs {
 public:
  virtual ~CheckpointedInputs() = default;

  [[nodiscard]] virtual std::int32_t size() const = 0;
  // Requires: 0 <= gate < size(). The reference lives as long as this object.
  [[nodiscard]] virtual CheckpointedInput& input(std::int32_t gate) = 0;

  // The gauges of a task.
  [[nodiscard]] virtual CheckpointId latest_checkpoint_id() const = 0;
  // The running alignment so far, else the length of the last one.
  [[nodiscard]] virtual base::Duration alignment_duration() const = 0;
  // 1.20: from the trigger of the latest checkpoint to its first barrier here.
  [[nodiscard]] virtual base::Duration checkpoint_start_delay() const { return {}; }
  // 1.20: the coordinator has triggered this task although it has inputs: the barrier counts for
  // every channel that has not ended (spec barriers.md 5.10). Blocks nothing.
  virtual void process_barrier_of_coordinator(const CheckpointBarrier& /*barrier*/) {
    TAILRACE_ASSERT_MSG(false, "the coordinator triggers sources alone");
  }
  // 1.20, unaligned: runs once all barriers of the checkpoint are in (true), or when it is aborted
  // (false); maybe at once.
  virtual void when_all_barriers(CheckpointId /*id*/, base::InplaceFunction<void(bool)> /*done*/) {
    TAILRACE_ASSERT_MSG(false, "there are no unaligned checkpoints");
  }
  // No timer of the inputs fires after this.
  virtual void close() {}
  // Whether items of that channel wait for the end of an alignment.
  [[nodiscard]] virtual bool is_blocked(std::int32_t gate, ChannelIndex channel) const = 0;
};

}  // namespace tailrace::engine
