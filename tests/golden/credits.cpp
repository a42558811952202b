// Replays golden/network/credits.jsonl: the two ends of a connection of 1.20 each by itself, and both
// with messages on their way between them.

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/network/local_buffer_pool.hpp"
#include "engine/network/network_buffer_pool.hpp"
#include "engine/network/partition_request_client.hpp"
#include "engine/network/partition_request_queue.hpp"
#include "engine/network/pipelined_subpartition.hpp"
#include "engine/network/remote_input_channel.hpp"
#include "engine/network/result_partition_manager.hpp"
#include "engine/network/single_input_gate.hpp"
#include "sim/base/assert.hpp"
#include "tests/golden/flow_parts.hpp"
#include "tests/golden/golden_registry.hpp"

namespace tailrace::golden {
namespace {

using namespace flow_f120;

constexpr std::uint32_t kSegmentBytes = 32 * 1024;

std::int32_t channels_of(const Json& number) {
  return small_number(number, 1, 1000);
}

// One connection whose messages arrive in a list.
class CreditSink final : public MessageSink {
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

struct SenderReplay120 {
  SenderReplay120(std::int32_t channels, std::int32_t credit) : initial_credit(credit) {
    sink.on_written = [this] { queue.on_written(); };
    for (std::int32_t i = 0; i < channels; ++i) {
      subpartitions.push_back(std::make_unique<PipelinedSubpartition>(
          nullptr, network_semantics_120(), ResultSubpartitionInfo{0, i}, credit));
      open.push_back(nullptr);
      readers.emplace_back();
    }
  }

  void append(std::size_t channel, BufferConsumer consumer, bool finish = false) {
    if (open[channel] != nullptr) std::exchange(open[channel], nullptr)->finish();
    signal(channel, subpartitions[channel]->add(std::move(consumer), finish));
  }
  void signal(std::size_t channel, bool wanted) {
    if (wanted) subpartitions[channel]->notify_data_available();
  }

  void run(const Json& step) {
    const auto& op = step.at("op").get_ref<const std::string&>();
    if (op == "start") {
      for (std::size_t i = 0; i < subpartitions.size(); ++i) add_reader(i, i, initial_credit);
      return;
    }
    if (op == "senderWritable") {
      sink.writable = step.at("writable");
      if (sink.writable) queue.on_written();
      return;
    }
    if (op == "credit") {
      queue.add_credit(reader_of(step.at("ch")), step.at("credit"));
      return;
    }
    if (op == "resume") {
      queue.resume_consumption(reader_of(step.at("ch")));
      return;
    }
    if (op == "newSize") {
      queue.notify_new_buffer_size(reader_of(step.at("ch")), step.at("bytes"));
      return;
    }
    for (std::size_t i = 0; i < subpartitions.size(); ++i) {
      if (step.contains("ch") && step.at("ch") != i) continue;
      write(i, op, step);
    }
  }

  void write(std::size_t i, const std::string& op, const Json& step) {
    if (op == "write") {
      NetworkBuffer& segment =
          segments.make(bytes_of(step.at("bytes")), kSegmentBytes, step.at("finished"));
      append(i, BufferConsumer(segment));
      if (!step.at("finished")) open[i] = &segment;
    } else if (op == "more") {
      if (open[i] != nullptr) open[i]->commit(open[i]->written() + bytes_of(step.at("bytes")));
    } else if (op == "flush") {
      signal(i, subpartitions[i]->flush());
    } else if (op == "event") {
      append(i, consumer_of(event_of(step.at("kind"), step.at("cp"))));
    } else if (op == "timeout") {
      signal(i, subpartitions[i]->aligned_barrier_timeout(step.at("cp")));
    } else if (op == "end") {
      append(i, consumer_of(event_of("end", 0)), true);
    } else {
      throw MalformedCase("unknown step: " + op);
    }
  }

