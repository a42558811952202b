#include "sim/event_queue.hpp"

#include <algorithm>
#include <cstring>

namespace tailrace::sim {

EventQueue::EventQueue() = default;
EventQueue::~EventQueue() = default;

void EventQueue::grow_slots() {
  // A quarter at a time: doubling would waste up to 4 bytes an event.
  const std::size_t old_size = slots_.size();
  const std::size_t new_size = old_size + std::max<std::size_t>(64, old_size / 4);
  TAILRACE_ASSERT(new_size < kNoSlot);
  slots_.reserve(new_size);
  slots_.resize(new_size);
  for (std::size_t slot = new_size; slot-- > old_size;) {
    release_slot(static_cast<std::uint32_t>(slot));
  }
}

void EventQueue::extend(Bucket& bucket) {
  if (free_chunks_ == nullptr) {
    blocks_.push_back(std::make_unique_for_overwrite<Chunk[]>(kBlockChunks));
    for (std::size_t i = kBlockChunks; i-- > 0;) free_chunk(&blocks_.back()[i]);
  }
  Chunk* const chunk = free_chunks_;
  free_chunks_ = chunk->next;
  chunk->next = nullptr;
  if (bucket.tail == nullptr) {
    bucket.head = chunk;
  } else {
    bucket.tail->next = chunk;
  }
  bucket.tail = chunk;
  bucket.write = chunk->events.data();
  bucket.limit = bucket.write + kChunkEvents;
}

void EventQueue::free_chunk(Chunk* chunk) {
  chunk->next = free_chunks_;
  free_chunks_ = chunk;
}

void EventQueue::free_chunks(Bucket& bucket) {
  for (Chunk* chunk = bucket.head; chunk != nullptr;) {
    Chunk* const next = chunk->next;
    free_chunk(chunk);
    chunk = next;
  }
  bucket = Bucket{};
}

void EventQueue::insert_front(const Event& event) {
  if (run_mode_) {
    append_to(run_, event);
    return;
  }
  if (front_tail_ == kFrontCapacity) {
    const std::uint32_t count = front_tail_ - front_head_;
    if (count > kFrontCapacity / 2) {
      spill_front();
      if (event.time.ns <= front_last_) {
        append_to(run_, event);
      } else {
        append(bucket_of(event.time.ns), event);
      }
      return;
    }
    std::copy(front_.begin() + front_head_, front_.begin() + front_tail_, front_.begin());
    front_head_ = 0;
    front_tail_ = count;
  }
  std::uint32_t at = front_tail_++;
  while (at > front_head_ && front_[at - 1].time > event.time) {
    front_[at] = front_[at - 1];
    --at;
  }
  front_[at] = event;
}

// The front's span holds too many events to keep them sorted: hand them to finer buckets. Those
// buckets are empty, because the front covered their whole span.
void EventQueue::spill_front() {
  TAILRACE_ASSERT(floor_ >= last_);  // Q3
  last_ = floor_;
  front_last_ = floor_;
  run_mode_ = true;
  for (std::uint32_t i = front_head_; i < front_tail_; ++i) {
    const Event& event = front_[i];
    if (event.time.ns == floor_) {
      append_to(run_, event);
    } else {
      append(bucket_of(event.time.ns), event);
    }
  }
  front_head_ = front_tail_ = 0;
}

// Fills the empty front with the next events.
// Returns: false if nothing can be due by `limit`; the structure is then not ahead of it.
bool EventQueue::refill(std::int64_t limit) {
  for (;;) {
    front_head_ = front_tail_ = 0;
    if (run_.count != 0) {
      refill_from_run();
      return true;
    }
    if (levels_ == 0) {
      // Cancelled events may have led past the last popped time: go back, there is nothing left.
      last_ = front_last_ = floor_;
      run_mode_ = true;
      return false;
    }
    const auto level = static_cast<unsigned>(std::countr_zero(levels_));
    const auto digit = static_cast<unsigned>(std::countr_zero(masks_[level]));
    const unsigned shift = level * kDigitBits;
    const unsigned above = shift + kDigitBits;
    const std::int64_t prefix = above >= 64 ? 0 : (last_ >> above) << above;
    const std::int64_t first = prefix | (std::int64_t{digit} << shift);
    const std::int64_t last = first + ((std::int64_t{1} << shift) - 1);
    Bucket& source = buckets_[level * kDigits + digit];
    if (last > limit) {
      std::int64_t earliest = first;
      if (first <= limit) {
        earliest = Time::max().ns;
        std::size_t left = source.count;
        for (const Chunk* chunk = source.head; left > 0; chunk = chunk->next) {
          const std::size_t n = std::min(left, kChunkEvents);
          for (std::size_t i = 0; i < n; ++i) {
            earliest = std::min(earliest, chunk->events[i].time.ns);
          }
          left -= n;
        }
      }
      if (earliest > limit) {
        floor_ = limit;
        return false;
      }
    }
    const Bucket bucket = source;
    source = Bucket{};
    masks_[level] &= masks_[level] - 1;
    if (masks_[level] == 0) levels_ &= levels_ - 1;

    if (bucket.count <= kSortAtMost) {
      last_ = first;
      front_last_ = last;
      run_mode_ = false;
      load_sorted(bucket);
      return true;
    }
    const std::int64_t sample = bucket.head->events[0].time.ns;
    std::uint64_t difference = 0;
    std::size_t left = bucket.count;
    for (const Chunk* chunk = bucket.head; left > 0; chunk = chunk->next) {
      const std::size_t n = std::min(left, kChunkEvents);
      for (std::size_t i = 0; i < n; ++i) {
        difference |= static_cast<std::uint64_t>(chunk->events[i].time.ns ^ sample);
      }
      left -= n;
    }
    if (difference == 0) {
      last_ = front_last_ = sample;
      run_mode_ = true;
      run_ = bucket;
      run_read_ = 0;
    } else {
      split(bucket, sample, difference);
    }
  }
}

void EventQueue::refill_from_run() {
  const std::size_t n = std::min({run_.count, kChunkEvents - run_read_, kFrontCapacity});
  for (std::size_t i = 0; i < n; ++i) {
    const Event& event = run_.head->events[run_read_ + i];
    __builtin_prefetch(event.handler);
    __builtin_prefetch(&slots_[event.slot]);
    front_[i] = event;
  }
  front_tail_ = static_cast<std::uint32_t>(n);
  run_.count -= n;
  run_read_ += n;
  if (run_.count == 0) {
    free_chunks(run_);
    run_read_ = 0;
  } else if (run_read_ == kChunkEvents) {
    Chunk* const used = run_.head;
    run_.head = used->next;
    free_chunk(used);
    run_read_ = 0;
  }
}

// Sorts by counting, for each event, those before it: no branch depends on the times, which no
// predictor could guess, and each event moves once.
void EventQueue::load_sorted(Bucket bucket) {
  const std::size_t n = bucket.count;
  const Event* const events = bucket.head->events.data();
  std::array<std::uint32_t, kSortAtMost> rank{};
  for (std::size_t i = 0; i < n; ++i) {
    __builtin_prefetch(events[i].handler);
    __builtin_prefetch(&slots_[events[i].slot]);
    const std::int64_t time = events[i].time.ns;
    std::uint32_t before = 0;
    for (std::size_t j = 0; j < i; ++j) {
      const std::uint32_t not_after = events[j].time.ns <= time ? 1U : 0U;
      before += not_after;
      rank[j] += 1U - not_after;
    }
    rank[i] += before;
  }
  for (std::size_t i = 0; i < n; ++i) front_[rank[i]] = events[i];
  front_tail_ = static_cast<std::uint32_t>(n);
  free_chunk(bucket.head);
}

void EventQueue::split(Bucket bucket, std::int64_t sample, std::uint64_t difference) {
  const unsigned level = (63U - static_cast<unsigned>(std::countl_zero(difference))) / kDigitBits;
  const unsigned above = (level + 1) * kDigitBits;
  last_ = above >= 64 ? 0 : (sample >> above) << above;
  std::size_t left = bucket.count;
  for (Chunk* chunk = bucket.head; chunk != nullptr;) {
    const std::size_t n = std::min(left, kChunkEvents);
    for (std::size_t i = 0; i < n; ++i) {
      append(bucket_of(chunk->events[i].time.ns), chunk->events[i]);
    }
    left -= n;
    Chunk* const next = chunk->next;
    free_chunk(chunk);
    chunk = next;
  }
}

void EventQueue::drop_cancelled_in(Bucket& bucket, std::size_t skip) {
  Bucket kept;
  std::size_t left = bucket.count;
  for (Chunk* chunk = bucket.head; chunk != nullptr;) {
    const std::size_t n = std::min(left, kChunkEvents - skip);
    // Slots lie anywhere: ask for a chunk's worth of them before the first is needed.
    for (std::size_t i = skip; i < skip + n; ++i)
      __builtin_prefetch(&slots_[chunk->events[i].slot]);
    for (std::size_t i = skip; i < skip + n; ++i) {
      const Event& event = chunk->events[i];
      if (slots_[event.slot] == event.sequence) append_to(kept, event);
    }
    left -= n;
    skip = 0;
    Chunk* const next = chunk->next;
    free_chunk(chunk);
    chunk = next;
  }
  bucket = kept;
}

void EventQueue::drop_cancelled() {
  for (std::size_t level = 0; level < kLevels; ++level) {
    for (std::uint32_t mask = masks_[level]; mask != 0; mask &= mask - 1) {
      const auto digit = static_cast<std::size_t>(std::countr_zero(mask));
      Bucket& bucket = buckets_[level * kDigits + digit];
      drop_cancelled_in(bucket, 0);
      if (bucket.count == 0) masks_[level] &= ~(1U << digit);
    }
    if (masks_[level] == 0) levels_ &= ~(1U << level);
  }
  drop_cancelled_in(run_, run_read_);
  run_read_ = 0;
  std::uint32_t kept = front_head_;
  for (std::uint32_t i = front_head_; i < front_tail_; ++i) {
    const Event event = front_[i];
    if (slots_[event.slot] == event.sequence) front_[kept++] = event;
  }
  front_tail_ = kept;
  dead_ = 0;
}

std::size_t EventQueue::memory_bytes() const {
  return sizeof(*this) + slots_.capacity() * sizeof(slots_[0]) +
         blocks_.size() * (kBlockChunks * sizeof(Chunk)) + blocks_.capacity() * sizeof(blocks_[0]);
}

}  // namespace tailrace::sim
