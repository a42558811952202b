// Replays golden/coordinator/*_f110 and the rows of golden/rows_coordinator that are scripts of the
// same kinds: the coordinator and the failure manager of 1.10.
#include <memory>
#include <string>

#include "engine/checkpoint/f110/checkpoint_stats_110.hpp"
#include "tests/engine/checkpoint/coordinator_replay_110.hpp"
#include "tests/golden/golden_registry.hpp"
#include "tests/golden/stats_rows.hpp"

namespace tailrace::golden {
namespace {

void throw_if_different(const std::string& difference) {
  if (!difference.empty()) throw Difference("case", "no difference", difference);
}

void replay_coordinator(const Json& line) {
  if (!engine::test::is_coordinator_script(line)) throw MalformedCase("a step of an unknown kind");
  throw_if_different(engine::test::replay_coordinator_script(line));
}

class FailureManagerReplayer final : public Replayer {
 public:
  // The second line lists the reasons.
  [[nodiscard]] bool is_preamble(const Json& line) override {
    return line.contains("meta") || line.contains("reasons");
  }
  void replay(const Json& line) override {
    throw_if_different(engine::test::replay_failure_manager(line));
  }
};

void replay_row(const Json& line) {
  if (is_direct_row(line)) return replay_direct_row(line, engine::kCheckpointStats110);
  const Json& steps = line.at("steps");
  const bool of_failure_manager = steps.empty() || steps.front().contains("calls");
  if (of_failure_manager) {
    throw_if_different(engine::test::replay_failure_manager(line));
  } else {
    replay_coordinator(line);
  }
}

const Registration kRows1("rows_coordinator/rows_10_1_f110.jsonl", &replay_row);
const Registration kRows2("rows_coordinator/rows_10_2_f110.jsonl", &replay_row);
const Registration kRows4("rows_coordinator/rows_10_4_f110.jsonl", &replay_row);
const Registration kRows8("rows_coordinator/rows_10_8_f110.jsonl", &replay_row);
const Registration kCoordinator("coordinator/coordinator_f110.jsonl", &replay_coordinator);
const Registration kFailureManager("coordinator/failure_manager_f110.jsonl", [] {
  return std::unique_ptr<Replayer>(std::make_unique<FailureManagerReplayer>());
});

}  // namespace
}  // namespace tailrace::golden
