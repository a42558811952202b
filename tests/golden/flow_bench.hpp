// Both ends of a connection, each by itself, in either generation.
#pragma once

#include <cstdint>
#include <cstring>
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
#include "tests/golden/flow_parts.hpp"

namespace tailrace::golden {

// Messages in the words of the rows.
inline std::string words_of(const engine::WireMessage& message, const engine::WireFormat& wire) {
  using namespace engine;
  switch (kind_of(message)) {
    case MessageKind::kBufferResponse: {
      const BufferResponse one = wire.parse_buffer_response(message);
      const std::string what =
          one.is_buffer() ? "data " + std::to_string(one.payload.size()) : "event";
      return what + " seq " + std::to_string(one.sequence_number) + " backlog " +
             std::to_string(one.backlog);
    }
    case MessageKind::kBacklogAnnouncement:
      return "announce " + std::to_string(parse_backlog_announcement(message).backlog);
    case MessageKind::kPartitionRequest: {
      const PartitionRequest one = wire.parse_partition_request(message);
      return "ch" + std::to_string(one.subpartition) + " request credit " +
             std::to_string(one.credit);
    }
    case MessageKind::kAddCredit: {
      const AddCredit one = wire.parse_add_credit(message);
      // Channels of a bench have the ids 1, 2 and so on.
      return "ch" + std::to_string(one.receiver - 1) + " credit " + std::to_string(one.credit);
    }
    default:
      return "another message";
  }
}

class WordSink final : public engine::MessageSink {
 public:
  explicit WordSink(const engine::WireFormat& wire) : wire_(wire) {}
  void send(engine::WireMessageHandle message, bool flow_controlled) override {
    words_ += (words_.empty() ? "" : ", ") + words_of(*message, wire_);
    if (flow_controlled && on_written) on_written();
  }
  [[nodiscard]] bool is_writable() const override { return writable; }
  void close() override { is_closed = true; }
  // What was sent since the last call; "-": nothing.
  [[nodiscard]] std::string take() {
    const std::string words = std::exchange(words_, {});
    return words.empty() ? "-" : words;
  }

  base::InplaceFunction<void()> on_written;
  bool writable = true;
  bool is_closed = false;

 private:
  const engine::WireFormat& wire_;
  std::string words_;
};

// A gate of remote channels, whose messages the test writes.
struct ReceiverBench final : engine::ConnectionManager {
  ReceiverBench(const engine::NetworkSemantics& of, std::int32_t channels, std::int32_t exclusive,
                std::int32_t floating)
      : semantics(of) {
    config.semantics = &semantics;
    config.exclusive_per_channel = exclusive;
    config.floating_per_gate = floating;
    ports.self = {1};
    ports.timers = &timers;
    sink.on_written = [this] { client.on_written(); };
    engine::InputGateDescriptor descriptor;
    for (std::int32_t i = 0; i < channels; ++i) {
      descriptor.channels.push_back({{0, i, {1}}, i, {2}});
    }
    gate = std::make_unique<engine::SingleInputGate>(
        descriptor,
        engine::SingleInputGate::Environment{ports, config, global, *this, partitions,
                                             next_channel_id},
        [](const std::string&) {});
    sequence.resize(descriptor.channels.size());
  }

  engine::PartitionRequestClient& create_partition_request_client(engine::ProcessId,
                                                                  std::int32_t) override {
    return client;
  }
  void close_channel(engine::PartitionRequestClient&,
                     const engine::RemoteInputChannel& channel) override {
    client.close(channel);
  }

  [[nodiscard]] engine::RemoteInputChannel& channel(std::size_t index) const {
    return const_cast<engine::RemoteInputChannel&>(dynamic_cast<const engine::RemoteInputChannel&>(
        gate->channel(static_cast<engine::ChannelIndex>(index))));
  }
  void set_writable(bool writable) {
    sink.writable = writable;
    if (writable) client.on_written();
  }

  // A message arrives, with the next number of its channel.
  void arrive(std::size_t index, const engine::NetworkItem& item, std::int32_t backlog) {
    engine::BufferResponse header;
    header.receiver = channel(index).id();
    header.sequence_number = sequence.at(index);
    sequence[index] = static_cast<std::int32_t>(static_cast<std::uint32_t>(sequence[index]) + 1U);
    header.backlog = backlog;
    client.receive(*semantics.wire.make_buffer_response(wire, header, item));
  }
  // Data that holds its own number.
  void data(std::size_t index, std::int32_t backlog) {
    engine::NetworkBuffer& segment = segments.make(4, 16, true);
    std::memcpy(segment.data(), &sequence.at(index), 4);
    arrive(index, {engine::Buffer(segment, 0, 4), nullptr}, backlog);
  }
  void event(std::size_t index, const std::string& kind, engine::CheckpointId checkpoint,
             std::int32_t backlog = 0) {
    const flow_f120::TypedEvent one = flow_f120::event_of(kind, checkpoint);
    arrive(index,
           {{},
            semantics.serialize_event(one.event),
            semantics.data_type_of(one.event, has_priority(one.type))},
           backlog);
  }

  const engine::NetworkSemantics& semantics;
  flow_f120::NoTimers timers;
  engine::Ports ports;
  engine::NetworkConfig config;
  flow_f120::WrittenSegments segments;
  engine::NetworkBufferPool global{4000, 64, semantics};
  engine::ResultPartitionManager partitions;
  std::uint64_t next_channel_id = 0;
  engine::WirePool wire;
  WordSink sink{semantics.wire};
  engine::PartitionRequestClient client{sink, wire, semantics, true};
  std::unique_ptr<engine::SingleInputGate> gate;
  std::vector<std::int32_t> sequence;
};

// One reader of one subpartition.
struct SenderBench {
  SenderBench(const engine::NetworkSemantics& of, std::int32_t initial_credit)
      : semantics(of), credit(initial_credit), subpartition(nullptr, of, {}, initial_credit) {
    sink.on_written = [this] { queue.on_written(); };
  }
  void add_reader() { queue.add_reader(1, credit, subpartition); }
  void set_writable(bool writable) {
    sink.writable = writable;
    if (writable) queue.on_written();
  }
  // A finished buffer.
  void data(std::uint32_t bytes) {
    signal(subpartition.add(engine::BufferConsumer(segments.make(bytes, 64, true))));
  }
  void event(const std::string& kind) {
    const flow_f120::TypedEvent one = flow_f120::event_of(kind, 1);
    signal(subpartition.add(
        engine::BufferConsumer(semantics.serialize_event(one.event),
                               semantics.data_type_of(one.event, has_priority(one.type)))));
  }
  void flush() { signal(subpartition.flush()); }
  void signal(bool wanted) {
    if (wanted) subpartition.notify_data_available();
  }
  [[nodiscard]] engine::PartitionRequestQueue::ReaderState reader() const {
    return queue.find_reader(1).value();
  }

  const engine::NetworkSemantics& semantics;
  std::int32_t credit;
  flow_f120::WrittenSegments segments;
  engine::WirePool wire;
  WordSink sink{semantics.wire};
  engine::PipelinedSubpartition subpartition;
  engine::PartitionRequestQueue queue{sink, wire, semantics};
};

}  // namespace tailrace::golden
