#include "analysis/ledger.hpp"

#include <algorithm>

#include "sim/base/assert.hpp"

namespace tailrace::analysis {
namespace {

bool is_letter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

std::size_t index(std::int32_t node) {
  return static_cast<std::size_t>(node);
}

// A number this far beyond what was seen so far is no miscount; dense arrays end there.
constexpr std::size_t kFarBeyond = 4096;

std::string_view number_at_the_beginning(std::string_view text) {
  return text.substr(0, text.find(' '));
}

void count_number(std::vector<std::uint32_t>& counts, std::size_t number) {
  if (counts.size() < number) counts.resize(number, 0);
  ++counts[number - 1];
}

}  // namespace

Ledger::Ledger(const Dataflow& dataflow)
    : outputs_(dataflow.nodes.size()),
      by_key_(dataflow.nodes.size(), false),
      sinks_(dataflow.nodes.size()),
      counters_(dataflow.nodes.size()) {
  for (std::size_t node = 0; node < dataflow.nodes.size(); ++node) {
    functions_.push_back(dataflow.nodes[node].function);
    copies_.push_back(dataflow.nodes[node].copies);
    numbered_.push_back(dataflow.nodes[node].numbered);
    for (const std::int32_t input : dataflow.nodes[node].inputs) {
      TAILRACE_ASSERT(input >= 0 && index(input) < dataflow.nodes.size());
      outputs_[index(input)].push_back(static_cast<std::int32_t>(node));
    }
  }
  for (std::size_t node = 0; node < numbered_.size(); ++node) {
    if (numbered_[node]) mark_by_key(static_cast<std::int32_t>(node));
  }
}

void Ledger::mark_by_key(std::int32_t node) {
  for (const std::int32_t output : outputs_[index(node)]) {
    if (by_key_[index(output)]) continue;
    by_key_[index(output)] = true;
    mark_by_key(output);
  }
}

void Ledger::offer(std::int32_t source, std::string_view line) {
  TAILRACE_ASSERT(functions_.at(index(source)) == Dataflow::Function::kSource);
  ++offered_;
  forward(source, line, 0);
}

void Ledger::forward(std::int32_t node, std::string_view text, std::int64_t number) {
  for (const std::int32_t output : outputs_[index(node)]) {
    for (std::int32_t copy = 0; copy < copies_[index(output)]; ++copy) {
      process(output, text, number);
    }
  }
}

void Ledger::process(std::int32_t node, std::string_view text, std::int64_t number) {
  switch (functions_[index(node)]) {
    case Dataflow::Function::kSource:
      TAILRACE_ASSERT_MSG(false, "a source has an input");
      return;
    case Dataflow::Function::kIdentity:
      forward(node, text, number);
      return;
    case Dataflow::Function::kTokenize:
      for (std::size_t at = 0; at < text.size();) {
        if (!is_letter(text[at])) {
          ++at;
          continue;
        }
        std::size_t end = at + 1;
        while (end < text.size() && is_letter(text[end])) ++end;
        forward(node, text.substr(at, end - at), 0);
        at = end;
      }
      return;
    case Dataflow::Function::kCount: {
      Counter& counter = counters_[index(node)];
      const std::uint32_t id =
          counter.words.id(numbered_[index(node)] ? number_at_the_beginning(text) : text);
      if (id == counter.counts.size()) counter.counts.push_back(0);
      forward(node, text, ++counter.counts[id]);
      return;
    }
    case Dataflow::Function::kSink: {
      Account& book = account(node, text, number);
      if (number == 0) {
        ++book.expected_plain;
      } else {
        count_number(book.expected, static_cast<std::size_t>(number));
      }
      return;
    }
  }
}

Ledger::Account& Ledger::account(std::int32_t sink, std::string_view text, std::int64_t number) {
  SinkBook& book = sinks_[index(sink)];
  if (number != 0 && by_key_[index(sink)]) text = number_at_the_beginning(text);
  const std::uint32_t id = book.texts.id(text);
  if (id == book.accounts.size()) book.accounts.emplace_back();
  return book.accounts[id];
}

void Ledger::commit(std::int32_t sink, std::string_view text, std::int64_t number) {
  TAILRACE_ASSERT(functions_.at(index(sink)) == Dataflow::Function::kSink);
  ++committed_;
  Account& book = account(sink, text, number);
  if (number == 0) {
    ++book.committed_plain;
    return;
  }
  const std::size_t reach = std::max(book.expected.size(), book.committed.size()) + kFarBeyond;
  if (number < 0 || static_cast<std::uint64_t>(number) > reach) {
    ++book.strays;
    return;
  }
  count_number(book.committed, static_cast<std::size_t>(number));
}

Audit Ledger::audit() const {
  Audit audit;
  const auto settle = [&audit](std::int64_t expected, std::int64_t committed) {
    audit.lost += std::max<std::int64_t>(0, expected - committed);
    audit.duplicated += std::max<std::int64_t>(0, committed - expected);
  };
  for (const SinkBook& book : sinks_) {
    for (const Account& account : book.accounts) {
      settle(account.expected_plain, account.committed_plain);
      settle(0, account.strays);
      const std::size_t numbers = std::max(account.expected.size(), account.committed.size());
      for (std::size_t i = 0; i < numbers; ++i) {
        settle(i < account.expected.size() ? account.expected[i] : 0,
               i < account.committed.size() ? account.committed[i] : 0);
      }
    }
  }
  return audit;
}

}  // namespace tailrace::analysis
