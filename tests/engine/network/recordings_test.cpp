// What the real classes of Flink 1.10.0 did, step by step.
#include "tests/engine/network/recordings.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/network/f110/event_serializer.hpp"
#include "engine/network/f110/local_buffer_pool.hpp"
#include "engine/network/f110/netty_message.hpp"
#include "engine/network/f110/partition_request_client.hpp"
#include "engine/network/f110/partition_request_queue.hpp"
#include "engine/network/f110/pipelined_subpartition.hpp"
#include "engine/network/f110/remote_input_channel.hpp"
#include "engine/network/result_partition_manager.hpp"
#include "engine/network/single_input_gate.hpp"

namespace tailrace::engine {
namespace {

using testing::Json;
using testing::read_recording;

EventBytes event_of(const std::string& kind, std::int64_t checkpoint) {
  if (kind == "cancel") return serialize_event(CancelCheckpointMarker{checkpoint});
  if (kind == "end" || kind == "eop") return serialize_event(EndOfPartitionEvent{});
  return serialize_event(CheckpointBarrier{checkpoint, 0, {}});
}

// Segments with numbers, as many as a case wants.
class Segments final : public BufferRecycler {
 public:
  NetworkBuffer& make(std::int64_t number, std::uint32_t written, bool finished) {
    data_.push_back(std::make_unique<std::byte[]>(kBytes));
    all_.push_back(std::make_unique<NetworkBuffer>(data_.back().get(), kBytes));
    NetworkBuffer& segment = *all_.back();
    segment.lend(*this);
    segment.commit(written);
    if (finished) segment.finish();
    numbers_[&segment] = number;
    return segment;
  }
  [[nodiscard]] std::int64_t number(const NetworkBuffer& segment) const {
    return numbers_.at(&segment);
  }
  void recycle(NetworkBuffer&) override {}

 private:
  static constexpr std::uint32_t kBytes = 64 * 1024;
  std::vector<std::unique_ptr<std::byte[]>> data_;
  std::vector<std::unique_ptr<NetworkBuffer>> all_;
  std::map<const NetworkBuffer*, std::int64_t> numbers_;  // looked up, never walked
};

struct SubpartitionReplay final : BufferAvailabilityListener {
  void notify_data_available() override { out.push_back({{"e", "data"}}); }

  void signal(bool wanted) {
    if (wanted) subpartition.notify_data_available();
  }
  Json append(BufferConsumer consumer, bool finish = false) {
    const std::size_t before = subpartition.queue().size();
    signal(subpartition.add(std::move(consumer), finish));
    return subpartition.queue().size() > before;
  }

  Json queue() const {
    Json items = Json::array();
    for (std::size_t i = 0; i < subpartition.queue().size(); ++i) {
      const BufferConsumer& one = subpartition.queue()[i];
      if (one.is_buffer()) {
        items.push_back({segments.number(*one.segment()), "data", one.read(),
                         one.segment()->written(), one.segment()->finished() ? 1 : 0,
                         one.is_finished() ? 1 : 0});
      } else {
        items.push_back({nullptr, "event", 0, one.unread(), 1, 1});
      }
    }
    return items;
  }

  void run(const Json& step, Json& got) {
    const std::string op = step.at("op");
    if (op == "attach") {
      view = subpartition.create_read_view(*this);
    } else if (op == "add") {
      open = &segments.make(step.at("buffer"), step.at("bytes"), step.at("finished"));
      got["returned"] = append(BufferConsumer(*open));
    } else if (op == "write") {
      open->commit(open->written() + step.at("bytes").get<std::uint32_t>());
    } else if (op == "finish") {
      open->finish();
    } else if (op == "cancel" || op == "barrier") {
      got["returned"] = append(BufferConsumer(event_of(op, step.at("cp"))));
    } else if (op == "end") {
      append(BufferConsumer(event_of(op, 0)), true);
    } else if (op == "flush") {
      signal(subpartition.flush());
    } else if (op == "release") {
      subpartition.release();
    } else if (op == "poll") {
      const auto next = view->get_next_buffer();
      got["result"] = next ? Json{{"bytes", next->item.size()},
                                  {"backlog", next->backlog},
                                  {"more", next->more_available},
                                  {"nextIsEvent", next->next_is_event}}
                           : Json(nullptr);
    } else {
      FAIL() << "unknown step " << op;
    }
    got["queue"] = queue();
    got["backlog"] = subpartition.buffers_in_backlog();
    got["availableWithCredit"] = subpartition.is_available();
    got["availableWithoutCredit"] = subpartition.next_buffer_is_event();
  }

