// Replays golden/network/gate.jsonl: gates with remote and local channels, alone and as a union.

#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/network/network_buffer_pool.hpp"
#include "engine/network/partition_request_client.hpp"
#include "engine/network/remote_input_channel.hpp"
#include "engine/network/result_partition_manager.hpp"
#include "engine/network/single_input_gate.hpp"
#include "engine/network/union_input_gate.hpp"
#include "sim/base/assert.hpp"
#include "tests/golden/flow_parts.hpp"
#include "tests/golden/golden_registry.hpp"

namespace tailrace::golden {
namespace {

using namespace flow_f120;

constexpr ProcessId kHere{1};
constexpr ProcessId kElsewhere{2};
constexpr std::uint32_t kSegmentBytes = 64;
constexpr std::uint32_t kItemBytes = 10;

class NullSink final : public MessageSink {
 public:
  void send(WireMessageHandle, bool) override {}
  [[nodiscard]] bool is_writable() const override { return false; }
};

class GateReplay final : public ConnectionManager {
 public:
  explicit GateReplay(const Json& gates) {
    config_.semantics = &network_semantics_120();
    // More than any script fills: it has no credit to wait for.
    config_.exclusive_per_channel = 200;
    ports_.self = kHere;
    ports_.timers = &timers_;
    std::vector<InputGate*> members;
    ChannelIndex first = 0;
    for (const Json& letters : gates) {
      Gate& gate = gates_.emplace_back();
      gate.first_channel = first;
      make_channels(gate, letters.get<std::string>());
      members.push_back(gate.gate.get());
      first += gate.gate->channel_count();
    }
    if (gates_.empty()) throw MalformedCase("no gate");
    if (gates_.size() > 1) union_ = std::make_unique<UnionInputGate>(members, true);
  }
  ~GateReplay() {
    numbers_.clear();
    union_.reset();
    gates_.clear();
  }

  void run(const Json& step, Json& got) {
    const auto& op = step.at("op").get_ref<const std::string&>();
    if (op == "start") {
      for (Gate& gate : gates_) gate.gate->request_partitions();
    } else if (op == "poll") {
      got["result"] = poll();
    } else {
      Gate& gate = gates_.at(step.at("gate").get<std::size_t>());
      const auto channel = step.at("ch").get<std::size_t>();
      if (op == "convert") {
        gate.gate->convert_to_priority_event(static_cast<ChannelIndex>(channel), step.at("seq"));
      } else if (gate.locals.at(channel) != nullptr) {
        run_local(*gate.locals[channel], gate, static_cast<ChannelIndex>(channel), op, step);
      } else if (op == "in") {
        arrive(gate, static_cast<ChannelIndex>(channel), step);
      } else {
        throw MalformedCase("unknown step of a remote channel: " + op);
      }
    }
    got["queues"] = Json::array();
    got["flags"] = Json::array();
    for (const Gate& one : gates_) {
      got["queues"].push_back(one.gate->queued_channels());
      got["flags"].push_back({one.gate->priority_channels(), one.gate->is_available() ? 1 : 0,
                              one.gate->is_priority_event_available() ? 1 : 0});
    }
    if (union_ != nullptr) {
      got["union"] = union_->queued_gates();
      got["unionFlags"] = {union_->priority_gates(), union_->is_available() ? 1 : 0,
                           union_->is_priority_event_available() ? 1 : 0};
    }
    got["finished"] = input().is_finished();
    switch (input().end_of_data_status()) {
      case EndOfDataStatus::kNotEndOfData:
        got["endOfData"] = "NOT_END_OF_DATA";
        break;
      case EndOfDataStatus::kDrained:
        got["endOfData"] = "DRAINED";
        break;
      case EndOfDataStatus::kStopped:
        got["endOfData"] = "STOPPED";
        break;
    }
  }

  PartitionRequestClient& create_partition_request_client(ProcessId, std::int32_t) override {
    return client_;
  }
  void close_channel(PartitionRequestClient&, const RemoteInputChannel& channel) override {
    client_.close(channel);
  }

 private:
  // A producer subtask in this process.
  struct Local {
    std::unique_ptr<ResultPartition> partition;
    NetworkBuffer* open = nullptr;
  };
  struct Gate {
    std::unique_ptr<SingleInputGate> gate;
    ChannelIndex first_channel = 0;
    std::vector<std::unique_ptr<Local>> locals;  // by channel; null: remote
    std::vector<std::int32_t> sequence;          // of remote channels
  };

  [[nodiscard]] InputGate& input() {
    if (union_ != nullptr) return *union_;
    return *gates_.front().gate;
  }

  void make_channels(Gate& gate, const std::string& letters) {
    InputGateDescriptor descriptor;
    for (const char letter : letters) {
      const ResultPartitionId id{0, next_partition_++, {1}};
      descriptor.channels.push_back({id, 0, letter == 'l' ? kHere : kElsewhere});
      auto& local = gate.locals.emplace_back();
      gate.sequence.push_back(0);
      if (letter != 'l') continue;
      local = std::make_unique<Local>();
      LocalBufferPool* pool = make_pool();
      local->partition = std::make_unique<ResultPartition>(
          ResultPartitionDescriptor{id, 1, PartitionerKind::kForward, RecordType::kString}, *pool,
          network_semantics_120());
      partitions_.register_partition(*local->partition);
    }
    gate.gate = std::make_unique<SingleInputGate>(
        descriptor,
        SingleInputGate::Environment{ports_, config_, buffers_, *this, partitions_,
                                     next_channel_id_},
        [](const std::string&) {});
  }
  LocalBufferPool* make_pool();