  // A partition request has arrived.
  void add_reader(std::size_t subpartition, InputChannelId id, std::int32_t credit) {
    readers.at(subpartition) = id;
    queue.add_reader(id, credit, *subpartitions[subpartition],
                     static_cast<std::int32_t>(subpartition));
  }
  [[nodiscard]] InputChannelId reader_of(const Json& channel) const {
    const auto& reader = readers.at(channel.get<std::size_t>());
    if (!reader) throw MalformedCase("a message for a reader that is not there");
    return *reader;
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
      if (kind_of(*message) == MessageKind::kBacklogAnnouncement) {
        const BacklogAnnouncement one = parse_backlog_announcement(*message);
        sent.push_back(
            {{"m", "backlog"}, {"ch", channel_of(one.receiver)}, {"backlog", one.backlog}});
      } else {
        const BufferResponse one = network_semantics_120().wire.parse_buffer_response(*message);
        expect_equal("subpartition", channel_of(one.receiver), one.subpartition);
        sent.push_back({{"m", "buffer"},
                        {"ch", channel_of(one.receiver)},
                        {"type", name_of(one.type)},
                        {"bytes", one.payload.size()},
                        {"seq", one.sequence_number},
                        {"backlog", one.backlog}});
      }
      way.push_back(std::move(message));
    }
    return sent;
  }

  [[nodiscard]] Json state() const {
    Json rows = Json::array();
    for (std::size_t i = 0; i < subpartitions.size(); ++i) {
      const auto reader = readers[i] ? queue.find_reader(*readers[i]) : std::nullopt;
      if (!reader) {
        rows.push_back(nullptr);
        continue;
      }
      rows.push_back({reader->credit, reader->is_queued ? 1 : 0, subpartitions[i]->queue().size(),
                      subpartitions[i]->buffers_in_backlog(),
                      subpartitions[i]->is_blocked() ? 1 : 0});
    }
    return rows;
  }
  [[nodiscard]] Json queued() const {
    Json channels = Json::array();
    for (const InputChannelId id : queue.queued_readers()) channels.push_back(channel_of(id));
    return channels;
  }

  void compare(const std::string& where, const Json& step, std::deque<WireMessageHandle>& way) {
    expect_equal(where + "sent", step.at("sent"), take_sent(way));
    expect_equal(where + "sender", step.at("sender"), state());
    expect_equal(where + "readerQueue", step.at("readerQueue"), queued());
  }

  std::int32_t initial_credit;
  WrittenSegments segments;
  WirePool pool;
  CreditSink sink;
  std::vector<std::unique_ptr<PipelinedSubpartition>> subpartitions;
  std::vector<NetworkBuffer*> open;
  std::vector<std::optional<InputChannelId>> readers;  // by subpartition, once requested
  PartitionRequestQueue queue{sink, pool, network_semantics_120()};
};

// A gate whose channels share one connection.
struct ReceiverReplay120 final : ConnectionManager {
  explicit ReceiverReplay120(const Json& line) {
    config.semantics = &network_semantics_120();
    config.exclusive_per_channel = line.at("exclusive");
    config.floating_per_gate = line.at("floating");
    ports.self = {1};
    ports.timers = &timers;
    sink.on_written = [this] { client.on_written(); };
    sink.writable = false;
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
    client.receive(*network_semantics_120().wire.make_buffer_response(wire, header, item));
  }

  void run(const Json& step) {
    const auto& op = step.at("op").get_ref<const std::string&>();
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
      NetworkBuffer& segment = segments.make(0, kSegmentBytes, true);
      arrive(step, {Buffer(segment, 0, bytes_of(step.at("bytes"))), nullptr});
    } else if (op == "eventArrives") {
      arrive(step, item_of(event_of(step.at("kind"), step.value("cp", std::int64_t{0}))));
    } else if (op == "receiverWritable") {
      writable = step.at("writable");
    } else if (op == "recycle") {
      polled.at(step.at("buffer").get<std::int64_t>()).reset();
    } else if (op == "resume") {
      gate->resume_consumption(step.at("ch"));
    } else if (op == "announceSize") {
      gate->announce_buffer_size(step.at("bytes"));
    } else if (op == "poll") {
      poll(step);
    } else {
      throw MalformedCase("unknown step: " + op);
    }
  }

