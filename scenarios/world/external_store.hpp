// The system that the sinks of a run write to: transactions and what was committed.
//
// Outlives every process of the job, as a database or a Kafka cluster does. Texts are interned, so
// that millions of effects cost a few words each.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include "analysis/interner.hpp"
#include "engine/ports.hpp"
#include "scenarios/world/effect_log.hpp"

namespace tailrace::scenarios {

using base::Time;

class ExternalStore final : public engine::ExternalSystem {
 public:
  using Effect = scenarios::Effect;

  explicit ExternalStore(const engine::Clock& clock) : clock_(&clock) {}

  engine::TransactionId begin() override;
  void write(engine::TransactionId transaction, const engine::Record& record) override;
  bool commit(engine::TransactionId transaction) override;
  void abort(engine::TransactionId transaction) override;
  void append(const engine::Record& record) override;

  // In the order in which they became visible.
  [[nodiscard]] const EffectLog& committed() const { return committed_; }
  // Valid until the next write.
  [[nodiscard]] std::string_view text(const Effect& effect) const {
    return texts_.text(effect.text);
  }
  [[nodiscard]] std::size_t open_transactions() const { return open_.size(); }

 private:
  [[nodiscard]] Effect effect_of(const engine::Record& record);
  void close(std::map<engine::TransactionId, EffectLog>::iterator transaction);

  const engine::Clock* clock_;
  engine::TransactionId next_ = 1;
  // Few at a time: two or so for each subtask of a sink.
  std::map<engine::TransactionId, EffectLog> open_;
  // The one that was written last: records come in runs.
  engine::TransactionId last_ = 0;
  EffectLog* last_log_ = nullptr;
  std::map<engine::TransactionId, bool> finished_;  // true: committed
  EffectLog committed_;
  analysis::Interner texts_;
};

}  // namespace tailrace::scenarios