  Segments segments;
  PipelinedSubpartition subpartition{nullptr};
  std::unique_ptr<ResultSubpartitionView> view;
  NetworkBuffer* open = nullptr;
  Json out = Json::array();
};

TEST(Recording, SubpartitionOf110HasNoDifference) {
  const std::vector<Json> lines = read_recording("network/subpartition_f110.jsonl");
  if (lines.empty()) GTEST_SKIP() << "golden/network/subpartition_f110.jsonl is not here";
  std::size_t steps = 0;
  for (const Json& line : lines) {
    if (!line.contains("steps")) continue;
    SubpartitionReplay replay;
    for (const Json& step : line["steps"]) {
      ++steps;
      replay.out = Json::array();
      Json got = Json::object();
      if (step.contains("exception")) {
        EXPECT_THROW(replay.run(step, got), base::InvariantViolation) << line["id"];
        break;
      }
      replay.run(step, got);
      got["out"] = replay.out;
      for (const auto& [name, value] : got.items()) {
        if (name != "result" || value.is_null()) {
          ASSERT_EQ(value, step.at(name)) << line["id"] << " " << step;
          continue;
        }
        for (const auto& [part, number] : value.items()) {
          ASSERT_EQ(number, step.at(name).at(part)) << line["id"] << " " << step;
        }
      }
    }
  }
  EXPECT_GT(steps, 1000U);
}

// One connection whose messages arrive in a list.
class ListSink final : public MessageSink {
 public:
  void send(WireMessageHandle message, bool flow_controlled) override {
    sent.push_back(std::move(message));
    if (flow_controlled && on_written) on_written();
  }
  [[nodiscard]] bool is_writable() const override { return writable; }

  std::vector<WireMessageHandle> sent;
  base::InplaceFunction<void()> on_written;
  bool writable = true;
};

struct SenderReplay {
  SenderReplay(std::int32_t channels, std::int32_t credit) : initial_credit(credit) {
    sink.on_written = [this] { queue->on_written(); };
    for (std::int32_t i = 0; i < channels; ++i) {
      subpartitions.push_back(std::make_unique<PipelinedSubpartition>(nullptr));
      open.push_back(nullptr);
    }
    queue = std::make_unique<PartitionRequestQueue>(sink, pool);
  }

  void append(std::size_t channel, BufferConsumer consumer, bool finish = false) {
    if (open[channel] != nullptr) std::exchange(open[channel], nullptr)->finish();
    PipelinedSubpartition& target = *subpartitions[channel];
    if (target.add(std::move(consumer), finish)) target.notify_data_available();
  }

  void run(const Json& step) {
    const std::string op = step.at("op");
    if (op == "start") {
      for (std::size_t i = 0; i < subpartitions.size(); ++i) {
        queue->add_reader(i, initial_credit, *subpartitions[i]);
      }
      return;
    }
    if (op == "senderWritable") {
      sink.writable = step.at("writable");
      if (sink.writable) queue->on_written();
      return;
    }
    if (op == "credit") {
      queue->add_credit(step.at("ch").get<InputChannelId>(), step.at("credit"));
      return;
    }
    for (std::size_t i = 0; i < subpartitions.size(); ++i) {
      if (step.contains("ch") && step["ch"] != i) continue;
      if (op == "write") {
        NetworkBuffer& segment = segments.make(0, step.at("bytes"), step.at("finished"));
        append(i, BufferConsumer(segment));
        if (!step["finished"]) open[i] = &segment;
      } else if (op == "more") {
        if (open[i] != nullptr) {
          open[i]->commit(open[i]->written() + step.at("bytes").get<std::uint32_t>());
        }
      } else if (op == "flush") {
        if (subpartitions[i]->flush()) subpartitions[i]->notify_data_available();
      } else if (op == "event") {
        append(i, BufferConsumer(event_of(step.at("kind"), step.at("cp"))));
      } else if (op == "end") {
        append(i, BufferConsumer(event_of("end", 0)), true);
      } else {
        FAIL() << "unknown step " << op;
      }
    }
  }

