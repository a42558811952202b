// The system that the sinks of a run write to: transactions and what was committed.
//
// Outlives every process of the job, as a database or a Kafka cluster does. Texts are interned, so
// that millions of effects cost a few words each.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/ports.hpp"

namespace tailrace::scenarios {

using base::Time;

class ExternalStore final : public engine::ExternalSystem {
 public:
  struct Effect {
    std::uint32_t text = 0;  // index for `text`
    std::int64_t number = 0;
    Time created;    // of the record
    Time committed;  // when it became visible
  };

  explicit ExternalStore(const engine::Clock& clock) : clock_(&clock) {}

  engine::TransactionId begin() override;
  void write(engine::TransactionId transaction, const engine::Record& record) override;
  bool commit(engine::TransactionId transaction) override;
  void abort(engine::TransactionId transaction) override;
  void append(const engine::Record& record) override;

  // In the order in which they became visible.
  [[nodiscard]] const std::vector<Effect>& committed() const { return committed_; }
  [[nodiscard]] std::string_view text(const Effect& effect) const { return texts_[effect.text]; }
  [[nodiscard]] std::size_t open_transactions() const { return open_.size(); }

 private:
  [[nodiscard]] Effect effect_of(const engine::Record& record);

  const engine::Clock* clock_;
  engine::TransactionId next_ = 1;
  // Few at a time: two or so for each subtask of a sink.
  std::map<engine::TransactionId, std::vector<Effect>> open_;
  std::map<engine::TransactionId, bool> finished_;  // true: committed
  std::vector<Effect> committed_;

  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const;
  };
  // Looked up only, never walked: the order of texts_ is that of their first appearance.
  std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> index_;
  std::vector<std::string_view> texts_;  // views of the keys of index_, which do not move
};

}  // namespace tailrace::scenarios
