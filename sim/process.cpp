#include "sim/process.hpp"

#include <algorithm>

namespace tailrace::sim {

void WaitQueue::List::push_back(Waiter* waiter) {
  waiter->previous_ = last;
  waiter->next_ = nullptr;
  (last == nullptr ? first : last->next_) = waiter;
  last = waiter;
  ++size;
}

void WaitQueue::List::remove(Waiter* waiter) {
  (waiter->previous_ == nullptr ? first : waiter->previous_->next_) = waiter->next_;
  (waiter->next_ == nullptr ? last : waiter->next_->previous_) = waiter->previous_;
  waiter->previous_ = waiter->next_ = nullptr;
  --size;
}

void Waiter::await_suspend(std::coroutine_handle<> frame) {
  frame_ = frame;
  state_ = State::kQueued;
  queue_->waiting_.push_back(this);
}

void Waiter::on_event(std::uint64_t) {
  queue_->woken_.remove(this);
  state_ = State::kIdle;
  frame_.resume();  // *this may be gone afterwards
}

Waiter::~Waiter() {
  if (state_ == State::kQueued) queue_->waiting_.remove(this);
  if (state_ == State::kWoken) {
    queue_->simulation_->cancel(event_);
    queue_->woken_.remove(this);
    if (hand_on_) queue_->wake_one();
  }
}

WaitQueue::~WaitQueue() {
  while (woken_.first != nullptr) {
    Waiter* const waiter = woken_.first;
    simulation_->cancel(waiter->event_);
    woken_.remove(waiter);
    waiter->state_ = Waiter::State::kIdle;
  }
  while (waiting_.first != nullptr) {
    Waiter* const waiter = waiting_.first;
    waiting_.remove(waiter);
    waiter->state_ = Waiter::State::kIdle;
  }
}

void WaitQueue::wake(Waiter* waiter, bool hand_on) {
  waiting_.remove(waiter);
  woken_.push_back(waiter);
  waiter->state_ = Waiter::State::kWoken;
  waiter->hand_on_ = hand_on;
  waiter->event_ = simulation_->schedule(Duration{}, *waiter);
}

bool WaitQueue::wake_one() {
  if (waiting_.first == nullptr) return false;
  wake(waiting_.first, true);
  return true;
}

void WaitQueue::wake_all() {
  while (waiting_.first != nullptr) wake(waiting_.first, false);
}

SpawnId ProcessGroup::spawn(Process process) {
  if (members_.size() >= sweep_at_) forget_ended();
  const std::uint64_t id = next_id_++;
  const EventId start = simulation_->schedule(Duration{}, *this, id);
  members_.emplace(id, Member{std::move(process), start});
  return {id};
}

void ProcessGroup::on_event(std::uint64_t argument) {
  Member& member = members_.at(argument);
  member.start = {};
  member.process.start();
}

void ProcessGroup::kill(SpawnId id) {
  // Out of the map first: destructors in the frame may come back to the group.
  auto node = members_.extract(id.value);
  if (node.empty()) return;
  simulation_->cancel(node.mapped().start);
  node.mapped().process.kill();
}

void ProcessGroup::kill_all() {
  while (!members_.empty()) kill({members_.begin()->first});
}

bool ProcessGroup::alive(SpawnId id) const {
  const auto member = members_.find(id.value);
  return member != members_.end() && !member->second.process.done();
}

void ProcessGroup::forget_ended() {
  std::erase_if(members_, [](const auto& member) { return member.second.process.done(); });
  sweep_at_ = std::max<std::size_t>(16, members_.size() * 2);
}

}  // namespace tailrace::sim
