// Replays golden/barriers/barriers_f110_*: random scripts through a gate with the aligner or the
// tracker of 1.10.
#include <cstdint>
#include <exception>
#include <string>

#include "tests/golden/barriers_f110_setup.hpp"
#include "tests/golden/golden_registry.hpp"

namespace tailrace::golden {
namespace {

using engine::CheckpointingMode;
using engine::test::ScriptedInputGate;

class Script {
 public:
  Script(const Json& line, CheckpointingMode mode)
      : task_({.mode = mode,
               .page_bytes = line.at("pageSize").get<std::int64_t>(),
               .max_buffered_bytes = line.at("maxBuffered").get<std::int64_t>()},
              {channels_of(line.at("channels"))}, ScriptedInputGate::Order::kChannelsInTurn,
              ScriptedInputGate::End::kAllPartitionsEnded) {
    task_.clock.advance(engine::Duration::millis(line.at("start").get<std::int64_t>()));
  }

  void run(const Json& line) {
    std::size_t number = 0;
    for (const Json& step : line.at("steps")) {
      const std::string where = "step " + std::to_string(number++) + ": ";
      const bool flink_threw = threw(step.at("out"));
      Json out = Json::array();
      try {
        out = play(step);
      } catch (const base::InvariantViolation&) {
        if (flink_threw) return;
        throw;
      }
      // Class and message of what Flink threw are Java's: that it threw here is all that counts.
      if (flink_threw) throw Difference(where + "out", "an exception", out.dump());
      expect_equal(where + "out", step.at("out"), out);
      expect_equal(where + "blocked", step.at("blocked"), task_.blocked_channels());
      expect_equal(where + "latest", step.at("latest"), task_.inputs->latest_checkpoint_id());
      const auto& storage = task_.inputs->storage(0);
      expect_equal(where + "pendingBytes", step.at("pendingBytes"), storage.pending_bytes());
      expect_equal(where + "rolledBytes", step.at("rolledBytes"), storage.rolled_bytes());
      expect_equal(where + "storageEmpty", step.at("storageEmpty"), storage.is_empty());
    }
    expect_equal("finished", line.at("finished"), task_.inputs->input(0).is_finished());
    task_.expect_all_buffers_come_back();
  }

 private:
  static bool threw(const Json& events) {
    for (const Json& event : events) {
      if (event.at("e") == "exception") return true;
    }
    return false;
  }

  Json play(const Json& step) {
    const auto& op = step.at("op").get_ref<const std::string&>();
    Json out = Json::array();
    if (op == "feed") {
      const Json& item = step.at("item");
      task_.feed(0, step.at("ch").get<std::int32_t>(), item, item.value("id", std::int64_t{0}));
    } else if (op == "poll") {
      poll(out);
    } else if (op == "advance") {
      task_.clock.advance(engine::Duration::millis(step.at("ms").get<std::int64_t>()));
    } else if (op == "drain") {
      for (int empty_in_a_row = 0; empty_in_a_row < 2;) {
        empty_in_a_row = poll(out) ? 0 : empty_in_a_row + 1;
      }
    } else {
      throw MalformedCase("unknown step: " + op);
    }
    return out;
  }

  // Returns: whether there was anything.
  bool poll(Json& out) {
    const auto next = task_.inputs->input(0).poll_next();
    for (const engine::test::Notification& note : task_.listener.take()) {
      Json event = event_of(note);
      if (note.is_trigger) event["ts"] = note.timestamp_ms;
      out.push_back(std::move(event));
    }
    if (!next) {
      out.push_back({{"e", "poll"}, {"k", "none"}});
    } else if (next->is_buffer()) {
      const auto& buffer = std::get<engine::Buffer>(next->item);
      out.push_back({{"e", "poll"},
                     {"ch", next->channel},
                     {"k", "buffer"},
                     {"id", engine::test::NumberedBuffers::number_of(buffer)}});
    } else {
      out.push_back({{"e", "poll"}, {"ch", next->channel}, {"k", kind_of(next->event())}});
    }
    return next.has_value();
  }

  BarrierTask task_;
};

void replay_aligner(const Json& line) {
  Script(line, CheckpointingMode::EXACTLY_ONCE).run(line);
}
void replay_tracker(const Json& line) {
  Script(line, CheckpointingMode::AT_LEAST_ONCE).run(line);
}

const Registration kAligner("barriers/barriers_f110_aligner.jsonl", &replay_aligner);
const Registration kTracker("barriers/barriers_f110_tracker.jsonl", &replay_tracker);

}  // namespace
}  // namespace tailrace::golden
