// Replays golden/network/credits_f110.jsonl: the two ends of a connection each by itself, and both
// with messages on their way between them.

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/network/f110/event_serializer.hpp"
#include "engine/network/local_buffer_pool.hpp"
#include "engine/network/netty_message.hpp"
#include "engine/network/partition_request_client.hpp"
#include "engine/network/partition_request_queue.hpp"
#include "engine/network/pipelined_subpartition.hpp"
#include "engine/network/remote_input_channel.hpp"
#include "engine/network/result_partition_manager.hpp"
#include "engine/network/single_input_gate.hpp"
#include "sim/base/assert.hpp"
#include "tests/golden/golden_registry.hpp"
#include "tests/golden/subpartition_f110.hpp"

namespace tailrace::golden {
namespace {

using namespace engine;
using namespace network_f110;

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
      readers.emplace_back();
    }
    queue = std::make_unique<PartitionRequestQueue>(sink, pool, network_semantics_110());
  }

  void append(std::size_t channel, BufferConsumer consumer, bool finish = false) {
    if (open[channel] != nullptr) std::exchange(open[channel], nullptr)->finish();
    PipelinedSubpartition& target = *subpartitions[channel];
    if (target.add(std::move(consumer), finish)) target.notify_data_available();
  }

  void run(const Json& step) {
    const std::string op = step.at("op");
    if (op == "start") {
      for (std::size_t i = 0; i < subpartitions.size(); ++i) add_reader(i, i, initial_credit);
      return;
    }
    if (op == "senderWritable") {
      sink.writable = step.at("writable");
      if (sink.writable) queue->on_written();
      return;
    }
    if (op == "credit") {
      queue->add_credit(reader_of(step.at("ch")), step.at("credit"));
      return;
    }
    for (std::size_t i = 0; i < subpartitions.size(); ++i) {
      if (step.contains("ch") && step.at("ch") != i) continue;
      if (op == "write") {
        NetworkBuffer& segment = segments.make(0, bytes_of(step.at("bytes")), step.at("finished"));
        append(i, BufferConsumer(segment));
        if (!step.at("finished")) open[i] = &segment;
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
        throw MalformedCase("unknown step: " + op);
      }
    }
  }

  // A partition request has arrived.
  void add_reader(std::size_t subpartition, InputChannelId id, std::int32_t credit) {
    readers.at(subpartition) = id;
    queue->add_reader(id, credit, *subpartitions[subpartition]);
  }
  [[nodiscard]] InputChannelId reader_of(const Json& channel) const {
    return readers.at(channel.get<std::size_t>()).value();
  }
  [[nodiscard]] Json channel_of(InputChannelId id) const {
    for (std::size_t i = 0; i < readers.size(); ++i) {
      if (readers[i] == id) return i;
    }
    return nullptr;
  }

  // Describes what was sent and puts it on its way.
  Json take_sent(std::deque<WireMessageHandle>& way) {
    Json sent = Json::array();
    for (WireMessageHandle& message : std::exchange(sink.sent, {})) {
      const BufferResponse one = wire_format_110().parse_buffer_response(*message);
      sent.push_back({{"m", "buffer"},
                      {"ch", channel_of(one.receiver)},
                      {"type", one.is_buffer() ? "data" : "event"},
                      {"bytes", one.payload.size()},
                      {"seq", one.sequence_number},
                      {"backlog", one.backlog}});
      way.push_back(std::move(message));
    }
    return sent;
  }

  Json state() const {
    Json rows = Json::array();
    for (std::size_t i = 0; i < subpartitions.size(); ++i) {
      const auto reader = readers[i] ? queue->find_reader(*readers[i]) : std::nullopt;
      if (!reader) {
        rows.push_back(nullptr);
        continue;
      }
      rows.push_back({reader->credit, reader->is_queued ? 1 : 0, subpartitions[i]->queue().size(),
                      subpartitions[i]->buffers_in_backlog()});
    }
    return rows;
  }
  Json queued() const {
    Json channels = Json::array();
    for (const InputChannelId id : queue->queued_readers()) channels.push_back(channel_of(id));
    return channels;
  }

  void compare(const std::string& where, const Json& step, std::deque<WireMessageHandle>& way) {
    expect_equal(where + "sent", step.at("sent"), take_sent(way));
    expect_equal(where + "sender", step.at("sender"), state());
    expect_equal(where + "readerQueue", step.at("readerQueue"), queued());
  }

  std::int32_t initial_credit;
  Segments segments;
  WirePool pool;
  ListSink sink;
  std::vector<std::unique_ptr<PipelinedSubpartition>> subpartitions;
  std::vector<NetworkBuffer*> open;
  std::vector<std::optional<InputChannelId>> readers;  // by subpartition, once requested
  std::unique_ptr<PartitionRequestQueue> queue;
};

