// Replays golden/barriers/barriers_f120_*: random scripts through senders, channels and a gate with
// the handlers of 1.20.
#include <cstdint>
#include <deque>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/golden/barriers_f120_setup.hpp"
#include "tests/golden/golden_registry.hpp"

namespace tailrace::golden {
namespace {

using barriers_f120::BarrierTask120;
using barriers_f120::Item;
using engine::Duration;

std::int32_t channels_of(const Json& number) {
  const auto channels = number.get<std::int64_t>();
  if (channels < 1 || channels > 1 << 10) {
    throw MalformedCase("channels: " + std::to_string(channels));
  }
  return static_cast<std::int32_t>(channels);
}

class Script120 {
 public:
  Script120(const Json& line, BarrierTask120::Kind kind)
      : task_(kind, channels_of(line.at("channels")), line.at("afterFinish").get<bool>()),
        timeout_(Duration::millis(line.at("timeout").get<std::int64_t>())),
        senders_(static_cast<std::size_t>(task_.gate->channel_count())) {
    task_.clock.advance(Duration::millis(line.at("start").get<std::int64_t>()));
  }

  void run(const Json& line) {
    std::size_t number = 0;
    for (const Json& step : line.at("steps")) {
      const std::string where = "step " + std::to_string(number++) + ": ";
      bool flink_threw = false;
      for (const Json& event : step.at("out")) flink_threw |= event.at("e") == "exception";
      task_.events.out = Json::array();
      try {
        play(step);
      } catch (const base::InvariantViolation&) {
        if (flink_threw) return;
        throw;
      }
      // Class and message of what Flink threw are Java's: that it threw here is all that counts.
      if (flink_threw) throw Difference(where + "out", "an exception", task_.events.out.dump());
      expect_equal(where + "out", step.at("out"), task_.events.out);
      expect_equal(where + "blocked", step.at("blocked"), blocked());
      expect_equal(where + "handlerBlocked", step.at("handlerBlocked"),
                   task_.gate->handler_blocked());
      expect_equal(where + "latest", step.at("latest"), task_.handler->latest_checkpoint_id());
      expect_equal(where + "pending", step.at("pending"), task_.handler->is_checkpoint_pending());
    }
    Json metrics = Json::array();
    for (const auto& trigger : task_.triggers) {
      Json one = {{"cp", trigger.id},
                  {"alignNs", nullptr},
                  {"alignBytes", nullptr},
                  {"startDelayNs", trigger.metrics.start_delay_ns}};
      if (trigger.metrics.is_final) {
        one["alignNs"] = trigger.metrics.duration_ns;
        one["alignBytes"] = trigger.metrics.bytes_processed;
      }
      metrics.push_back(std::move(one));
    }
    expect_equal("metrics", line.at("metrics"), metrics);
    Json held = Json::array();
    for (const Sender& sender : senders_) held.push_back(sender.held.size());
    expect_equal("held", line.at("held"), held);
    expect_equal("finished", line.at("finished"), task_.input->is_finished());
    senders_.clear();
    task_.expect_all_buffers_come_back();
  }

 private:
  struct Sender {
    std::deque<Item> held;
    std::size_t overtaking = 0;  // unaligned barriers in front
    bool blocked = false;
  };

  [[nodiscard]] Json blocked() const {
    Json channels = Json::array();
    for (std::size_t i = 0; i < senders_.size(); ++i) {
      if (senders_[i].blocked) channels.push_back(i);
    }
    return channels;
  }

  void play(const Json& step) {
    const auto& op = step.at("op").get_ref<const std::string&>();
    if (op == "feed") {
      const Json& item = step.at("item");
      const auto channel = step.at("ch").get<std::int32_t>();
      if (channel < 0 || channel >= task_.gate->channel_count()) {
        throw MalformedCase("there is no channel " + std::to_string(channel));
      }
      send(channel, barriers_f120::item_of(item, item.value("ts", std::int64_t{0}), timeout_,
                                           item.value("id", std::int64_t{0}), task_.buffers));
    } else if (op == "poll") {
      poll();
    } else if (op == "advance") {
      const engine::Time until =
          task_.clock.now() + Duration::millis(step.at("ms").get<std::int64_t>());
      while (task_.run_timer(until)) settle();
      task_.clock.advance(until - task_.clock.now());
    } else if (op == "drain") {
      for (int empty_in_a_row = 0; empty_in_a_row < 2;) {
        empty_in_a_row = poll() ? 0 : empty_in_a_row + 1;
        settle();
      }
    } else {
      throw MalformedCase("unknown step: " + op);
    }
    settle();
  }

