// The pending-event set: what happens next, in the total order (time, order of scheduling).
//
// A monotone radix heap over 32-way digits of the integer time: nothing is scheduled before the
// last popped time, so an event waits in the bucket of the highest digit in which its time differs
// from the clock's, and moves to finer buckets as the clock nears. The nearest bucket, once small,
// is sorted into a front array, from which events leave.
//
// Invariants
//   Q1  Every event outside the front is later than front_last_, and lies in the bucket that
//       bucket_of(time) names now: equal times meet in one bucket, in order of scheduling.
//   Q2  A slot's word is the sequence number of its pending event, or a link of the free list with
//       kFree set. An entry whose number is not its slot's word was cancelled: it is dropped when
//       it is met, and all such entries at once when they pass a sixteenth of the pending ones.
//   Q3  last_ <= floor_ whenever a caller may schedule.
//
// Cost: schedule and pop O(log range) moves in the worst case, in practice three or four; cancel
// O(1) amortised. 32 bytes an event in chunks of 31, 4 to 5 bytes for its slot; nothing is
// allocated once chunks and slots have reached their peak.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/base/assert.hpp"
#include "sim/base/strong_id.hpp"
#include "sim/base/time.hpp"

namespace tailrace::sim {

using base::Duration;
using base::Time;

class EventHandler {
 public:
  virtual void on_event(std::uint64_t argument) = 0;

 protected:
  ~EventHandler() = default;
};

// Names one scheduling; 0 names none. An id that is older than 2^31 schedulings may be mistaken for
// a younger one, so drop ids of what has fired.
using EventId = base::StrongId<struct EventIdTag, std::uint64_t>;

class EventQueue {
 public:
  struct Event {
    Time time;
    EventHandler* handler;
    std::uint64_t argument;
    std::uint32_t slot;
    std::uint32_t sequence;  // modulo 2^31
  };
  static_assert(sizeof(Event) == 32);

  EventQueue();
  ~EventQueue();
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  // Requires: time is not before the last popped event, nor before a limit at which pop() found
  // nothing due. `handler` outlives the event or cancels it.
  EventId schedule(Time time, EventHandler& handler, std::uint64_t argument) {
    TAILRACE_ASSERT(time.ns >= floor_);
    const std::uint32_t slot = take_slot();
    const std::uint32_t sequence = next_sequence_;
    next_sequence_ = (next_sequence_ + 1) & ~kFree;
    slots_[slot] = sequence;
    ++live_;
    const Event event{time, &handler, argument, slot, sequence};
    if (time.ns <= front_last_) {
      insert_front(event);
    } else {
      append(bucket_of(time.ns), event);
    }
    return {(std::uint64_t{sequence} << 32) | (slot + 1)};
  }

  // Takes the next event that is due by `limit`. Returns: false if there is none.
  bool pop(Time limit, Event& out) {
    for (;;) {
      while (front_head_ != front_tail_) {
        const Event& event = front_[front_head_];
        if (event.time > limit) {
          floor_ = limit.ns;
          return false;
        }
        ++front_head_;
        if (slots_[event.slot] != event.sequence) {
          --dead_;
          continue;
        }
        release_slot(event.slot);
        --live_;
        floor_ = event.time.ns;
        out = event;
        return true;
      }
      if (!refill(limit.ns)) return false;
    }
  }

  // Returns: whether the event was pending. What has fired or was cancelled is ignored.
  bool cancel(EventId id) {
    if (!pending(id)) return false;
    release_slot(slot_of(id));
    --live_;
    ++dead_;
    if (dead_ > kFewDead && dead_ > live_ / 16) drop_cancelled();
    return true;
  }

  [[nodiscard]] bool pending(EventId id) const {
    const auto slot = static_cast<std::uint32_t>(id.value) - 1;
    return slot < slots_.size() && slots_[slot] == static_cast<std::uint32_t>(id.value >> 32);
  }

  [[nodiscard]] static std::uint32_t slot_of(EventId id) {
    return static_cast<std::uint32_t>(id.value) - 1;
  }

