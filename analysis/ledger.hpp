// The exactly-once audit: did every record that was offered have its effect, once?
//
// An independent book. It hears of lines as they are offered to the sources and of effects as they
// become visible outside the job, and of nothing in between: no counter of the engine, no
// checkpoint, no failure. What ought to have happened it finds out by running the data flow again,
// one record after the other, in the most naive way.
//
// An effect is a text and a number at a sink. A counting sink path must commit (word, 1), (word, 2),
// … (word, n) once each, whatever the order; a pass-through path each text as often as it was
// offered, with the number 0. Where records begin with a number that is their key, texts with the same
// number are counted together: which of them gets which count is for the order to say, and the account
// is that of the key.
//
// Cost: texts are interned; per effect some bytes in growing arrays, no allocation of its own.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/interner.hpp"
#include "analysis/run_result.hpp"

namespace tailrace::analysis {

// The data flow as the ledger understands it. Parallelism and partitioning are none of its business:
// they must not change what comes out, except that a broadcast copies every record.
struct Dataflow {
  enum class Function : std::uint8_t { kSource, kIdentity, kTokenize, kCount, kSink };
  struct Node {
    Function function = Function::kIdentity;
    std::vector<std::int32_t> inputs;  // indices of nodes; none for sources
    std::int32_t copies = 1;           // of each record that it is given, over all its subtasks
    // kCount: the key of a text is the number at its beginning, up to a space, and not all of it.
    bool numbered = false;
  };
  std::vector<Node> nodes;
};

class Ledger {
 public:
  // Requires: inputs exist and form no cycle.
  explicit Ledger(const Dataflow& dataflow);

  // A line came into being at the source with that index in `nodes`.
  void offer(std::int32_t source, std::string_view line);

  // An effect became visible at the sink with that index in `nodes`.
  void commit(std::int32_t sink, std::string_view text, std::int64_t number);

  [[nodiscard]] std::int64_t offered() const { return offered_; }
  [[nodiscard]] std::int64_t committed() const { return committed_; }

  // Effects missing, and effects too many: seen again, or never to be expected at all.
  // Cost: linear in the effects.
  [[nodiscard]] Audit audit() const;

 private:
  // What one sink has to show for one text. Texts without a number count apart.
  struct Account {
    std::int64_t expected_plain = 0;
    std::int64_t committed_plain = 0;
    // expected[i] and committed[i]: how often the number i + 1. Expectations grow from the front,
    // so that both are dense.
    std::vector<std::uint32_t> expected;
    std::vector<std::uint32_t> committed;
    std::int64_t strays = 0;  // committed with a number that no expectation is near
  };
  struct SinkBook {
    Interner texts;
    std::vector<Account> accounts;  // by id of the text
  };
  struct Counter {
    Interner words;
    std::vector<std::int64_t> counts;  // by id of the word
  };

  void process(std::int32_t node, std::string_view text, std::int64_t number);
  void forward(std::int32_t node, std::string_view text, std::int64_t number);
  Account& account(std::int32_t sink, std::string_view text, std::int64_t number);
  void mark_by_key(std::int32_t node);

  std::vector<Dataflow::Function> functions_;
  std::vector<std::int32_t> copies_;                // by node
  std::vector<std::vector<std::int32_t>> outputs_;  // by node
  std::vector<bool> numbered_;                      // by node
  std::vector<bool> by_key_;                        // by node: behind one that is numbered
  std::vector<SinkBook> sinks_;                     // by node; empty for all others
  std::vector<Counter> counters_;                   // by node; empty for all others
  std::int64_t offered_ = 0;
  std::int64_t committed_ = 0;
};

}  // namespace tailrace::analysis