  Json take_sent() {
    Json sent = Json::array();
    for (const WireMessageHandle& message : std::exchange(sink.sent, {})) {
      const BufferResponse one = parse_buffer_response(*message);
      sent.push_back({{"m", "buffer"},
                      {"ch", one.receiver},
                      {"type", one.is_buffer ? "data" : "event"},
                      {"bytes", one.payload.size()},
                      {"seq", one.sequence_number},
                      {"backlog", one.backlog}});
    }
    return sent;
  }

  Json state() const {
    Json rows = Json::array();
    for (std::size_t i = 0; i < subpartitions.size(); ++i) {
      const auto reader = *queue->find_reader(i);
      rows.push_back({reader.credit, reader.is_queued ? 1 : 0, subpartitions[i]->queue().size(),
                      subpartitions[i]->buffers_in_backlog()});
    }
    return rows;
  }

  std::int32_t initial_credit;
  Segments segments;
  WirePool pool;
  ListSink sink;
  std::vector<std::unique_ptr<PipelinedSubpartition>> subpartitions;
  std::vector<NetworkBuffer*> open;
  std::unique_ptr<PartitionRequestQueue> queue;
};

TEST(Recording, SenderOf110HasNoDifference) {
  const std::vector<Json> lines = read_recording("network/credits_f110.jsonl");
  if (lines.empty()) GTEST_SKIP() << "golden/network/credits_f110.jsonl is not here";
  std::size_t steps = 0;
  for (const Json& line : lines) {
    if (line.value("kind", "") != "sender") continue;
    SenderReplay replay(line.at("channels"), line.at("exclusive"));
    for (const Json& step : line["steps"]) {
      ++steps;
      replay.run(step);
      ASSERT_EQ(replay.take_sent(), step.at("sent")) << line["id"] << " " << step;
      ASSERT_EQ(replay.state(), step.at("sender")) << line["id"] << " " << step;
      ASSERT_EQ(Json(replay.queue->queued_readers()), step.at("readerQueue"))
          << line["id"] << " " << step;
    }
  }
  EXPECT_GT(steps, 1000U);
}

class NoTimers final : public Timers {
 public:
  TimerId schedule(Duration, Callback) override { return {1}; }
  void cancel(TimerId) override {}
};

// A gate whose channels share one connection.
struct ReceiverReplay final : ConnectionManager {
  explicit ReceiverReplay(const Json& line) {
    config.exclusive_per_channel = line.at("exclusive");
    config.floating_per_gate = line.at("floating");
    ports.self = {1};
    ports.timers = &timers;
    sink.on_written = [this] { client.on_written(); };
    InputGateDescriptor descriptor;
    for (std::int32_t i = 0; i < line.at("channels"); ++i) {
      descriptor.channels.push_back({{0, i, {1}}, i, {2}});
    }
    gate = std::make_unique<SingleInputGate>(
        descriptor,
        SingleInputGate::Environment{ports, config, global, *this, partitions, next_channel_id},
        [](const std::string&) {});
    sequence.resize(descriptor.channels.size());
  }

  PartitionRequestClient& create_partition_request_client(ProcessId, std::int32_t) override {
    return client;
  }
  void close_channel(PartitionRequestClient&, const RemoteInputChannel& channel) override {
    client.close(channel);
  }

  [[nodiscard]] RemoteInputChannel& channel(std::int32_t index) const {
    return const_cast<RemoteInputChannel&>(
        dynamic_cast<const RemoteInputChannel&>(gate->channel(index)));
  }