  // What the task and the senders do on their own until nothing is left to do.
  void settle() {
    while (true) {
      if (const auto resumed = task_.gate->take_resumed(); !resumed.empty()) {
        for (const engine::ChannelIndex channel : resumed) resume(channel);
      } else if (task_.gate->has_priority()) {
        poll();
      } else if (!task_.run_timer(task_.clock.now())) {
        return;
      }
    }
  }

  void send(engine::ChannelIndex channel, Item item) {
    Sender& sender = senders_[static_cast<std::size_t>(channel)];
    if (!sender.blocked) {
      transmit(channel, std::move(item));
      return;
    }
    const auto* event = std::get_if<engine::RuntimeEvent>(&item);
    const auto* barrier =
        event == nullptr ? nullptr : std::get_if<engine::CheckpointBarrier>(event);
    if (barrier != nullptr && barrier->options.is_unaligned()) {
      sender.held.insert(sender.held.begin() + static_cast<std::ptrdiff_t>(sender.overtaking++),
                         std::move(item));
    } else {
      sender.held.push_back(std::move(item));
    }
  }

  void transmit(engine::ChannelIndex channel, Item item) {
    senders_[static_cast<std::size_t>(channel)].blocked = barriers_f120::blocks_sender(item);
    task_.gate->receive(channel, std::move(item));
  }

  void resume(engine::ChannelIndex channel) {
    Sender& sender = senders_[static_cast<std::size_t>(channel)];
    sender.blocked = false;
    while (!sender.blocked && !sender.held.empty()) {
      Item item = std::move(sender.held.front());
      sender.held.pop_front();
      if (sender.overtaking > 0) --sender.overtaking;
      transmit(channel, std::move(item));
    }
  }

  // Returns: whether there was anything.
  bool poll() {
    const auto next = task_.input->poll_next();
    if (!next) {
      task_.events.add({{"e", "poll"}, {"k", "none"}});
      return false;
    }
    Json event = {{"e", "poll"}, {"ch", next->channel}, {"more", next->more_available}};
    if (next->is_buffer()) {
      event["k"] = "buffer";
      event["id"] = barriers_f120::SizedBuffers::number_of(std::get<engine::Buffer>(next->item));
    } else {
      event["k"] = barriers_f120::kind_of(next->event());
      event["priority"] = task_.gate->polled_priority();
      if (const auto checkpoint = barriers_f120::checkpoint_of(next->event())) {
        event["cp"] = *checkpoint;
      }
    }
    task_.events.add(std::move(event));
    return true;
  }

  BarrierTask120 task_;
  Duration timeout_;
  std::vector<Sender> senders_;
};

void replay_aligned(const Json& line) {
  Script120(line, BarrierTask120::Kind::kAligned).run(line);
}
void replay_tracker_120(const Json& line) {
  Script120(line, BarrierTask120::Kind::kTracker).run(line);
}
void replay_unaligned(const Json& line) {
  Script120(line, BarrierTask120::Kind::kUnaligned).run(line);
}
void replay_alternating(const Json& line) {
  Script120(line, BarrierTask120::Kind::kAlternating).run(line);
}

const Registration kAligned120("barriers/barriers_f120_aligned.jsonl", &replay_aligned);
const Registration kTracker120("barriers/barriers_f120_tracker.jsonl", &replay_tracker_120);
const Registration kUnaligned120("barriers/barriers_f120_unaligned.jsonl", &replay_unaligned);
const Registration kAlternating120("barriers/barriers_f120_alternating.jsonl", &replay_alternating);

}  // namespace
}  // namespace tailrace::golden
