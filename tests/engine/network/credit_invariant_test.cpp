// Credit is neither lost nor invented, whatever happens at the two ends of a connection (R1 of
// engine/network/remote_input_channel.hpp), in both generations.
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "engine/network/local_buffer_pool.hpp"
#include "engine/network/network_buffer_pool.hpp"
#include "engine/network/partition_request_client.hpp"
#include "engine/network/partition_request_queue.hpp"
#include "engine/network/pipelined_subpartition.hpp"
#include "engine/network/remote_input_channel.hpp"
#include "engine/network/result_partition_manager.hpp"
#include "engine/network/single_input_gate.hpp"

namespace tailrace::engine {
namespace {

constexpr std::uint32_t kBytes = 16;
constexpr std::size_t kChannels = 2;

// Messages in the order in which they were sent; written at once.
class Way final : public MessageSink {
 public:
  void send(WireMessageHandle message, bool flow_controlled) override {
    messages.push_back(std::move(message));
    if (flow_controlled && on_written) on_written();
  }
  [[nodiscard]] bool is_writable() const override { return writable; }

  std::deque<WireMessageHandle> messages;
  base::InplaceFunction<void()> on_written;
  bool writable = true;
};

class IdleTimers final : public Timers {
 public:
  TimerId schedule(Duration, Callback) override { return {1}; }
  void cancel(TimerId) override {}
};

// Segments that a sender writes; never given back, because nobody counts them.
class SenderMemory final : public BufferRecycler {
 public:
  NetworkBuffer& make() {
    data_.push_back(std::make_unique<std::byte[]>(kBytes));
    all_.push_back(std::make_unique<NetworkBuffer>(data_.back().get(), kBytes));
    all_.back()->lend(*this);
    return *all_.back();
  }
  void recycle(NetworkBuffer&) override {}

 private:
  std::vector<std::unique_ptr<std::byte[]>> data_;
  std::vector<std::unique_ptr<NetworkBuffer>> all_;
};

class Connection final : public ConnectionManager {
 public:
  Connection(const NetworkSemantics& semantics, std::int32_t exclusive, std::int32_t floating)
      : semantics_(semantics) {
    config_.semantics = &semantics;
    config_.exclusive_per_channel = exclusive;
    config_.floating_per_gate = floating;
    ports_.self = {1};
    ports_.timers = &timers_;
    to_sender_.on_written = [this] { client_.on_written(); };
    to_receiver_.on_written = [this] { queue_.on_written(); };
    InputGateDescriptor descriptor;
    for (std::size_t i = 0; i < kChannels; ++i) {
      const auto index = static_cast<std::int32_t>(i);
      descriptor.channels.push_back({{0, index, {1}}, index, {2}});
      subpartitions_.push_back(std::make_unique<PipelinedSubpartition>(
          nullptr, semantics, ResultSubpartitionInfo{0, index}, exclusive));
      open_.push_back(nullptr);
      waits_for_resume_.push_back(false);
    }
    gate_ = std::make_unique<SingleInputGate>(
        descriptor,
        SingleInputGate::Environment{ports_, config_, global_, *this, partitions_,
                                     next_channel_id_},
        [](const std::string&) {});
    gate_->request_partitions();
  }
  ~Connection() {
    polled_.clear();
    held_.clear();
  }

  PartitionRequestClient& create_partition_request_client(ProcessId, std::int32_t) override {
    return client_;
  }
  void close_channel(PartitionRequestClient&, const RemoteInputChannel& channel) override {
    client_.close(channel);
  }

  void write(std::size_t channel, std::uint32_t bytes, bool finish) {
    NetworkBuffer& segment = memory_.make();
    segment.commit(bytes);
    if (finish) segment.finish();
    append(channel, BufferConsumer(segment));
    if (!finish) open_[channel] = &segment;
  }
  void event(std::size_t channel, const RuntimeEvent& event, bool priority) {
    append(channel, BufferConsumer(semantics_.serialize_event(event),
                                   semantics_.data_type_of(event, priority)));
  }
  void flush(std::size_t channel) {
    PipelinedSubpartition& target = *subpartitions_[channel];
    if (target.flush()) target.notify_data_available();
  }
  void set_writable(bool sender, bool writable) {
    (sender ? to_receiver_ : to_sender_).writable = writable;
    if (!writable) return;
    if (sender) {
      queue_.on_written();
    } else {
      client_.on_written();
    }
  }