  void arrive(const Json& step, const NetworkItem& item) {
    const std::int32_t index = step.at("ch");
    const WireMessageHandle message =
        make_buffer_response(wire, channel(index).id(), sequence[static_cast<std::size_t>(index)]++,
                             step.at("backlog"), item);
    client.receive(*message);
  }

  void run(const Json& step) {
    const std::string op = step.at("op");
    if (op == "start") {
      gate->request_partitions();
    } else if (op == "take") {
      NetworkBuffer* segment = channel(step.at("ch")).request_buffer();
      taken.emplace_back(*segment, 0, 0);
    } else if (op == "give") {
      taken.erase(taken.begin() + step.at("index").get<std::ptrdiff_t>());
    } else if (op == "hold") {
      NetworkBuffer* segment = gate->buffer_pool()->request_buffer();
      ASSERT_EQ(segment != nullptr, step.at("got").get<bool>());
      if (segment != nullptr) held.emplace_back(*segment, 0, 0);
    } else if (op == "unhold") {
      held.erase(held.begin());
    } else if (op == "backlogArrives") {
      channel(step.at("ch")).on_sender_backlog(step.at("backlog"));
    } else if (op == "data") {
      NetworkBuffer& segment = segments.make(0, 0, true);
      arrive(step, {Buffer(segment, 0, step.at("bytes")), nullptr});
    } else if (op == "eventArrives") {
      arrive(step, {{}, event_of(step.at("kind"), step.value("cp", std::int64_t{0}))});
    } else if (op == "receiverWritable") {
      writable = step.at("writable");
    } else if (op == "recycle") {
      polled.at(step.at("buffer").get<std::int64_t>()).reset();
    } else if (op == "poll") {
      poll(step.at("result"));
    } else {
      FAIL() << "unknown step " << op;
    }
  }

  void poll(const Json& expected) {
    std::optional<BufferOrEvent> next = gate->poll_next();
    ASSERT_EQ(next.has_value(), !expected.is_null());
    if (!next) return;
    ASSERT_EQ(next->channel, expected.at("ch").get<std::int32_t>());
    ASSERT_EQ(next->more_available, expected.at("more").get<bool>());
    const std::string type = expected.at("type");
    ASSERT_EQ(next->is_buffer(), type == "data");
    if (next->is_buffer()) {
      Buffer& buffer = std::get<0>(next->item);
      ASSERT_EQ(buffer.size(), expected.at("bytes").get<std::uint32_t>());
      polled[expected.at("buffer").get<std::int64_t>()] = std::move(buffer);
    } else if (type == "CheckpointBarrier") {
      ASSERT_EQ(std::get<CheckpointBarrier>(next->event()).id,
                expected.at("cp").get<CheckpointId>());
    } else if (type == "CancelCheckpointMarker") {
      ASSERT_TRUE(std::holds_alternative<CancelCheckpointMarker>(next->event()));
    } else {
      ASSERT_TRUE(std::holds_alternative<EndOfPartitionEvent>(next->event()));
    }
  }

  // In a step the connection's own thread does nothing; it catches up behind it.
  void settle() {
    sink.writable = writable;
    if (writable) client.on_written();
    sink.writable = false;
  }

  Json take_replies() {
    Json replies = Json::array();
    for (const WireMessageHandle& message : std::exchange(sink.sent, {})) {
      switch (kind_of(*message)) {
        case MessageKind::kPartitionRequest: {
          const PartitionRequest one = parse_partition_request(*message);
          replies.push_back({{"m", "request"}, {"ch", one.subpartition}, {"credit", one.credit}});
          break;
        }
        case MessageKind::kAddCredit: {
          const AddCredit one = parse_add_credit(*message);
          replies.push_back(
              {{"m", "credit"}, {"ch", one.partition.partition}, {"credit", one.credit}});
          break;
        }
        default:
          replies.push_back({{"m", "CancelPartitionRequest"}});
      }
    }
    return replies;
  }