  void poll(const Json& step) {
    std::optional<BufferOrEvent> next = gate->poll_next();
    // Flink throws it at the reader; here the gate has failed and gives nothing.
    expect_equal("exception", step.contains("exception"), gate->has_failed());
    if (!next) {
      if (!step.contains("exception")) expect_equal("result", step.at("result"), nullptr);
      return;
    }
    Json result = {{"ch", next->channel},
                   {"more", next->more_available},
                   {"morePriority", next->more_priority_events}};
    if (next->is_buffer()) {
      Buffer& buffer = std::get<0>(next->item);
      result["type"] = "data";
      result["bytes"] = buffer.size();
      result["buffer"] = polled_count;
      polled[polled_count++] = std::move(buffer);
    } else {
      result["type"] = class_of(next->event());
      result["priority"] = next->has_priority;
      if (const Json checkpoint = checkpoint_of(next->event()); !checkpoint.is_null()) {
        result["cp"] = checkpoint;
      }
      if (const auto* barrier = std::get_if<CheckpointBarrier>(&next->event())) {
        result["alignment"] = to_string(barrier->options.alignment);
      }
    }
    expect_equal("result", step.at("result"), result);
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
      replies.push_back(reply(*message));
      way.push_back(std::move(message));
    }
    return replies;
  }
  [[nodiscard]] Json channel_of(InputChannelId id) const {
    for (std::int32_t i = 0; i < gate->channel_count(); ++i) {
      if (channel(i).id() == id) return i;
    }
    return nullptr;
  }
  [[nodiscard]] Json reply(const WireMessage& message) const {
    const WireFormat& format = network_semantics_120().wire;
    switch (kind_of(message)) {
      case MessageKind::kPartitionRequest: {
        const PartitionRequest one = format.parse_partition_request(message);
        return {{"m", "request"}, {"ch", one.subpartition}, {"credit", one.credit}};
      }
      case MessageKind::kAddCredit: {
        const AddCredit one = format.parse_add_credit(message);
        return {{"m", "credit"}, {"ch", channel_of(one.receiver)}, {"credit", one.credit}};
      }
      case MessageKind::kResumeConsumption:
        return {{"m", "resume"}, {"ch", channel_of(parse_resume_consumption(message))}};
      case MessageKind::kNewBufferSize: {
        const NewBufferSize one = parse_new_buffer_size(message);
        return {{"m", "newSize"}, {"ch", channel_of(one.receiver)}, {"bytes", one.bytes}};
      }
      default:
        return {{"m", "CancelPartitionRequest"}};
    }
  }

  [[nodiscard]] Json state() const {
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
    const LocalBufferPool& floating = *gate->buffer_pool();
    expect_equal(where + "pool", step.at("pool"),
                 {floating.size(), floating.requested(), floating.free_segments()});
    Json in_use = Json::array();
    for (std::int32_t i = 0; i < gate->channel_count(); ++i) {
      const RemoteInputChannel& one = channel(i);
      in_use.push_back(one.is_released() ? Json() : Json(one.buffers_in_use()));
    }
    expect_equal(where + "inUse", step.at("inUse"), in_use);
  }
  // Not in the recording, but what Flink's tests ask for.
  void expect_all_segments_come_back() {
    taken.clear();
    held.clear();
    polled.clear();
    gate.reset();
    expect_equal("segments that did not come back", 0, global.outstanding_segments());
  }

  NoTimers timers;
  Ports ports;
  NetworkConfig config;
  NetworkBufferPool global{1000, kSegmentBytes, network_semantics_120()};
  ResultPartitionManager partitions;
  std::uint64_t next_channel_id = 0;
  WrittenSegments segments;
  WirePool wire;
  CreditSink sink;
  PartitionRequestClient client{sink, wire, network_semantics_120(), true};
  std::unique_ptr<SingleInputGate> gate;
  std::vector<std::int32_t> sequence;
  std::vector<Buffer> taken;
  std::vector<Buffer> held;
  std::map<std::int64_t, Buffer> polled;
  std::int64_t polled_count = 0;
  bool writable = true;
};

void replay_sender_120(const Json& line) {
  SenderReplay120 replay(channels_of(line.at("channels")), line.at("exclusive"));
  std::deque<WireMessageHandle> lost;
  std::size_t number = 0;
  for (const Json& step : line.at("steps")) {
    const std::string where = step_name(number++, step);
    replay.run(step);
    replay.compare(where, step, lost);
  }
}

void replay_receiver_120(const Json& line) {
  ReceiverReplay120 replay(line);
  std::deque<WireMessageHandle> lost;
  std::size_t number = 0;
  for (const Json& step : line.at("steps")) {
    const std::string where = step_name(number++, step);
    replay.run(step);
    replay.compare(where, step, lost);
    if (step.contains("exception")) break;
  }
  replay.expect_all_segments_come_back();
}