  void deliver_to_receiver() {
    if (to_receiver_.messages.empty()) return;
    const WireMessageHandle message = std::move(to_receiver_.messages.front());
    to_receiver_.messages.pop_front();
    if (kind_of(*message) == MessageKind::kBufferResponse) {
      const BufferResponse one = semantics_.wire.parse_buffer_response(*message);
      if (is_blocking_upstream(one.type)) waits_for_resume_[channel_of(one.receiver)] = true;
    }
    client_.receive(*message);
  }
  void deliver_to_sender() {
    if (to_sender_.messages.empty()) return;
    const WireMessageHandle message = std::move(to_sender_.messages.front());
    to_sender_.messages.pop_front();
    switch (kind_of(*message)) {
      case MessageKind::kPartitionRequest: {
        const PartitionRequest one = semantics_.wire.parse_partition_request(*message);
        const auto channel = static_cast<std::size_t>(one.subpartition);
        queue_.add_reader(one.receiver, one.credit, *subpartitions_[channel], one.subpartition);
        return;
      }
      case MessageKind::kAddCredit: {
        const AddCredit one = semantics_.wire.parse_add_credit(*message);
        queue_.add_credit(one.receiver, one.credit);
        return;
      }
      case MessageKind::kResumeConsumption: {
        const InputChannelId receiver = parse_resume_consumption(*message);
        waits_for_resume_[channel_of(receiver)] = false;
        queue_.resume_consumption(receiver);
        return;
      }
      default:
        RC_FAIL("a message that no receiver of this test sends");
    }
  }

  // The task reads one item; a barrier that blocked its sender lets it go on at once.
  void poll() {
    std::optional<BufferOrEvent> next = gate_->poll_next();
    if (!next) return;
    if (next->is_buffer()) {
      polled_.push_back(std::move(std::get<Buffer>(next->item)));
    } else if (const auto* barrier = std::get_if<CheckpointBarrier>(&next->event())) {
      if (barrier->options.needs_alignment() && semantics_.subpartition_numbers_items) {
        gate_->resume_consumption(next->channel);
      }
    }
  }
  void recycle(std::size_t which) {
    if (polled_.empty()) return;
    polled_.erase(polled_.begin() + static_cast<std::ptrdiff_t>(which % polled_.size()));
  }
  void hold() {
    if (NetworkBuffer* segment = gate_->buffer_pool()->request_buffer()) {
      held_.emplace_back(*segment, 0, 0);
    }
  }
  void unhold() {
    if (!held_.empty()) held_.pop_back();
  }

  void check() const {
    for (std::size_t i = 0; i < kChannels; ++i) {
      const RemoteInputChannel& channel = channel_at(i);
      // Without buffers of its own a channel gives all back while its sender is blocked.
      if (waits_for_resume_[i] && config_.exclusive_per_channel == 0) continue;
      std::int32_t credit = channel.unannounced_credit();
      if (const auto reader = queue_.find_reader(channel.id())) credit += reader->credit;
      for (const auto& message : to_sender_.messages) credit += credit_in(*message, channel.id());
      for (const auto& message : to_receiver_.messages) {
        if (kind_of(*message) != MessageKind::kBufferResponse) continue;
        const BufferResponse one = semantics_.wire.parse_buffer_response(*message);
        if (one.receiver == channel.id() && one.is_buffer()) ++credit;
      }
      RC_ASSERT(credit == channel.available_buffers());
    }
  }
  // With everything read and given back no segment is missing.
  void expect_all_come_home() {
    polled_.clear();
    held_.clear();
    gate_.reset();
    RC_ASSERT(global_.outstanding_segments() == 0);
  }

