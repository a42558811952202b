#include "tests/golden/mixed_gate_f120.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace tailrace::golden::barriers_f120 {

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

MixedGate::MixedGate(const std::string& kinds, Events& events)
    : ScriptedGate120(static_cast<std::int32_t>(kinds.size()), events) {
  for (const char kind : kinds) {
    if (kind != 'R' && kind != 'L') throw MalformedCase("kinds: " + kinds);
    channels_.emplace_back().remote = kind == 'R';
  }
}

void MixedGate::receive(ChannelIndex index, Item item) {
  Channel& channel = at(index);
  const std::int32_t number = channel.next_sequence_number++;
  const auto* event = std::get_if<RuntimeEvent>(&item);
  const auto* barrier = event == nullptr ? nullptr : std::get_if<CheckpointBarrier>(event);
  if (barrier == nullptr) {
    if (channel.remote && channel.persister.is_pending() && std::holds_alternative<Buffer>(item)) {
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
  if (channel.remote && channel.persister.barrier_seen(copy.id) && copy.id > channel.last_barrier) {
    channel.last_barrier = copy.id;
    channel.last_barrier_number = number;
  }
  if (copy.options.is_unaligned()) {
    add_priority(index, {std::move(item), number});
    return;
  }
  channel.queue.push_back({std::move(item), number});
  if (channel.remote && copy.options.is_timeoutable()) {
    add_priority(index, {RuntimeEvent(EventAnnouncement{copy, number}), number});
  } else if (channel.queue.size() == 1) {
    signal_data(index);
  }
}

void MixedGate::add_priority(ChannelIndex index, Queued queued) {
  Channel& channel = at(index);
  const std::int32_t number = queued.sequence_number;
  channel.queue.insert(channel.queue.begin() + static_cast<std::ptrdiff_t>(channel.priority),
                       std::move(queued));
  if (++channel.priority == 1) signal_priority(index, number);
}

void MixedGate::signal_priority(ChannelIndex index, std::int32_t number) {
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

void MixedGate::signal_data(ChannelIndex index) {
  if (at(index).ended) return;
  if (std::find(turns_.begin(), turns_.end(), index) == turns_.end()) turns_.push_back(index);
}

std::optional<BufferOrEvent> MixedGate::poll_next() {
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

std::optional<CheckpointFailureReason> MixedGate::checkpoint_started(
    const CheckpointBarrier& barrier) {
  events_.add({{"e", "started"}, {"cp", barrier.id}});
  for (ChannelIndex index = 0; index < channel_count(); ++index) {
    Channel& channel = at(index);
    if (!channel.remote) continue;
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

void MixedGate::checkpoint_stopped(CheckpointId id) {
  events_.add({{"e", "stopped"}, {"cp", id}});
  for (Channel& channel : channels_) {
    channel.persister.stop(id);
    if (channel.last_barrier == id) {
      channel.last_barrier = kNoCheckpoint;
      channel.last_barrier_number.reset();
    }
  }
}

void MixedGate::convert_to_priority_event(ChannelIndex index, std::int32_t number) {
  events_.add({{"e", "prioritize"}, {"ch", index}, {"seq", number}});
  Channel& channel = at(index);
  if (!channel.remote) return;
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

void MixedGate::persist(CheckpointId id, ChannelIndex channel,
                        const std::vector<std::int64_t>& numbers) {
  events_.add({{"e", "persist"}, {"cp", id}, {"ch", channel}, {"ids", numbers}});
}

}  // namespace tailrace::golden::barriers_f120