  [[nodiscard]] std::size_t size() const { return live_; }
  [[nodiscard]] bool empty() const { return live_ == 0; }
  // What the queue holds of the heap and in itself.
  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  static constexpr std::uint32_t kFree = 1U << 31;
  static constexpr unsigned kDigitBits = 5;
  static constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
  static constexpr std::size_t kLevels = 13;  // 13 * 5 bits cover 63
  static constexpr std::size_t kChunkEvents = 31;
  static constexpr std::size_t kBlockChunks = 32;
  static constexpr std::size_t kSortAtMost = 24;
  static constexpr std::size_t kFrontCapacity = 64;
  static constexpr std::size_t kFewDead = 256;

  struct Chunk {
    Chunk* next = nullptr;
    std::uint64_t unused = 0;  // 1008 bytes: chunks in a row start in different cache sets
    std::array<Event, kChunkEvents> events;
  };

  struct Bucket {
    Chunk* head = nullptr;
    Chunk* tail = nullptr;
    Event* write = nullptr;  // where the next event goes; == limit: a new chunk first
    Event* limit = nullptr;
    std::size_t count = 0;
  };

  [[nodiscard]] std::size_t bucket_of(std::int64_t time) const {
    const auto difference = static_cast<std::uint64_t>(time ^ last_) | 1;
    const unsigned level = (63U - static_cast<unsigned>(std::countl_zero(difference))) / kDigitBits;
    const auto digit = static_cast<std::size_t>(time >> (level * kDigitBits)) & (kDigits - 1);
    return level * kDigits + digit;
  }

  void append(std::size_t index, const Event& event) {
    masks_[index / kDigits] |= 1U << (index % kDigits);
    levels_ |= 1U << (index / kDigits);
    append_to(buckets_[index], event);
  }

  void append_to(Bucket& bucket, const Event& event) {
    if (bucket.write == bucket.limit) extend(bucket);
    *bucket.write++ = event;
    ++bucket.count;
  }

  std::uint32_t take_slot() {
    if (free_head_ == kNoSlot) grow_slots();
    const std::uint32_t slot = free_head_;
    free_head_ = slots_[slot] & ~kFree;
    return slot;
  }
  void release_slot(std::uint32_t slot) {
    slots_[slot] = free_head_ | kFree;
    free_head_ = slot;
  }

  void insert_front(const Event& event);
  void spill_front();
  bool refill(std::int64_t limit);
  void refill_from_run();
  void load_sorted(Bucket bucket);
  void split(Bucket bucket, std::int64_t sample, std::uint64_t difference);
  void extend(Bucket& bucket);
  void free_chunks(Bucket& bucket);
  void free_chunk(Chunk* chunk);
  void drop_cancelled();
  void drop_cancelled_in(Bucket& bucket, std::size_t skip);
  void grow_slots();

  static constexpr std::uint32_t kNoSlot = ~kFree;

  std::int64_t floor_ = 0;       // nothing may be scheduled before it
  std::int64_t last_ = 0;        // what the buckets are relative to
  std::int64_t front_last_ = 0;  // the last time that belongs to the front
  std::uint32_t front_head_ = 0;
  std::uint32_t front_tail_ = 0;
  bool run_mode_ = true;  // the front is of one single time; what does not fit waits in run_
  std::uint32_t next_sequence_ = 0;
  std::uint32_t free_head_ = kNoSlot;
  std::uint32_t levels_ = 0;  // levels with a bucket in use
  std::size_t live_ = 0;
  std::size_t dead_ = 0;
  std::vector<std::uint32_t> slots_;
  std::array<std::uint32_t, kLevels> masks_{};  // buckets in use, by level
  std::array<Bucket, kLevels * kDigits> buckets_{};
  std::array<Event, kFrontCapacity> front_;
  Bucket run_;
  std::size_t run_read_ = 0;  // events already taken from run_.head
  Chunk* free_chunks_ = nullptr;
  std::vector<std::unique_ptr<Chunk[]>> blocks_;
};

}  // namespace tailrace::sim
