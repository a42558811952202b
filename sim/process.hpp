// What coroutine processes await: delays, signals and mailboxes; and who owns them.
//
// Whoever is woken is resumed by an event of its own, never inside the call that wakes it: all order
// comes from the event queue. A process that is killed while it waits takes its event or its place
// in the queue with it; a wake-up meant for one that dies before it runs goes to the next in line.
// What is awaited is never copied or moved; `co_await` it at once.
#pragma once

#include <coroutine>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "sim/base/process.hpp"
#include "sim/base/strong_id.hpp"
#include "sim/ring_buffer.hpp"
#include "sim/simulation.hpp"

namespace tailrace::sim {

using base::Process;

// Resumes `duration` later. See delay().
class [[nodiscard]] Delay final : public EventHandler {
 public:
  Delay(Simulation* simulation, Duration duration) : simulation_(simulation), duration_(duration) {}
  Delay(const Delay&) = delete;
  Delay& operator=(const Delay&) = delete;
  ~Delay() { simulation_->cancel(event_); }

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> frame) {
    frame_ = frame;
    event_ = simulation_->schedule(duration_, *this);
  }
  void await_resume() const noexcept {}

  void on_event(std::uint64_t) override {
    event_ = {};
    frame_.resume();  // *this may be gone afterwards
  }

 private:
  Simulation* simulation_;
  Duration duration_;
  std::coroutine_handle<> frame_;
  EventId event_;
};

// `co_await delay(simulation, 5_ms);` Even a delay of 0 lets everything due now go first.
inline Delay delay(Simulation& simulation, Duration duration) {
  return Delay(&simulation, duration);
}

class WaitQueue;

// One process that waits in a WaitQueue. Lies in the process's frame.
class Waiter : public EventHandler {
 public:
  explicit Waiter(WaitQueue* queue) : queue_(queue) {}
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  void await_suspend(std::coroutine_handle<> frame);
  void on_event(std::uint64_t argument) final;

 protected:
  virtual ~Waiter();
  [[nodiscard]] bool was_suspended() const { return static_cast<bool>(frame_); }

 private:
  friend class WaitQueue;
  enum class State : std::uint8_t { kIdle, kQueued, kWoken };

  WaitQueue* queue_;
  std::coroutine_handle<> frame_;
  Waiter* previous_ = nullptr;
  Waiter* next_ = nullptr;
  EventId event_;
  State state_ = State::kIdle;
  bool hand_on_ = false;
};

// First in, first out. Whoever still waits when the queue is destroyed never continues.
class WaitQueue {
 public:
  explicit WaitQueue(Simulation* simulation) : simulation_(simulation) {}
  WaitQueue(const WaitQueue&) = delete;
  WaitQueue& operator=(const WaitQueue&) = delete;
  ~WaitQueue();

  // Returns: false if nobody waits.
  bool wake_one();
  void wake_all();

  [[nodiscard]] std::size_t waiting() const { return waiting_.size; }
  // Woken, but not yet resumed.
  [[nodiscard]] std::size_t woken() const { return woken_.size; }

 private:
  friend class Waiter;
  struct List {
    Waiter* first = nullptr;
    Waiter* last = nullptr;
    std::size_t size = 0;
    void push_back(Waiter* waiter);
    void remove(Waiter* waiter);
  };

  void wake(Waiter* waiter, bool hand_on);

  Simulation* simulation_;
  List waiting_;
  List woken_;
};

// Something that happens now and then; keeps no memory of it.
class Signal {
 public:
  class [[nodiscard]] Wait final : public Waiter {
   public:
    using Waiter::Waiter;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_resume() const noexcept {}
  };

  explicit Signal(Simulation& simulation) : queue_(&simulation) {}

  // `co_await signal.wait();` resumes after the next notification.
  Wait wait() { return Wait(&queue_); }
  void notify_all() { queue_.wake_all(); }
  // Wakes whoever has waited longest. Returns: false if nobody waits.
  bool notify_one() { return queue_.wake_one(); }
  [[nodiscard]] std::size_t waiting() const { return queue_.waiting(); }

 private:
  WaitQueue queue_;
};

// An unbounded queue of messages; receivers are served in the order in which they came.
//
// Invariants
//   M1  Each woken receiver has a message reserved: items_.size() >= woken().
//   M2  Somebody waits only if every message is reserved.
template <typename T>
class Mailbox {
 public:
  class [[nodiscard]] Receive final : public Waiter {
   public:
    explicit Receive(Mailbox* mailbox) : Waiter(&mailbox->queue_), mailbox_(mailbox) {}
    [[nodiscard]] bool await_ready() const noexcept { return mailbox_->available(); }
    // Who was woken finds its message in front: those woken before it have taken theirs.
    T await_resume() {
      return was_suspended() ? mailbox_->items_.pop_front() : mailbox_->take_available();
    }

   private:
    Mailbox* mailbox_;
  };

  explicit Mailbox(Simulation& simulation) : queue_(&simulation) {}

  void push(T item) {
    items_.push_back(std::move(item));
    queue_.wake_one();
  }
  // `T item = co_await mailbox.receive();` does not suspend if a message is there for the taking.
  Receive receive() { return Receive(this); }
  std::optional<T> try_receive() {
    if (!available()) return std::nullopt;
    return take_available();
  }
  [[nodiscard]] std::size_t size() const { return items_.size(); }

 private:
  [[nodiscard]] bool available() const { return items_.size() > queue_.woken(); }
  // The first message that is not reserved.
  T take_available() { return items_.take(queue_.woken()); }

  RingBuffer<T> items_;
  WaitQueue queue_;
};

using SpawnId = base::StrongId<struct SpawnIdTag, std::uint64_t>;

// Owns running processes. Killing one destroys its frame; all are killed in the order of spawning
// when the group is destroyed.
class ProcessGroup final : public EventHandler {
 public:
  explicit ProcessGroup(Simulation& simulation) : simulation_(&simulation) {}
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;
  ~ProcessGroup() { kill_all(); }

  // The process starts with an event of its own at the present time.
  SpawnId spawn(Process process);
  // Requires: not called by the process itself. Ignores what has ended or was killed.
  void kill(SpawnId id);
  void kill_all();
  // Whether the process has been spawned and neither ended nor been killed.
  [[nodiscard]] bool alive(SpawnId id) const;

  void on_event(std::uint64_t argument) override;

 private:
  struct Member {
    Process process;
    EventId start;
  };
  void forget_ended();

  Simulation* simulation_;
  std::map<std::uint64_t, Member> members_;  // by id, hence in the order of spawning
  std::uint64_t next_id_ = 1;
  std::size_t sweep_at_ = 16;
};

}  // namespace tailrace::sim
