#include "tests/golden/barriers_f120_setup.hpp"

#include <algorithm>
#include <cstring>

namespace tailrace::golden::barriers_f120 {

Buffer SizedBuffers::make(std::int64_t number, std::uint32_t size) {
  constexpr auto kHead = static_cast<std::uint32_t>(sizeof number);
  bytes_.push_back(std::make_unique<std::byte[]>(kHead + size));
  std::memcpy(bytes_.back().get(), &number, sizeof number);
  NetworkBuffer& segment = segments_.emplace_back(bytes_.back().get(), kHead + size);
  segment.lend(*this);
  ++out_;
  return Buffer(segment, kHead, kHead + size);
}

std::int64_t SizedBuffers::number_of(const Buffer& buffer) {
  std::int64_t number = 0;
  std::memcpy(&number, buffer.bytes().data() - sizeof number, sizeof number);
  return number;
}

bool blocks_sender(const Item& item) {
  const auto* event = std::get_if<RuntimeEvent>(&item);
  if (event == nullptr) return false;
  const auto* barrier = std::get_if<CheckpointBarrier>(event);
  return barrier != nullptr && (barrier->options.alignment == AlignmentType::ALIGNED ||
                                barrier->options.alignment == AlignmentType::FORCED_ALIGNED);
}

// --- persister ----------------------------------------------------------------------------------

bool Persister::barrier_seen(CheckpointId id) {
  if (id < (status_ == Status::kCompleted ? last_seen_ + 1 : last_seen_)) return false;
  status_ = Status::kReceived;
  last_seen_ = id;
  return true;
}

bool Persister::start(CheckpointId id) {
  if (status_ == Status::kReceived && last_seen_ > id) return false;
  if (last_seen_ < id) {
    status_ = Status::kPending;
    last_seen_ = id;
  }
  return true;
}

void Persister::stop(CheckpointId id) {
  if (id < last_seen_) return;
  status_ = Status::kCompleted;
  last_seen_ = id;
}

// --- gate ----------------------------------------------------------------------------------------

PriorityGate::PriorityGate(std::vector<ChannelKind> kinds, Events& events) : events_(events) {
  for (const ChannelKind kind : kinds) {
    Channel& channel = channels_.emplace_back();
    channel.kind = kind;
  }
}

PriorityGate::Channel& PriorityGate::at(ChannelIndex channel) {
  if (channel < 0 || channel >= channel_count()) {
    throw MalformedCase("there is no channel " + std::to_string(channel));
  }
  return channels_[static_cast<std::size_t>(channel)];
}

void PriorityGate::receive(ChannelIndex index, Item item) {
  Channel& channel = at(index);
  const std::int32_t number = channel.next_sequence_number++;
  const auto* event = std::get_if<RuntimeEvent>(&item);
  const auto* barrier = event == nullptr ? nullptr : std::get_if<CheckpointBarrier>(event);
  const bool remote = channel.kind == ChannelKind::kRemote;
  if (barrier == nullptr) {
    if (remote && channel.persister.is_pending() && std::holds_alternative<Buffer>(item)) {
      persist(channel.persister.last_seen(), index,
              {SizedBuffers::number_of(std::get<Buffer>(item))});
    }
    const bool is_announcement =
        event != nullptr && std::holds_alternative<EventAnnouncement>(*event);
    if (is_announcement) {
      add_priority(index, {std::move(item), number});
      return;
    }
    channel.queue.push_back({std::move(item), number});
    if (channel.queue.size() == 1) signal_data(index);
    return;
  }

  const CheckpointBarrier copy = *barrier;
  if (remote && channel.persister.barrier_seen(copy.id) && copy.id > channel.last_barrier) {
    channel.last_barrier = copy.id;
    channel.last_barrier_number = number;
  }
  if (copy.options.is_unaligned()) {
    add_priority(index, {std::move(item), number});
    return;
  }
  channel.queue.push_back({std::move(item), number});
  if (remote && copy.options.is_timeoutable()) {
    add_priority(index, {RuntimeEvent(EventAnnouncement{copy, number}), number});
  } else if (channel.queue.size() == 1) {
    signal_data(index);
  }
}

void PriorityGate::add_priority(ChannelIndex index, Queued queued) {
  Channel& channel = at(index);
  const std::int32_t number = queued.sequence_number;
  channel.queue.insert(channel.queue.begin() + static_cast<std::ptrdiff_t>(channel.priority),
                       std::move(queued));
  if (++channel.priority == 1) signal_priority(index, number);
}

void PriorityGate::signal_priority(ChannelIndex index, std::int32_t number) {
  const Channel& channel = at(index);
  if (channel.ended || channel.last_polled_priority >= number) return;
  const auto found = std::find(turns_.begin(), turns_.end(), index);
  if (found != turns_.end()) {
    if (static_cast<std::size_t>(found - turns_.begin()) < priority_turns_) return;
    turns_.erase(found);
  }
  turns_.insert(turns_.begin() + static_cast<std::ptrdiff_t>(priority_turns_), index);
  ++priority_turns_;
}

void PriorityGate::signal_data(ChannelIndex index) {
  if (at(index).ended) return;
  if (std::find(turns_.begin(), turns_.end(), index) == turns_.end()) turns_.push_back(index);
}

std::optional<BufferOrEvent> PriorityGate::poll_next() {
  if (turns_.empty()) return std::nullopt;
  const ChannelIndex index = turns_.front();
  turns_.pop_front();
  if (priority_turns_ > 0) --priority_turns_;
  Channel& channel = at(index);
  Queued next = std::move(channel.queue.front());
  channel.queue.pop_front();
  polled_priority_ = channel.priority > 0;
  if (polled_priority_) {
    --channel.priority;
    channel.last_polled_priority = next.sequence_number;
  }
  const auto* event = std::get_if<RuntimeEvent>(&next.item);
  if (event != nullptr && std::holds_alternative<EndOfPartitionEvent>(*event)) {
    channel.ended = true;
    ++ended_;
  } else if (!channel.queue.empty()) {
    if (channel.priority > 0) {
      turns_.insert(turns_.begin() + static_cast<std::ptrdiff_t>(priority_turns_), index);
      ++priority_turns_;
    } else {
      turns_.push_back(index);
    }
  }
  return BufferOrEvent{index, std::move(next.item), !turns_.empty()};
}

void PriorityGate::block_consumption(ChannelIndex channel) {
  at(channel).handler_blocked = true;
}

void PriorityGate::resume_consumption(ChannelIndex channel) {
  at(channel).handler_blocked = false;
  resumed_.push_back(channel);
  events_.add({{"e", "resume"}, {"ch", channel}});
}

std::optional<CheckpointFailureReason> PriorityGate::checkpoint_started(
    const CheckpointBarrier& barrier) {
  events_.add({{"e", "started"}, {"cp", barrier.id}});
  for (ChannelIndex index = 0; index < channel_count(); ++index) {
    Channel& channel = at(index);
    if (channel.kind == ChannelKind::kPlain) continue;
    if (barrier.id < channel.last_barrier) return CheckpointFailureReason::CHECKPOINT_SUBSUMED;
    if (barrier.id > channel.last_barrier) {
      channel.last_barrier = kNoCheckpoint;
      channel.last_barrier_number.reset();
    }
    std::vector<std::int64_t> known;
    for (std::size_t i = channel.priority; i < channel.queue.size(); ++i) {
      const Queued& queued = channel.queue[i];
      const auto* buffer = std::get_if<Buffer>(&queued.item);
      if (buffer == nullptr) continue;
      if (channel.last_barrier_number && queued.sequence_number >= *channel.last_barrier_number) {
        break;
      }
      known.push_back(SizedBuffers::number_of(*buffer));
    }
    if (!channel.persister.start(barrier.id)) return CheckpointFailureReason::CHECKPOINT_SUBSUMED;
    if (!known.empty()) persist(barrier.id, index, known);
  }
  return std::nullopt;
}

void PriorityGate::checkpoint_stopped(CheckpointId id) {
  events_.add({{"e", "stopped"}, {"cp", id}});
  for (Channel& channel : channels_) {
    channel.persister.stop(id);
    if (channel.last_barrier == id) {
      channel.last_barrier = kNoCheckpoint;
      channel.last_barrier_number.reset();
    }
  }
}

void PriorityGate::convert_to_priority_event(ChannelIndex index, std::int32_t number) {
  events_.add({{"e", "prioritize"}, {"ch", index}, {"seq", number}});
  Channel& channel = at(index);
  if (channel.kind == ChannelKind::kPlain) return;
  std::size_t at_queue = channel.priority;
  while (at_queue < channel.queue.size() && channel.queue[at_queue].sequence_number != number) {
    ++at_queue;
  }
  TAILRACE_ASSERT(at_queue < channel.queue.size());
  Queued queued = std::move(channel.queue[at_queue]);
  const auto& barrier = std::get<CheckpointBarrier>(std::get<RuntimeEvent>(queued.item));
  TAILRACE_ASSERT(channel.last_barrier_number == number);
  TAILRACE_ASSERT(channel.last_barrier == barrier.id);
  channel.queue.erase(channel.queue.begin() + static_cast<std::ptrdiff_t>(at_queue));
  // Its number is that of its announcement, which may have been polled: that does not matter here.
  channel.last_polled_priority = std::min(channel.last_polled_priority, number - 1);
  add_priority(index, std::move(queued));
}

Json PriorityGate::handler_blocked() const {
  Json blocked = Json::array();
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    if (channels_[i].handler_blocked) blocked.push_back(i);
  }
  return blocked;
}

void PriorityGate::persist(CheckpointId id, ChannelIndex channel,
                           const std::vector<std::int64_t>& numbers) {
  events_.add({{"e", "persist"}, {"cp", id}, {"ch", channel}, {"ids", numbers}});
}

// --- task ----------------------------------------------------------------------------------------

BarrierTask120::BarrierTask120(Kind kind, std::vector<ChannelKind> channels, bool after_finish) {
  gate = std::make_unique<PriorityGate>(std::move(channels), events);
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
  triggers.push_back({meta.id, metrics});
}

void BarrierTask120::abort_checkpoint_on_barrier(CheckpointId id, CheckpointFailureReason reason) {
  events.add({{"e", "abort"}, {"cp", id}, {"reason", to_string(reason)}});
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
  gate.reset();
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
  } else if (mode == "forced") {
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