// Both ends of one connection.
class ConnectionReplay120 {
 public:
  explicit ConnectionReplay120(const Json& line)
      : sender_(channels_of(line.at("channels")), line.at("exclusive")), receiver_(line) {}

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
    } else if (op == "start" || op == "poll" || op == "recycle" || op == "resume" ||
               op == "receiverWritable" || op == "announceSize") {
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
    const WireFormat& format = network_semantics_120().wire;
    PartitionRequestQueue& queue = sender_.queue;
    switch (kind_of(message)) {
      case MessageKind::kPartitionRequest: {
        const PartitionRequest one = format.parse_partition_request(message);
        sender_.add_reader(static_cast<std::size_t>(one.subpartition), one.receiver, one.credit);
        return;
      }
      case MessageKind::kAddCredit: {
        const AddCredit one = format.parse_add_credit(message);
        queue.add_credit(one.receiver, one.credit);
        return;
      }
      case MessageKind::kResumeConsumption:
        queue.resume_consumption(parse_resume_consumption(message));
        return;
      case MessageKind::kNewBufferSize: {
        const NewBufferSize one = parse_new_buffer_size(message);
        queue.notify_new_buffer_size(one.receiver, one.bytes);
        return;
      }
      case MessageKind::kCancelPartitionRequest:
        queue.cancel(parse_cancel_partition_request(message));
        return;
      default:
        throw Difference("a message to the sender", "one that a receiver sends", "another");
    }
  }

  SenderReplay120 sender_;
  ReceiverReplay120 receiver_;
  std::deque<WireMessageHandle> to_receiver_;
  std::deque<WireMessageHandle> to_sender_;
};

void replay_connection_120(const Json& line) {
  ConnectionReplay120 replay(line);
  std::size_t number = 0;
  for (const Json& step : line.at("steps")) replay.run(step, step_name(number++, step));
  replay.finish();
}

void replay_wire_sizes_120(const Json& line) {
  const WireFormat& format = network_semantics_120().wire;
  WirePool pool;
  WrittenSegments segments;
  for (const Json& one : line.at("messages")) {
    const auto& name = one.at("message").get_ref<const std::string&>();
    WireMessageHandle message;
    if (name == "data") {
      const std::uint32_t bytes = bytes_of(one.at("payload"));
      const NetworkItem item{Buffer(segments.make(bytes, kSegmentBytes, true), 0, bytes), nullptr};
      message = format.make_buffer_response(pool, {}, item);
    } else if (name == "event") {
      const NetworkItem item = item_of(event_of(one.at("kind"), 1));
      expect_equal("payload of " + name, one.at("payload"), item.size());
      message = format.make_buffer_response(pool, {}, item);
    } else if (name == "partitionRequest") {
      message = format.make_partition_request(pool, {});
    } else if (name == "credit") {
      message = format.make_add_credit(pool, {});
    } else if (name == "resume") {
      message = make_resume_consumption(pool, 1);
    } else if (name == "backlog") {
      message = make_backlog_announcement(pool, {1, 1});
    } else if (name == "newSize") {
      message = make_new_buffer_size(pool, {1, 1});
    } else if (name == "allRecordsProcessed") {
      message = make_ack_all_user_records_processed(pool, 1);
    } else if (name == "cancelRequest") {
      message = make_cancel_partition_request(pool, 1);
    } else {
      throw MalformedCase("unknown message: " + name);
    }
    expect_equal("bytes of " + name, one.at("bytes"), message->size());
  }
}

void replay_credits_120(const Json& line) {
  const auto& kind = line.at("kind").get_ref<const std::string&>();
  if (kind == "sender") {
    replay_sender_120(line);
  } else if (kind == "receiver") {
    replay_receiver_120(line);
  } else if (kind == "connection") {
    replay_connection_120(line);
  } else if (kind == "wireSizes") {
    replay_wire_sizes_120(line);
  } else {
    throw MalformedCase("unknown kind: " + kind);
  }
}

const Registration kCredits120("network/credits.jsonl", &replay_credits_120);

}  // namespace
}  // namespace tailrace::golden