 private:
  void append(std::size_t channel, BufferConsumer consumer) {
    if (open_[channel] != nullptr) std::exchange(open_[channel], nullptr)->finish();
    PipelinedSubpartition& target = *subpartitions_[channel];
    if (target.add(std::move(consumer))) target.notify_data_available();
  }
  [[nodiscard]] const RemoteInputChannel& channel_at(std::size_t index) const {
    return dynamic_cast<const RemoteInputChannel&>(
        gate_->channel(static_cast<ChannelIndex>(index)));
  }
  [[nodiscard]] std::size_t channel_of(InputChannelId id) const {
    std::size_t index = 0;
    while (channel_at(index).id() != id) ++index;
    return index;
  }
  [[nodiscard]] std::int32_t credit_in(const WireMessage& message, InputChannelId id) const {
    if (kind_of(message) == MessageKind::kPartitionRequest) {
      const PartitionRequest one = semantics_.wire.parse_partition_request(message);
      return one.receiver == id ? one.credit : 0;
    }
    if (kind_of(message) != MessageKind::kAddCredit) return 0;
    const AddCredit one = semantics_.wire.parse_add_credit(message);
    return one.receiver == id ? one.credit : 0;
  }

  const NetworkSemantics& semantics_;
  NetworkConfig config_;
  Ports ports_;
  IdleTimers timers_;
  SenderMemory memory_;
  WirePool wire_;
  Way to_receiver_;
  Way to_sender_;
  std::vector<std::unique_ptr<PipelinedSubpartition>> subpartitions_;
  std::vector<NetworkBuffer*> open_;
  PartitionRequestQueue queue_{to_receiver_, wire_, semantics_};
  NetworkBufferPool global_{64, kBytes, semantics_};
  ResultPartitionManager partitions_;
  std::uint64_t next_channel_id_ = 0;
  PartitionRequestClient client_{to_sender_, wire_, semantics_};
  std::unique_ptr<SingleInputGate> gate_;
  std::vector<bool> waits_for_resume_;  // by channel: a barrier has arrived, its resume has not
  std::vector<Buffer> polled_;
  std::vector<Buffer> held_;
};

void run_random_script(const NetworkSemantics& semantics, std::int32_t least_exclusive) {
  const std::int32_t exclusive = *rc::gen::inRange(least_exclusive, 4);
  const std::int32_t floating = *rc::gen::inRange(1, 6);
  Connection connection(semantics, exclusive, floating);
  connection.check();
  CheckpointId checkpoint = 0;
  const int steps = *rc::gen::inRange(0, 120);
  for (int i = 0; i < steps; ++i) {
    const auto channel = *rc::gen::inRange<std::size_t>(0, kChannels);
    switch (*rc::gen::inRange(0, 14)) {
      case 0:
      case 1:
      case 2:
        connection.write(channel, *rc::gen::inRange(1U, kBytes), true);
        break;
      case 3:
        connection.write(channel, *rc::gen::inRange(0U, kBytes), false);
        break;
      case 4:
        connection.flush(channel);
        break;
      case 5: {
        CheckpointBarrier barrier{++checkpoint, 0, {}};
        const bool priority = semantics.subpartition_numbers_items && *rc::gen::arbitrary<bool>();
        if (priority) barrier.options.alignment = AlignmentType::UNALIGNED;
        connection.event(channel, barrier, priority);
        break;
      }
      case 6:
        connection.event(channel, CancelCheckpointMarker{checkpoint}, false);
        break;
      case 7:
      case 8:
        connection.deliver_to_receiver();
        break;
      case 9:
        connection.deliver_to_sender();
        break;
      case 10:
        connection.poll();
        break;
      case 11:
        connection.recycle(*rc::gen::inRange<std::size_t>(0, 64));
        break;
      case 12:
        if (*rc::gen::arbitrary<bool>()) {
          connection.hold();
        } else {
          connection.unhold();
        }
        break;
      default:
        connection.set_writable(*rc::gen::arbitrary<bool>(), *rc::gen::arbitrary<bool>());
        break;
    }
    connection.check();
  }
  connection.expect_all_come_home();
}

RC_GTEST_PROP(CreditInvariant, HoldsIn110, ()) {
  run_random_script(network_semantics_110(), 1);
}

RC_GTEST_PROP(CreditInvariant, HoldsIn120AlsoWithoutExclusiveBuffers, ()) {
  run_random_script(network_semantics_120(), 0);
}

}  // namespace
}  // namespace tailrace::engine
