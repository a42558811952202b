// Replays golden/network/subpartition.jsonl and golden/rows_barriers/barriers_rows_I_f120.jsonl: one
// subpartition of 1.20 and its reader. The rows about writing are in writing_f120.cpp.
#include "tests/golden/subpartition_f120.hpp"

#include <charconv>
#include <string>
#include <string_view>

#include "tests/golden/writing_f120.hpp"

namespace tailrace::golden {
namespace {

using namespace network_f120;

Json describe(const SubpartitionReplay& replay, const std::optional<BufferAndBacklog>& next) {
  if (!next) return nullptr;
  Json result = {{"type", name_of(next->item.type)},
                 {"seq", next->sequence_number},
                 {"backlog", next->backlog},
                 {"next", name_of(next->next)}};
  if (next->item.is_buffer()) {
    const Json place = replay.place(next->item.buffer);
    result["buffer"] = place.at(0);
    result["from"] = place.at(1);
    result["bytes"] = place.at(2);
    return result;
  }
  const RuntimeEvent event = f120::parse_event(*next->item.event);
  if (const auto* barrier = std::get_if<CheckpointBarrier>(&event)) {
    result["cp"] = barrier->id;
    result["alignment"] = to_string(barrier->options.alignment);
  } else if (const auto* marker = std::get_if<CancelCheckpointMarker>(&event)) {
    result["cp"] = marker->id;
  }
  return result;
}

void run(SubpartitionReplay& replay, const Json& step, Json& got) {
  const std::string op = step.at("op");
  PipelinedSubpartition& subpartition = replay.subpartition;
  if (op == "attach") {
    replay.attach();
  } else if (op == "add") {
    replay.open =
        &replay.segments.make(step.at("buffer"), bytes_of(step.at("bytes")), step.at("finished"));
    BufferConsumer consumer(*replay.open);
    if (step.at("known")) consumer.know_finished();
    got["returned"] = replay.append(std::move(consumer));
  } else if (op == "write") {
    replay.open_buffer().commit(replay.open_buffer().written() + bytes_of(step.at("bytes")));
  } else if (op == "finish") {
    replay.open_buffer().finish();
  } else if (op == "flush") {
    replay.signal(subpartition.flush());
  } else if (op == "poll") {
    got["result"] = describe(replay, replay.reader().get_next_buffer());
  } else if (op == "resume") {
    replay.reader().resume_consumption();
  } else if (op == "release") {
    subpartition.release();
  } else if (op == "timeout") {
    replay.signal(subpartition.aligned_barrier_timeout(step.at("cp")));
  } else if (op == "abort") {
    subpartition.abort_checkpoint(step.at("cp"));
  } else if (op == "size") {
    bool rejected = false;
    try {
      subpartition.set_buffer_size(step.at("bytes"));
    } catch (const base::InvariantViolation&) {
      rejected = true;
    }
    expect_equal("rejected", step.contains("rejected"), rejected);
  } else if (op == "end") {
    replay.append_event(op, 0);
  } else {
    got["returned"] = replay.append_event(op, step.value("cp", CheckpointId{0}));
  }
  got["queue"] = queue_of(subpartition, [&replay](const NetworkBuffer& buffer) {
    return replay.segments.number(buffer);
  });
  got["backlog"] = subpartition.buffers_in_backlog();
  got["blocked"] = subpartition.is_blocked();
  got["availableWithCredit"] = subpartition.is_available();
  got["availableWithoutCredit"] = subpartition.next_buffer_is_event();
}

void replay_subpartition(const Json& line) {
  SubpartitionReplay replay(line.at("exclusive"));
  std::size_t number = 0;
  for (const Json& step : line.at("steps")) {
    const std::string where = step_name(number++, step);
    replay.out = Json::array();
    Json got = Json::object();
    bool threw = false;
    try {
      run(replay, step, got);
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
  explicit SubpartitionRow(const Json& line) : replay_(line.at("exclusiveBuffers")) {
    for (const Json& step : line.at("steps")) {
      if (step.at("op") == "view") return;  // later
    }
    replay_.attach();
  }

  void run(const Json& step, const std::string& where) {
    Json found;
    polled_ = Json::object();
    try {
      found = perform(step.at("op"));
    } catch (const base::InvariantViolation&) {
      found = "error";
    }
    expect_equal(where + "error", step.contains("error"), found == "error");
    if (!found.is_null()) expect_equal(where + "found", step.at("found"), found);
    polled_["n"] = signals("data");
    polled_["pn"] = signals("priority");
    polled_["bl"] = replay_.subpartition.buffers_in_backlog();
    polled_["q"] = replay_.subpartition.queue().size();
    polled_["blocked"] = replay_.subpartition.is_blocked();
    polled_["available"] = replay_.subpartition.is_available();
    polled_["availableWithoutCredit"] = replay_.subpartition.next_buffer_is_event();
    for (const auto& [name, value] : polled_.items()) {
      expect_equal(where + name, step.at(name), value);
    }
  }

 private:
  [[nodiscard]] std::int32_t signals(std::string_view kind) const {
    std::int32_t count = 0;
    for (const Json& one : replay_.out) count += one.at("e") == kind ? 1 : 0;
    return count;
  }

  static std::int64_t number_in(std::string_view digits) {
    std::int64_t number = 0;
    const auto [stop, error] = std::from_chars(digits.begin(), digits.end(), number);
    if (error != std::errc{} || stop != digits.end()) {
      throw MalformedCase("no number: " + std::string(digits));
    }
    return number;
  }

  static Json sizes(const Json& slices) {
    if (slices.empty()) return "none";
    std::string text;
    for (const Json& slice : slices) text += (text.empty() ? "" : "+") + slice.at(2).dump();
    return text;
  }

  Json persisted() const {
    Json slices = Json::array();
    for (const Json& one : replay_.out) {
      if (one.at("e") != "persist") continue;
      slices.insert(slices.end(), one.at("slices").begin(), one.at("slices").end());
    }
    return sizes(slices);
  }

  Json future(CheckpointId id) const {
    for (auto one = replay_.out.rbegin(); one != replay_.out.rend(); ++one) {
      if (!one->contains("cp") || one->at("cp") != id) continue;
      if (one->at("e") == "future") return "open";
      if (one->at("e") == "futureFailed") return "failed";
      if (one->at("e") == "futureDone") return sizes(one->at("slices"));
    }
    throw MalformedCase("a future that nobody has promised");
  }

  // Returns: what was asked for, or null.
  Json perform(const std::string& word) {
    PipelinedSubpartition& subpartition = replay_.subpartition;
    if (word == "n") return signals("data");
    if (word == "pn") return signals("priority");
    if (word == "bl") return subpartition.buffers_in_backlog();
    if (word == "q") return subpartition.queue().size();
    if (word == "av") return last_.more_available ? 1 : 0;
    if (word == "ev") return last_.next_is_event() ? 1 : 0;
    if (word == "avc") return subpartition.is_available() ? 1 : 0;
    if (word == "av0") return subpartition.next_buffer_is_event() ? 1 : 0;
    if (word == "blocked") return subpartition.is_blocked() ? 1 : 0;
    if (word == "ret") return returned_;
    if (word == "out") return persisted();
    if (word == "p") return poll();
    if (word == "drain") return drain();
    if (word == "view") {
      replay_.attach();
    } else if (word == "F") {
      replay_.signal(subpartition.flush());
    } else if (word == "fin") {
      replay_.open_buffer().finish();
    } else if (word == "e") {
      returned_ = replay_.append_event("cancel", 1);
    } else if (word == "END") {
      replay_.append_event("end", 0);
    } else if (word == "R") {
      replay_.reader().resume_consumption();
    } else {
      return perform_with_number(word);
    }
    return nullptr;
  }

  Json perform_with_number(std::string_view word) {
    PipelinedSubpartition& subpartition = replay_.subpartition;
    const auto after = [&word](std::string_view prefix) {
      return number_in(word.substr(prefix.size()));
    };
    if (word.starts_with("fut")) return future(after("fut"));
    if (word.starts_with("size")) {
      subpartition.set_buffer_size(static_cast<std::int32_t>(after("size")));
    } else if (word.starts_with("TO")) {
      replay_.signal(subpartition.aligned_barrier_timeout(after("TO")));
    } else if (word.starts_with("C")) {
      subpartition.abort_checkpoint(after("C"));
    } else if (word.starts_with("#A")) {
      returned_ = replay_.append_event("aligned", after("#A"));
    } else if (word.starts_with("#T")) {
      returned_ = replay_.append_event("timeoutable", after("#T"));
    } else if (word.starts_with("#U")) {
      returned_ = replay_.append_event("unaligned", after("#U"));
    } else if (word.starts_with("a")) {
      NetworkBuffer& open = replay_.open_buffer();
      open.commit(open.written() + bytes_of(after("a")));
    } else if (word.starts_with("d") && (word.back() == 'f' || word.back() == 'u')) {
      replay_.open = &replay_.segments.make(0, bytes_of(number_in(word.substr(1, word.size() - 2))),
                                            word.back() == 'f');
      returned_ = replay_.append(BufferConsumer(*replay_.open));
    } else {
      throw MalformedCase("unknown word: " + std::string(word));
    }
    return nullptr;
  }

  Json poll() {
    std::optional<BufferAndBacklog> next = replay_.reader().get_next_buffer();
    if (!next) return "-";
    last_ = std::move(*next);
    polled_ = {{"more", last_.more_available ? 1 : 0},
               {"nextIsEvent", last_.next_is_event() ? 1 : 0},
               {"backlog", last_.backlog},
               {"sequenceNumber", last_.sequence_number}};
    if (last_.item.is_buffer()) return last_.item.size();
    const RuntimeEvent event = f120::parse_event(*last_.item.event);
    if (const auto* barrier = std::get_if<CheckpointBarrier>(&event)) {
      return "#" + std::to_string(barrier->id);
    }
    return std::holds_alternative<EndOfPartitionEvent>(event) ? "E" : "e";
  }
  Json drain() {
    int buffers = 0;
    while (replay_.subpartition.is_available()) {
      std::optional<BufferAndBacklog> next = replay_.reader().get_next_buffer();
      if (!next) break;
      last_ = std::move(*next);
      buffers += last_.item.is_buffer() ? 1 : 0;
    }
    return buffers;
  }

  SubpartitionReplay replay_;
  BufferAndBacklog last_;
  Json polled_;
  Json returned_;
};

void replay_row(const Json& line) {
  if (line.contains("segment")) return replay_writing_row(line);
  SubpartitionRow row(line);
  std::size_t number = 0;
  for (const Json& step : line.at("steps")) row.run(step, step_name(number++, step));
}

const Registration kSubpartition("network/subpartition.jsonl", &replay_subpartition);
const Registration kRows("rows_barriers/barriers_rows_I_f120.jsonl", &replay_row);

}  // namespace
}  // namespace tailrace::golden
