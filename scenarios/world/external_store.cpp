#include "scenarios/world/external_store.hpp"

#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::scenarios {

ExternalStore::Effect ExternalStore::effect_of(const engine::Record& record) {
  return {texts_.id(record.text), record.number, record.created, {}};
}

engine::TransactionId ExternalStore::begin() {
  const engine::TransactionId transaction = next_++;
  open_.try_emplace(transaction);
  return transaction;
}

void ExternalStore::write(engine::TransactionId transaction, const engine::Record& record) {
  if (transaction != last_) {
    const auto found = open_.find(transaction);
    TAILRACE_ASSERT_MSG(found != open_.end(), "a write into a transaction that is not open");
    last_ = transaction;
    last_log_ = &found->second;
  }
  last_log_->push_back(effect_of(record));
}

bool ExternalStore::commit(engine::TransactionId transaction) {
  const auto found = open_.find(transaction);
  if (found == open_.end()) {
    const auto before = finished_.find(transaction);
    return before != finished_.end() && before->second;
  }
  committed_.append(std::move(found->second), clock_->now());
  close(found);
  finished_.emplace(transaction, true);
  return true;
}

void ExternalStore::abort(engine::TransactionId transaction) {
  const auto found = open_.find(transaction);
  if (found == open_.end()) return;
  close(found);
  finished_.emplace(transaction, false);
}

void ExternalStore::close(std::map<engine::TransactionId, EffectLog>::iterator transaction) {
  if (transaction->first == last_) {
    last_ = 0;
    last_log_ = nullptr;
  }
  open_.erase(transaction);
}

void ExternalStore::append(const engine::Record& record) {
  Effect effect = effect_of(record);
  effect.committed = clock_->now();
  committed_.push_back(effect);
}

}  // namespace tailrace::scenarios