  void arrive(Gate& gate, ChannelIndex channel, const Json& step) {
    const auto& kind = step.at("kind").get_ref<const std::string&>();
    NetworkItem item;
    if (kind == "data") {
      NetworkBuffer& segment = segments_.make(kItemBytes, kSegmentBytes, true);
      const auto number = step.at("buffer").get<std::int64_t>();
      std::memcpy(segment.data(), &number, sizeof number);
      item.buffer = Buffer(segment, 0, kItemBytes);
    } else {
      item = item_of(event_of(kind, step.value("cp", std::int64_t{0})));
    }
    const auto& remote = dynamic_cast<const RemoteInputChannel&>(gate.gate->channel(channel));
    BufferResponse header;
    header.receiver = remote.id();
    header.sequence_number = gate.sequence[static_cast<std::size_t>(channel)]++;
    client_.receive(*network_semantics_120().wire.make_buffer_response(wire_, header, item));
  }

  void run_local(Local& local, Gate& gate, ChannelIndex channel, const std::string& op,
                 const Json& step) {
    PipelinedSubpartition& subpartition = local.partition->subpartition(0);
    bool signal = false;
    if (op == "more") {
      if (local.open == nullptr) throw MalformedCase("there is no open buffer");
      local.open->commit(local.open->written() + bytes_of(step.at("bytes")));
    } else if (op == "flush") {
      signal = subpartition.flush();
    } else if (op == "resume") {
      gate.gate->resume_consumption(channel);
    } else if (op == "timeout") {
      signal = subpartition.aligned_barrier_timeout(step.at("cp"));
    } else if (op == "in" || op == "open") {
      if (local.open != nullptr) std::exchange(local.open, nullptr)->finish();
      if (op == "open" || step.at("kind") == "data") {
        const std::uint32_t bytes = op == "open" ? bytes_of(step.at("bytes")) : kItemBytes;
        NetworkBuffer& segment = segments_.make(bytes, kSegmentBytes, op == "in");
        if (op == "open") local.open = &segment;
        numbers_.emplace_back(Buffer(segment, 0, 0), step.at("buffer"));
        signal = subpartition.add(BufferConsumer(segment));
      } else {
        const auto& kind = step.at("kind").get_ref<const std::string&>();
        signal = subpartition.add(consumer_of(event_of(kind, step.value("cp", std::int64_t{0}))),
                                  kind == "eop");
      }
    } else {
      throw MalformedCase("unknown step of a local channel: " + op);
    }
    if (signal) subpartition.notify_data_available();
  }

  Json poll() {
    std::optional<BufferOrEvent> next = input().poll_next();
    if (!next) return nullptr;
    std::size_t gate = gates_.size() - 1;
    while (gates_[gate].first_channel > next->channel) --gate;
    const ChannelIndex channel = next->channel - gates_[gate].first_channel;
    Json result = {{"gate", gate},
                   {"ch", channel},
                   {"more", next->more_available},
                   {"morePriority", next->more_priority_events}};
    if (next->is_buffer()) {
      const Buffer& buffer = std::get<0>(next->item);
      result["type"] = "data";
      result["bytes"] = buffer.size();
      result["buffer"] = number_of(buffer, gates_[gate].gate->is_local(channel));
    } else {
      result["type"] = class_of(next->event());
      result["priority"] = next->has_priority;
      if (const Json checkpoint = checkpoint_of(next->event()); !checkpoint.is_null()) {
        result["cp"] = checkpoint;
      }
    }
    return result;
  }

  // Of a remote channel it is in the bytes; a local one hands out the sender's own memory.
  [[nodiscard]] Json number_of(const Buffer& buffer, bool local) const {
    if (!local) {
      std::int64_t number = 0;
      std::memcpy(&number, buffer.bytes().data(), sizeof number);
      return number;
    }
    const auto at = reinterpret_cast<std::uintptr_t>(buffer.bytes().data());
    for (const auto& [segment, number] : numbers_) {
      const auto begin = reinterpret_cast<std::uintptr_t>(segment.bytes().data());
      if (begin <= at && at < begin + kSegmentBytes) return number;
    }
    return nullptr;
  }

  NetworkConfig config_;
  Ports ports_;
  NoTimers timers_;
  WrittenSegments segments_;
  NetworkBufferPool buffers_{1 << 18, kSegmentBytes, network_semantics_120()};
  ResultPartitionManager partitions_;
  std::uint64_t next_channel_id_ = 0;
  std::int32_t next_partition_ = 0;
  WirePool wire_;
  NullSink sink_;
  PartitionRequestClient client_{sink_, wire_, network_semantics_120()};
  std::vector<std::pair<Buffer, Json>> numbers_;  // of local buffers
  std::vector<Gate> gates_;
  std::unique_ptr<UnionInputGate> union_;
};

LocalBufferPool* GateReplay::make_pool() {
  LocalBufferPool* pool = buffers_.create_buffer_pool({.required = 2, .max = 10}, nullptr);
  if (pool == nullptr) throw MalformedCase("too many channels");
  return pool;
}

void replay_gate(const Json& line) {
  GateReplay replay(line.at("gates"));
  std::size_t number = 0;
  for (const Json& step : line.at("steps")) {
    const std::string where = step_name(number++, step);
    Json got = Json::object();
    bool threw = false;
    try {
      replay.run(step, got);
    } catch (const base::InvariantViolation&) {
      threw = true;
    }
    expect_equal(where + "exception", step.contains("exception"), threw);
    if (threw) return;
    for (const auto& [name, value] : got.items()) expect_equal(where + name, step.at(name), value);
  }
}

const Registration kGate("network/gate.jsonl", &replay_gate);

}  // namespace
}  // namespace tailrace::golden
