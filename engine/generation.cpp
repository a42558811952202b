#include "engine/generation.hpp"

#include "engine/barrier/checkpointed_inputs.hpp"
#include "engine/barrier/f110/input_processor_util.hpp"
#include "engine/barrier/f120/input_processor_util.hpp"
#include "engine/network/network_semantics.hpp"
#include "engine/scheduling/f110/checkpointing_factory_110.hpp"
#include "engine/task/task_semantics.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {

std::unique_ptr<CheckpointedInputs> make_checkpointed_inputs(
    Generation generation, std::span<const InputToCheckpoint> inputs,
    const CheckpointedInputsOptions& options, CheckpointListener& listener, const Clock& clock) {
  if (generation == Generation::kFlink110) {
    return std::make_unique<f110::InputProcessorUtil>(inputs, options, listener, clock);
  }
  return std::make_unique<f120::InputProcessorUtil>(inputs, options, listener, clock);
}

const NetworkSemantics& network_semantics(Generation generation) {
  return generation == Generation::kFlink110 ? network_semantics_110() : network_semantics_120();
}

const TaskSemantics& task_semantics(Generation generation) {
  return generation == Generation::kFlink110 ? task_semantics_110() : task_semantics_120();
}

std::unique_ptr<CheckpointingFactory> make_checkpointing_factory(Generation generation) {
  TAILRACE_ASSERT(is_available(generation));
  return std::make_unique<CheckpointingFactory110>();
}

}  // namespace tailrace::engine
