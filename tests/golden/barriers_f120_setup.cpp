#include "tests/golden/barriers_f120_setup.hpp"

#include <algorithm>
#include <cstring>

namespace tailrace::golden::barriers_f120 {

Buffer SizedBuffers::make(std::int64_t number, std::uint32_t size) {
  bytes_.push_back(std::make_unique<std::byte[]>(size));
  if (size >= sizeof number) std::memcpy(bytes_.back().get(), &number, sizeof number);
  NetworkBuffer& segment = segments_.emplace_back(bytes_.back().get(), size);
  segment.lend(*this);
  ++out_;
  return Buffer(segment, 0, size);
}

std::int64_t SizedBuffers::number_of(const Buffer& buffer) {
  std::int64_t number = 0;
  if (buffer.size() >= sizeof number) std::memcpy(&number, buffer.bytes().data(), sizeof number);
  return number;
}

bool blocks_sender(const Item& item) {
  const auto* event = std::get_if<RuntimeEvent>(&item);
  if (event == nullptr) return false;
  const auto* barrier = std::get_if<CheckpointBarrier>(event);
  return barrier != nullptr && (barrier->options.alignment == AlignmentType::ALIGNED ||
                                barrier->options.alignment == AlignmentType::FORCED_ALIGNED);
}

// --- gate ----------------------------------------------------------------------------------------

namespace {

constexpr std::int32_t kSegmentBytes = 32 * 1024;
// More than a script ever leaves unread: its senders have no credit to wait for.
constexpr std::int32_t kBuffersPerChannel = 256;

}  // namespace

std::size_t ScriptedGate120::checked(ChannelIndex channel) const {
  if (channel < 0 || static_cast<std::size_t>(channel) >= handler_blocked_.size()) {
    throw MalformedCase("there is no channel " + std::to_string(channel));
  }
  return static_cast<std::size_t>(channel);
}

void ScriptedGate120::block_consumption(ChannelIndex channel) {
  handler_blocked_[checked(channel)] = 1;
}

void ScriptedGate120::resume_consumption(ChannelIndex channel) {
  handler_blocked_[checked(channel)] = 0;
  resumed_.push_back(channel);
  events_.add({{"e", "resume"}, {"ch", channel}});
}

Json ScriptedGate120::handler_blocked() const {
  Json blocked = Json::array();
  for (std::size_t i = 0; i < handler_blocked_.size(); ++i) {
    if (handler_blocked_[i] != 0) blocked.push_back(i);
  }
  return blocked;
}

RemoteGate::RemoteGate(std::int32_t channels, Events& events)
    : ScriptedGate120(channels, events),
      pool_((channels + 1) * kBuffersPerChannel, kSegmentBytes, semantics_),
      persisted_(events),
      sequence_numbers_(static_cast<std::size_t>(channels)) {
  config_.semantics = &semantics_;
  config_.exclusive_per_channel = kBuffersPerChannel;
  ports_.self = ProcessId{1};
  ports_.timers = &timers_;
  InputGateDescriptor descriptor;
  for (std::int32_t i = 0; i < channels; ++i) {
    descriptor.channels.push_back({{0, i, {1}}, 0, ProcessId{2}});
  }
  gate_ = std::make_unique<SingleInputGate>(
      descriptor,
      SingleInputGate::Environment{ports_, config_, pool_, *this, partitions_, next_channel_id_},
      [](const std::string&) {});
  gate_->set_channel_state_writer(persisted_, 0);
  for (std::int32_t i = 0; i < channels; ++i) {
    ids_.push_back(dynamic_cast<const RemoteInputChannel&>(gate_->channel(i)).id());
  }
  gate_->request_partitions();
}

RemoteGate::~RemoteGate() = default;

void RemoteGate::receive(ChannelIndex channel, Item item) {
  const std::size_t index = checked(channel);
  NetworkItem sent;
  if (const auto* buffer = std::get_if<Buffer>(&item)) {
    if (buffer->size() == 0 || buffer->size() > kSegmentBytes) {
      throw MalformedCase("size: " + std::to_string(buffer->size()));
    }
    sent.buffer = *buffer;
  } else {
    const auto& event = std::get<RuntimeEvent>(item);
    const auto* barrier = std::get_if<CheckpointBarrier>(&event);
    const bool priority = std::holds_alternative<EventAnnouncement>(event) ||
                          (barrier != nullptr && barrier->options.is_unaligned());
    sent.event = semantics_.serialize_event(event);
    sent.type = semantics_.data_type_of(event, priority);
  }
  BufferResponse header;
  header.receiver = ids_[index];
  header.sequence_number = sequence_numbers_[index]++;
  client_.receive(*semantics_.wire.make_buffer_response(wire_, header, sent));
}

std::optional<BufferOrEvent> RemoteGate::poll_next() {
  std::optional<BufferOrEvent> next = gate_->poll_next();
  TAILRACE_ASSERT_MSG(!gate_->has_failed(), "a channel has failed");
  if (next) polled_priority_ = next->has_priority;
  return next;
}

std::optional<CheckpointFailureReason> RemoteGate::checkpoint_started(
    const CheckpointBarrier& barrier) {
  events_.add({{"e", "started"}, {"cp", barrier.id}});
  return gate_->checkpoint_started(barrier);
}

void RemoteGate::checkpoint_stopped(CheckpointId id) {
  events_.add({{"e", "stopped"}, {"cp", id}});
  gate_->checkpoint_stopped(id);
}

void RemoteGate::convert_to_priority_event(ChannelIndex channel, std::int32_t sequence_number) {
  events_.add({{"e", "prioritize"}, {"ch", channel}, {"seq", sequence_number}});
  gate_->convert_to_priority_event(channel, sequence_number);
}

void RemoteGate::Persisted::add_input_data(CheckpointId id, InputChannelInfo channel, std::int32_t,
                                           std::vector<Buffer> data) {
  Json numbers = Json::array();
  for (const Buffer& buffer : data) numbers.push_back(SizedBuffers::number_of(buffer));
  events_.add({{"e", "persist"}, {"cp", id}, {"ch", channel.channel}, {"ids", numbers}});
}

// --- task ----------------------------------------------------------------------------------------

BarrierTask120::BarrierTask120(Kind kind, std::int32_t channels, bool after_finish)
    : BarrierTask120(
          kind, [channels](Events& to) { return std::make_unique<RemoteGate>(channels, to); },
          after_finish) {}

BarrierTask120::BarrierTask120(Kind kind, const MakeGate& make_gate, bool after_finish) {
  gate = make_gate(events);
  inputs = std::make_unique<f120::CheckpointableInputs>(
      std::vector<f120::CheckpointableInput*>{gate.get()});
  using Handler = f120::SingleCheckpointBarrierHandler;
  const Handler::Environment environment{*this, clock, this, this};
  if (kind == Kind::kTracker) {
    handler = std::make_unique<f120::CheckpointBarrierTracker>(inputs->channel_count(), *this,
                                                               clock, after_finish);
  } else {
    handler = std::make_unique<Handler>(kind == Kind::kAligned     ? Handler::Kind::kAligned
                                        : kind == Kind::kUnaligned ? Handler::Kind::kUnaligned
                                                                   : Handler::Kind::kAlternating,
                                        environment, *inputs, after_finish);
  }
  input = std::make_unique<f120::CheckpointedInputGate>(*gate, *handler);
}

BarrierTask120::~BarrierTask120() {
  input.reset();
  handler.reset();
  gate.reset();
}

void BarrierTask120::trigger_checkpoint_on_barrier(const CheckpointMetaData& meta,
                                                   const CheckpointOptions& options,
                                                   const AlignmentMetrics& metrics) {
  Json duration;
  Json bytes;
  if (metrics.is_final) {
    duration = metrics.duration_ns;
    bytes = metrics.bytes_processed;
  }
  events.add({{"e", "trigger"},
              {"cp", meta.id},
              {"alignNs", duration},
              {"alignBytes", bytes},
              {"startDelayNs", metrics.start_delay_ns},
              {"ts", meta.timestamp_ms},
              {"alignment", to_string(options.alignment)}});
  triggers.push_back({meta.id, metrics, options});
}

void BarrierTask120::abort_checkpoint_on_barrier(CheckpointId id, CheckpointFailureReason reason) {
  events.add({{"e", "abort"}, {"cp", id}, {"reason", to_string(reason)}});
  if (on_abort) on_abort(id);
}

void BarrierTask120::alignment_ended(CheckpointId id, const AlignmentMetrics& metrics) {
  for (Trigger& trigger : triggers) {
    if (trigger.id != id || trigger.metrics.is_final) continue;
    trigger.metrics = metrics;
    return;
  }
  throw Difference("alignment ended", "a trigger that waits for it", std::to_string(id));
}

std::optional<CheckpointFailureReason> BarrierTask120::init_inputs_checkpoint(
    CheckpointId id, const CheckpointOptions& options) {
  events.add({{"e", "initInputs"}, {"cp", id}, {"alignment", to_string(options.alignment)}});
  return std::nullopt;
}

TimerId BarrierTask120::schedule(Duration delay, Callback callback) {
  const std::uint64_t number = next_timer_++;
  events.add({{"e", "timer"}, {"timer", number}, {"delay", delay.ns / 1'000'000}});
  timers_.push_back({number, clock.now() + delay, std::move(callback)});
  return TimerId{number + 1};
}

void BarrierTask120::cancel(TimerId timer) {
  const std::uint64_t number = timer.value - 1;
  events.add({{"e", "timerCancelled"}, {"timer", number}});
  std::erase_if(timers_, [number](const Timer& one) { return one.number == number; });
}

bool BarrierTask120::run_timer(Time until) {
  std::size_t first = timers_.size();
  for (std::size_t i = 0; i < timers_.size(); ++i) {
    if (timers_[i].due > until) continue;
    if (first == timers_.size() || timers_[i].due < timers_[first].due) first = i;
  }
  if (first == timers_.size()) return false;
  Timer timer = std::move(timers_[first]);
  timers_.erase(timers_.begin() + static_cast<std::ptrdiff_t>(first));
  if (timer.due > clock.now()) clock.advance(timer.due - clock.now());
  events.add({{"e", "timerFires"}, {"timer", timer.number}});
  timer.callback();
  return true;
}

void BarrierTask120::expect_all_buffers_come_back() {
  input.reset();
  handler.reset();
  gate->close();
  expect_equal("segments that did not come back", 0, gate->outstanding());
  expect_equal("buffers that did not come back", 0, buffers.out());
}

// --- items ---------------------------------------------------------------------------------------

namespace {

CheckpointOptions options_of(const std::string& mode, Duration timeout) {
  CheckpointOptions options;
  if (mode == "aligned") return options;
  if (mode == "timeoutable") {
    options.aligned_checkpoint_timeout = timeout;
  } else if (mode == "unaligned") {
    options.alignment = AlignmentType::UNALIGNED;
  } else if (mode == "atLeastOnce") {
    options.alignment = AlignmentType::AT_LEAST_ONCE;
  } else if (mode == "forced" || mode == "forcedAligned") {
    options.alignment = AlignmentType::FORCED_ALIGNED;
    options.aligned_checkpoint_timeout = timeout;
  } else if (mode == "savepoint") {
    options.type = CheckpointType::SAVEPOINT;
  } else {
    throw MalformedCase("unknown mode of a barrier: " + mode);
  }
  return options;
}

}  // namespace

Item item_of(const Json& item, std::int64_t started_ms, Duration timeout, std::int64_t number,
             SizedBuffers& buffers) {
  const auto& kind = item.at("k").get_ref<const std::string&>();
  if (kind == "buffer") {
    const auto size = item.value("size", std::int64_t{0});
    if (size < 0 || size > 1 << 24) throw MalformedCase("size: " + std::to_string(size));
    return buffers.make(number, static_cast<std::uint32_t>(size));
  }
  if (kind == "barrier" || kind == "announcement") {
    CheckpointBarrier barrier{item.at("cp").get<std::int64_t>(), started_ms,
                              options_of(item.at("mode").get<std::string>(), timeout)};
    if (kind == "barrier") return RuntimeEvent(barrier);
    return RuntimeEvent(EventAnnouncement{barrier, 0});
  }
  if (kind == "cancel") {
    return RuntimeEvent(CancelCheckpointMarker{item.at("cp").get<std::int64_t>()});
  }
  if (kind == "eop") return RuntimeEvent(EndOfPartitionEvent{});
  throw MalformedCase("unknown kind of item: " + kind);
}

std::string kind_of(const RuntimeEvent& event) {
  if (std::holds_alternative<CheckpointBarrier>(event)) return "barrier";
  if (std::holds_alternative<CancelCheckpointMarker>(event)) return "cancel";
  if (std::holds_alternative<EventAnnouncement>(event)) return "announcement";
  if (std::holds_alternative<EndOfPartitionEvent>(event)) return "eop";
  throw Difference("event", "one of the script's", "another");
}

std::optional<CheckpointId> checkpoint_of(const RuntimeEvent& event) {
  if (const auto* barrier = std::get_if<CheckpointBarrier>(&event)) return barrier->id;
  if (const auto* marker = std::get_if<CancelCheckpointMarker>(&event)) return marker->id;
  if (const auto* announced = std::get_if<EventAnnouncement>(&event)) return announced->barrier.id;
  return std::nullopt;
}

}  // namespace tailrace::golden::barriers_f120