  Json state() const {
    Json rows = Json::array();
    for (std::int32_t i = 0; i < gate->channel_count(); ++i) {
      const RemoteInputChannel& one = channel(i);
      if (one.is_released()) {
        rows.push_back(nullptr);
        continue;
      }
      rows.push_back({one.available_buffers(), one.required_buffers(), one.floating_available(),
                      one.exclusive_available(), one.is_waiting_for_floating() ? 1 : 0,
                      one.unannounced_credit(), one.queued_buffers()});
    }
    return rows;
  }
  Json pool_state() const {
    LocalBufferPool& pool = *gate->buffer_pool();
    return {pool.size(), pool.requested(), pool.free_segments()};
  }

  NoTimers timers;
  Ports ports;
  NetworkConfig config;
  NetworkBufferPool global{1000, 32 * 1024};
  ResultPartitionManager partitions;
  std::uint64_t next_channel_id = 0;
  Segments segments;
  WirePool wire;
  ListSink sink;
  PartitionRequestClient client{sink, wire};
  std::unique_ptr<SingleInputGate> gate;
  std::vector<std::int32_t> sequence;
  std::vector<Buffer> taken;
  std::vector<Buffer> held;
  std::map<std::int64_t, Buffer> polled;
  bool writable = true;
};

TEST(Recording, ReceiverOf110HasNoDifference) {
  const std::vector<Json> lines = read_recording("network/credits_f110.jsonl");
  if (lines.empty()) GTEST_SKIP() << "golden/network/credits_f110.jsonl is not here";
  std::size_t steps = 0;
  for (const Json& line : lines) {
    if (line.value("kind", "") != "receiver") continue;
    ReceiverReplay replay(line);
    replay.sink.writable = false;
    bool violated = false;
    for (const Json& step : line["steps"]) {
      ++steps;
      if (step.contains("exception")) {
        // Flink tells the reader of the channel; here the broken protocol ends the run at once.
        EXPECT_TRUE(violated) << line["id"];
        break;
      }
      try {
        ASSERT_NO_FATAL_FAILURE(replay.run(step)) << line["id"] << " " << step;
      } catch (const base::InvariantViolation&) {
        violated = true;
      }
      replay.settle();
      ASSERT_EQ(replay.take_replies(), step.at("replies")) << line["id"] << " " << step;
      ASSERT_EQ(replay.state(), step.at("receiver")) << line["id"] << " " << step;
      ASSERT_EQ(replay.pool_state(), step.at("pool")) << line["id"] << " " << step;
    }
    replay.taken.clear();
    replay.held.clear();
    replay.polled.clear();
    replay.gate.reset();
    EXPECT_EQ(replay.global.outstanding_segments(), 0) << line["id"];
  }
  EXPECT_GT(steps, 500U);
}

TEST(Recording, MessagesOf110HaveTheRecordedSizes) {
  const std::vector<Json> lines = read_recording("network/credits_f110.jsonl");
  if (lines.empty()) GTEST_SKIP() << "golden/network/credits_f110.jsonl is not here";
  WirePool pool;
  Segments segments;
  std::size_t messages = 0;
  for (const Json& line : lines) {
    if (line.value("kind", "") != "wireSizes") continue;
    for (const Json& one : line["messages"]) {
      ++messages;
      const std::string name = one.at("message");
      NetworkItem item;
      WireMessageHandle message;
      if (name == "data") {
        item.buffer = Buffer(segments.make(0, 0, true), 0, one.at("payload"));
        message = make_buffer_response(pool, 1, 2, 3, item);
      } else if (name == "event") {
        item.event = event_of(one.at("kind"), 1);
        message = make_buffer_response(pool, 1, 2, 3, item);
      } else if (name == "partitionRequest") {
        message = make_partition_request(pool, {});
      } else if (name == "credit") {
        message = make_add_credit(pool, {});
      } else if (name == "cancelRequest") {
        message = make_cancel_partition_request(pool, 1);
      } else {
        FAIL() << "unknown message " << name;
      }
      EXPECT_EQ(message->size(), one.at("bytes").get<std::int64_t>()) << one;
    }
  }
  EXPECT_GT(messages, 0U);
}

}  // namespace
}  // namespace tailrace::engine
