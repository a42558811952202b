#include "scenarios/world/external_store.hpp"

#include <utility>

#include "sim/base/assert.hpp"
#include "sim/base/hash.hpp"

namespace tailrace::scenarios {

std::size_t ExternalStore::TextHash::operator()(std::string_view text) const {
  return static_cast<std::size_t>(base::hash_bytes(text));
}

ExternalStore::Effect ExternalStore::effect_of(const engine::Record& record) {
  auto found = index_.find(record.text);
  if (found == index_.end()) {
    found = index_.emplace(record.text, static_cast<std::uint32_t>(texts_.size())).first;
    texts_.push_back(found->first);
  }
  return {found->second, record.number, record.created, {}};
}

engine::TransactionId ExternalStore::begin() {
  const engine::TransactionId transaction = next_++;
  open_.emplace(transaction, std::vector<Effect>{});
  return transaction;
}

void ExternalStore::write(engine::TransactionId transaction, const engine::Record& record) {
  const auto found = open_.find(transaction);
  TAILRACE_ASSERT_MSG(found != open_.end(), "a write into a transaction that is not open");
  found->second.push_back(effect_of(record));
}

bool ExternalStore::commit(engine::TransactionId transaction) {
  const auto found = open_.find(transaction);
  if (found == open_.end()) {
    const auto before = finished_.find(transaction);
    return before != finished_.end() && before->second;
  }
  const Time now = clock_->now();
  for (Effect effect : found->second) {
    effect.committed = now;
    committed_.push_back(effect);
  }
  open_.erase(found);
  finished_.emplace(transaction, true);
  return true;
}

void ExternalStore::abort(engine::TransactionId transaction) {
  if (open_.erase(transaction) > 0) finished_.emplace(transaction, false);
}

void ExternalStore::append(const engine::Record& record) {
  Effect effect = effect_of(record);
  effect.committed = clock_->now();
  committed_.push_back(effect);
}

}  // namespace tailrace::scenarios
