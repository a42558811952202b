// What the deliberately naive coordinators have in common: they play scripts in the form of the
// recordings (golden/coordinator/README.md) and say what should have been recorded.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

namespace tailrace::engine::test {

class NaiveCoordinator {
 public:
  using Json = nlohmann::json;
  // Draws a delay in [low, high]; `events` are those of the step so far.
  using Draw = std::function<std::int64_t(std::int64_t low, std::int64_t high, const Json& events)>;

  virtual ~NaiveCoordinator() = default;
  // `step` has an operation with its arguments. Returns everything that is a result: `out`, the state
  // afterwards and, where there is one, `returned` or `exception`.
  virtual Json play(const Json& step) = 0;
  // The coordinator of the job's next life, to which this one leaves what it has written and stored.
  [[nodiscard]] virtual std::unique_ptr<NaiveCoordinator> next_life(const Json& config,
                                                                    Draw draw) const;
};

std::unique_ptr<NaiveCoordinator> make_naive_coordinator_110(const nlohmann::json& config,
                                                             NaiveCoordinator::Draw draw);
std::unique_ptr<NaiveCoordinator> make_naive_coordinator_120(const nlohmann::json& config,
                                                             NaiveCoordinator::Draw draw);

// What happens in an order that Flink leaves open.
[[nodiscard]] bool is_unordered_event(const nlohmann::json& event);

// Replays a recorded script on a model. Empty: no difference; else the first one.
std::string replay_on_model(const nlohmann::json& line,
                            std::unique_ptr<NaiveCoordinator> (*make)(const nlohmann::json&,
                                                                      NaiveCoordinator::Draw));

}  // namespace tailrace::engine::test