void replay_sender(const Json& line) {
  SenderReplay replay(channels_of(line.at("channels")), line.at("exclusive"));
  std::deque<WireMessageHandle> lost;
  std::size_t number = 0;
  for (const Json& step : line.at("steps")) {
    const std::string where = step_name(number++, step);
    replay.run(step);
    replay.compare(where, step, lost);
  }
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
    for (std::int32_t i = 0; i < channels_of(line.at("channels")); ++i) {
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
    BufferResponse header;
    header.receiver = channel(index).id();
    header.sequence_number = sequence.at(static_cast<std::size_t>(index))++;
    header.backlog = step.at("backlog");
    const WireMessageHandle message = wire_format_110().make_buffer_response(wire, header, item);
    client.receive(*message);
  }

  void run(const Json& step) {
    const std::string op = step.at("op");
    if (op == "start") {
      gate->request_partitions();
    } else if (op == "take") {
      NetworkBuffer* segment = channel(step.at("ch")).request_buffer();
      expect_equal("got", step.at("got"), segment != nullptr);
      if (segment != nullptr) taken.emplace_back(*segment, 0, 0);
    } else if (op == "give") {
      static_cast<void>(taken.at(step.at("index").get<std::size_t>()));
      taken.erase(taken.begin() + step.at("index").get<std::ptrdiff_t>());
    } else if (op == "hold") {
      NetworkBuffer* segment = gate->buffer_pool()->request_buffer();
      expect_equal("got", step.at("got"), segment != nullptr);
      if (segment != nullptr) held.emplace_back(*segment, 0, 0);
    } else if (op == "unhold") {
      if (held.empty()) throw MalformedCase("nothing is held");
      held.erase(held.begin());
    } else if (op == "backlogArrives") {
      channel(step.at("ch")).on_sender_backlog(step.at("backlog"));
    } else if (op == "data") {
      NetworkBuffer& segment = segments.make(0, 0, true);
      arrive(step, {Buffer(segment, 0, bytes_of(step.at("bytes"))), nullptr});
    } else if (op == "eventArrives") {
      arrive(step, {{}, event_of(step.at("kind"), step.value("cp", std::int64_t{0}))});
    } else if (op == "receiverWritable") {
      writable = step.at("writable");
    } else if (op == "recycle") {
      polled.at(step.at("buffer").get<std::int64_t>()).reset();
    } else if (op == "poll") {
      poll(step.at("result"));
    } else {
      throw MalformedCase("unknown step: " + op);
    }
  }

  void poll(const Json& expected) {
    std::optional<BufferOrEvent> next = gate->poll_next();
    if (!next) {
      expect_equal("result", expected, nullptr);
      return;
    }
    Json result = {{"ch", next->channel}, {"more", next->more_available}};
    if (next->is_buffer()) {
      Buffer& buffer = std::get<0>(next->item);
      result["type"] = "data";
      result["bytes"] = buffer.size();
      result["buffer"] = polled_count;
      polled[polled_count++] = std::move(buffer);
    } else {
      result["type"] = name_of(next->event());
      if (const auto* barrier = std::get_if<CheckpointBarrier>(&next->event())) {
        result["cp"] = barrier->id;
      }
    }
    expect_equal("result", expected, result);
  }

  // In a step the connection's own thread does nothing; it catches up behind it.
  void settle() {
    sink.writable = writable;
    if (writable) client.on_written();
    sink.writable = false;
  }

  Json take_replies(std::deque<WireMessageHandle>& way) {
    Json replies = Json::array();
    for (WireMessageHandle& message : std::exchange(sink.sent, {})) {
      switch (kind_of(*message)) {
        case MessageKind::kPartitionRequest: {
          const PartitionRequest one = wire_format_110().parse_partition_request(*message);
          replies.push_back({{"m", "request"}, {"ch", one.subpartition}, {"credit", one.credit}});
          break;
        }
        case MessageKind::kAddCredit: {
          const AddCredit one = wire_format_110().parse_add_credit(*message);
          replies.push_back(
              {{"m", "credit"}, {"ch", one.partition.partition}, {"credit", one.credit}});
          break;
        }
        default:
          replies.push_back({{"m", "CancelPartitionRequest"}});
      }
      way.push_back(std::move(message));
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
  void compare(const std::string& where, const Json& step, std::deque<WireMessageHandle>& way) {
    settle();
    expect_equal(where + "replies", step.at("replies"), take_replies(way));
    expect_equal(where + "receiver", step.at("receiver"), state());
    expect_equal(where + "pool", step.at("pool"), pool_state());
  }
  // Not in the recording, but what Flink's tests ask for.
  void expect_all_segments_come_back() {
    taken.clear();
    held.clear();
    polled.clear();
    gate.reset();
    expect_equal("segments that did not come back", 0, global.outstanding_segments());
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
  PartitionRequestClient client{sink, wire, network_semantics_110()};
  std::unique_ptr<SingleInputGate> gate;
  std::vector<std::int32_t> sequence;
  std::vector<Buffer> taken;
  std::vector<Buffer> held;
  std::map<std::int64_t, Buffer> polled;
  std::int64_t polled_count = 0;
  bool writable = true;
};

void replay_receiver(const Json& line) {
  ReceiverReplay replay(line);
  replay.sink.writable = false;
  std::deque<WireMessageHandle> lost;
  bool violated = false;
  std::size_t number = 0;
  for (const Json& step : line.at("steps")) {
    const std::string where = step_name(number++, step);
    if (step.contains("exception")) {
      // Flink tells the reader of the channel; here the gate has failed, or the broken protocol has
      // ended the run at once.
      expect_equal(where + "exception", true, violated || replay.gate->has_failed());
      break;
    }
    try {
      replay.run(step);
    } catch (const base::InvariantViolation&) {
      violated = true;
    }
    replay.compare(where, step, lost);
  }
  replay.expect_all_segments_come_back();
}

// Both ends of one connection.
class ConnectionReplay {
 public:
  explicit ConnectionReplay(const Json& line)
      : sender_(channels_of(line.at("channels")), line.at("exclusive")), receiver_(line) {
    receiver_.sink.writable = false;
  }

  void run(const Json& step, const std::string& where) {
    const auto& op = step.at("op").get_ref<const std::string&>();
    if (op == "toReceiver") {
      for (auto left = step.at("messages").get<std::int64_t>(); left > 0; --left) {
        receiver_.client.receive(*next(to_receiver_));
        receiver_.settle();  // it is the connection's own thread that receives
      }
    } else if (op == "toSender") {
      for (auto left = step.at("messages").get<std::int64_t>(); left > 0; --left) {
        deliver_to_sender(*next(to_sender_));
      }
    } else if (op == "start" || op == "poll" || op == "recycle" || op == "receiverWritable") {
      receiver_.run(step);
    } else {
      sender_.run(step);
    }
    sender_.compare(where, step, to_receiver_);
    receiver_.compare(where, step, to_sender_);
    expect_equal(where + "inFlight", step.at("inFlight"), {to_receiver_.size(), to_sender_.size()});
  }
  void finish() {
    to_receiver_.clear();
    receiver_.expect_all_segments_come_back();
  }

 private:
  static WireMessageHandle next(std::deque<WireMessageHandle>& way) {
    if (way.empty()) throw Difference("messages on their way", "another one", "none");
    WireMessageHandle message = std::move(way.front());
    way.pop_front();
    return message;
  }
  void deliver_to_sender(const WireMessage& message) {
    if (kind_of(message) == MessageKind::kPartitionRequest) {
      const PartitionRequest one = wire_format_110().parse_partition_request(message);
      sender_.add_reader(static_cast<std::size_t>(one.subpartition), one.receiver, one.credit);
    } else if (kind_of(message) == MessageKind::kAddCredit) {
      const AddCredit one = wire_format_110().parse_add_credit(message);
      sender_.queue->add_credit(one.receiver, one.credit);
    } else if (kind_of(message) == MessageKind::kCancelPartitionRequest) {
      sender_.queue->cancel(parse_cancel_partition_request(message));
    }
  }

  SenderReplay sender_;
  ReceiverReplay receiver_;
  std::deque<WireMessageHandle> to_receiver_;
  std::deque<WireMessageHandle> to_sender_;
};

void replay_connection(const Json& line) {
  ConnectionReplay replay(line);
  std::size_t number = 0;
  for (const Json& step : line.at("steps")) replay.run(step, step_name(number++, step));
  replay.finish();
}

void replay_wire_sizes(const Json& line) {
  WirePool pool;
  Segments segments;
  for (const Json& one : line.at("messages")) {
    const auto& name = one.at("message").get_ref<const std::string&>();
    NetworkItem item;
    WireMessageHandle message;
    if (name == "data") {
      item.buffer = Buffer(segments.make(0, 0, true), 0, bytes_of(one.at("payload")));
      message = wire_format_110().make_buffer_response(pool, {}, item);
    } else if (name == "event") {
      item.event = event_of(one.at("kind"), 1);
      message = wire_format_110().make_buffer_response(pool, {}, item);
    } else if (name == "partitionRequest") {
      message = wire_format_110().make_partition_request(pool, {});
    } else if (name == "credit") {
      message = wire_format_110().make_add_credit(pool, {});
    } else if (name == "cancelRequest") {
      message = make_cancel_partition_request(pool, 1);
    } else {
      throw MalformedCase("unknown message: " + name);
    }
    expect_equal("bytes of " + name, one.at("bytes"), message->size());
  }
}

void replay_credits(const Json& line) {
  const auto& kind = line.at("kind").get_ref<const std::string&>();
  if (kind == "sender") {
    replay_sender(line);
  } else if (kind == "receiver") {
    replay_receiver(line);
  } else if (kind == "connection") {
    replay_connection(line);
  } else if (kind == "wireSizes") {
    replay_wire_sizes(line);
  } else {
    throw MalformedCase("unknown kind: " + kind);
  }
}

const Registration kCredits("network/credits_f110.jsonl", &replay_credits);

}  // namespace
}  // namespace tailrace::golden
