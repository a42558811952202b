#include "sim/simulation.hpp"

#include <array>
#include <utility>

namespace tailrace::sim {

TimedInvariantViolation::TimedInvariantViolation(const base::InvariantViolation& violation, Time at)
    : base::InvariantViolation(violation),
      at_(at),
      text_("at virtual time " + std::to_string(at.ns) + " ns: " + violation.what()) {}

// Pending callbacks in pages that never move, so that one can run where it lies while others come.
class Simulation::Callbacks final : public EventHandler {
 public:
  Callbacks() = default;
  Callbacks(const Callbacks&) = delete;
  Callbacks& operator=(const Callbacks&) = delete;
  // While everything is whole: what a callback holds may cancel others when it dies.
  ~Callbacks() {
    for (std::size_t i = 0; i < slot_of_.size(); ++i) at(static_cast<std::uint32_t>(i)).reset();
  }

  std::uint32_t put(base::Callback callback) {
    if (free_.empty()) add_page();
    const std::uint32_t index = free_.back();
    free_.pop_back();
    at(index) = std::move(callback);
    return index;
  }

  void pending_in(std::uint32_t event_slot, std::uint32_t index) {
    if (by_event_slot_.size() <= event_slot) by_event_slot_.resize(event_slot + 1, kNone);
    by_event_slot_[event_slot] = index;
    slot_of_[index] = event_slot;
  }

  void cancelled(std::uint32_t event_slot) {
    if (event_slot >= by_event_slot_.size() || by_event_slot_[event_slot] == kNone) return;
    give_back(std::exchange(by_event_slot_[event_slot], kNone));
  }

  void on_event(std::uint64_t argument) override {
    const auto index = static_cast<std::uint32_t>(argument);
    by_event_slot_[slot_of_[index]] = kNone;
    at(index)();
    give_back(index);
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr std::size_t kPageSize = 128;
  using Page = std::array<base::Callback, kPageSize>;

  base::Callback& at(std::uint32_t index) {
    return (*pages_[index / kPageSize])[index % kPageSize];
  }

  void give_back(std::uint32_t index) {
    // The destructor may schedule or cancel: the place is free only afterwards.
    at(index).reset();
    free_.push_back(index);
  }

  void add_page() {
    const std::size_t first = pages_.size() * kPageSize;
    pages_.push_back(std::make_unique<Page>());
    slot_of_.resize(first + kPageSize, 0);
    free_.reserve(first + kPageSize);
    for (std::size_t i = kPageSize; i-- > 0;) {
      free_.push_back(static_cast<std::uint32_t>(first + i));
    }
  }

  std::vector<std::unique_ptr<Page>> pages_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> slot_of_;        // by callback: the slot of its event
  std::vector<std::uint32_t> by_event_slot_;  // by slot of the event: its callback, if it has one
};

Simulation::Simulation() : callbacks_(std::make_unique<Callbacks>()) {}
Simulation::~Simulation() = default;

EventId Simulation::schedule(Duration delay, base::Callback callback) {
  TAILRACE_ASSERT(callback);
  const std::uint32_t index = callbacks_->put(std::move(callback));
  const EventId id = schedule(delay, *callbacks_, index);
  callbacks_->pending_in(EventQueue::slot_of(id), index);
  return id;
}

bool Simulation::cancel(EventId id) {
  if (!queue_.cancel(id)) return false;
  callbacks_->cancelled(EventQueue::slot_of(id));
  return true;
}

RunEnd Simulation::run(Time until, const std::atomic<bool>* interrupt) {
  TAILRACE_ASSERT(until >= now_);
  try {
    return loop(until, interrupt);
  } catch (const TimedInvariantViolation&) {
    throw;
  } catch (const base::InvariantViolation& violation) {
    throw TimedInvariantViolation(violation, now_);
  }
}

RunEnd Simulation::loop(Time until, const std::atomic<bool>* interrupt) {
  EventQueue::Event event;
  for (;;) {
    if (stop_requested_) {
      stop_requested_ = false;
      return RunEnd::kStopped;
    }
    if (interrupt != nullptr && events_processed_ % 1024 == 0 &&
        interrupt->load(std::memory_order_relaxed)) {
      return RunEnd::kInterrupted;
    }
    if (!queue_.pop(until, event)) break;
    now_ = event.time;
    ++events_processed_;
    trace_.fired(event.time, event.sequence);
    event.handler->on_event(event.argument);
  }
  if (until != Time::max()) now_ = until;
  return queue_.empty() ? RunEnd::kIdle : RunEnd::kHorizon;
}

}  // namespace tailrace::sim
