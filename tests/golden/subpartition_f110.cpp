// Replays golden/network/subpartition_f110.jsonl and golden/rows_barriers/barriers_rows_I_f110.jsonl:
// one subpartition and its reader.
#include "tests/golden/subpartition_f110.hpp"

#include <charconv>
#include <string>
#include <string_view>

#include "sim/base/assert.hpp"
#include "tests/golden/golden_registry.hpp"

namespace tailrace::golden {
namespace {

using namespace engine;
using namespace network_f110;

void replay_subpartition(const Json& line) {
  SubpartitionReplay replay;
  std::size_t number = 0;
  for (const Json& step : line.at("steps")) {
    const std::string where = step_name(number++, step);
    replay.out = Json::array();
    Json got = Json::object();
    bool threw = false;
    try {
      replay.run(step, got);
    } catch (const base::InvariantViolation&) {
      threw = true;
    }
    expect_equal(where + "exception", step.contains("exception"), threw);
    if (threw) return;
    got["out"] = replay.out;
    for (const auto& [name, value] : got.items()) expect_equal(where + name, step.at(name), value);
  }
}

// The rows' own notation: one word a step.
class SubpartitionRow {
 public:
  explicit SubpartitionRow(const Json& steps) {
    for (const Json& step : steps) {
      if (step.at("op") == "view") return;  // later
    }
    attach();
  }

  void run(const Json& step, const std::string& where) {
    const auto& word = step.at("op").get_ref<const std::string&>();
    Json found;
    Json polled = Json::object();
    try {
      found = perform(word, polled);
    } catch (const base::InvariantViolation&) {
      found = "error";
    }
    expect_equal(where + "error", step.contains("error"), found == "error");
    if (!found.is_null()) expect_equal(where + "found", step.at("found"), found);
    for (const auto& [name, value] : polled.items()) {
      expect_equal(where + name, step.at(name), value);
    }
    expect_equal(where + "n", step.at("n"), replay_.out.size());
    expect_equal(where + "bl", step.at("bl"), replay_.subpartition.buffers_in_backlog());
    expect_equal(where + "q", step.at("q"), replay_.subpartition.queue().size());
    expect_equal(where + "available", step.at("available"), replay_.subpartition.is_available());
    expect_equal(where + "availableWithoutCredit", step.at("availableWithoutCredit"),
                 replay_.subpartition.next_buffer_is_event());
  }

 private:
  void attach() { replay_.view = replay_.subpartition.create_read_view(replay_); }

  static std::uint32_t size_in(std::string_view digits) {
    std::uint32_t size = 0;
    const auto [stop, error] = std::from_chars(digits.begin(), digits.end(), size);
    if (error != std::errc{} || stop != digits.end()) {
      throw MalformedCase("no size: " + std::string(digits));
    }
    return bytes_of(size);
  }

  // Returns: what was asked for, or null.
  Json perform(const std::string& word, Json& polled) {
    PipelinedSubpartition& subpartition = replay_.subpartition;
    if (word == "n") return replay_.out.size();
    if (word == "bl") return subpartition.buffers_in_backlog();
    if (word == "q") return subpartition.queue().size();
    if (word == "av") return last_.more_available ? 1 : 0;
    if (word == "ev") return last_.next_is_event() ? 1 : 0;
    if (word == "avc") return subpartition.is_available() ? 1 : 0;
    if (word == "av0") return subpartition.next_buffer_is_event() ? 1 : 0;
    if (word == "p") return poll(polled);
    if (word == "drain") return drain();
    if (word == "view") {
      attach();
    } else if (word == "F") {
      replay_.signal(subpartition.flush());
    } else if (word == "fin") {
      open().finish();
    } else if (word == "e") {
      replay_.append(BufferConsumer(event_of("cancel", 1)));
    } else if (word == "END") {
      replay_.append(BufferConsumer(event_of("end", 0)), true);
    } else if (word.size() > 1 && word.front() == 'a') {
      open().commit(open().written() + size_in(std::string_view(word).substr(1)));
    } else if (word.size() > 2 && word.front() == 'd' &&
               (word.back() == 'f' || word.back() == 'u')) {
      const std::uint32_t size = size_in(std::string_view(word).substr(1, word.size() - 2));
      replay_.open = &replay_.segments.make(0, size, word.back() == 'f');
      replay_.append(BufferConsumer(*replay_.open));
    } else {
      throw MalformedCase("unknown word: " + word);
    }
    return nullptr;
  }

  NetworkBuffer& open() const {
    if (replay_.open == nullptr) throw MalformedCase("no buffer is open");
    return *replay_.open;
  }
  ResultSubpartitionView& view() const {
    if (replay_.view == nullptr) throw MalformedCase("there is no view yet");
    return *replay_.view;
  }

  Json poll(Json& polled) {
    auto next = view().get_next_buffer();
    if (!next) return "-";
    polled = {{"more", next->more_available ? 1 : 0},
              {"nextIsEvent", next->next_is_event() ? 1 : 0},
              {"backlog", next->backlog},
              {"sequenceNumber", sequence_number_++}};
    last_ = std::move(*next);
    if (last_.item.is_buffer()) return last_.item.size();
    return std::holds_alternative<EndOfPartitionEvent>(parse_event(*last_.item.event)) ? "E" : "e";
  }
  Json drain() {
    int buffers = 0;
    while (replay_.subpartition.is_available()) {
      auto next = view().get_next_buffer();
      if (!next) break;
      ++sequence_number_;
      last_ = std::move(*next);
      buffers += last_.item.is_buffer() ? 1 : 0;
    }
    return buffers;
  }

  SubpartitionReplay replay_;
  BufferAndBacklog last_;
  std::int32_t sequence_number_ = 0;
};

void replay_row(const Json& line) {
  SubpartitionRow row(line.at("steps"));
  std::size_t number = 0;
  for (const Json& step : line.at("steps")) row.run(step, step_name(number++, step));
}

const Registration kSubpartition("network/subpartition_f110.jsonl", &replay_subpartition);
const Registration kRows("rows_barriers/barriers_rows_I_f110.jsonl", &replay_row);

}  // namespace
}  // namespace tailrace::golden
