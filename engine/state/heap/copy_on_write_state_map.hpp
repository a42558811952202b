// One key group of one state: a hash map that can be snapshotted by copying its bucket array.
//
// Flink 1.10 CopyOnWriteStateMap, CopyOnWriteStateMapSnapshot (spec state.md 2.2 to 2.4). While a
// snapshot is out, whatever it can see is copied before it is changed. Growth is incremental: every
// access moves at least four entries. Flink leaves dead entries to its garbage collector; here an
// entry that left the tables stays until the last snapshot that may see it is released.
//
// Every access takes the hash of (key, namespace), `state_map_hash`, computed once by the caller.
// Keys may be looked up by anything comparable to them (a string by a string_view).
//
// Invariants
//   M1  An entry that a live snapshot can see has entry_version < required_version; its key, hash
//       and next are never written again.
//   M2  Entries of primary bucket b < rehash_index are in the incremental table.
//   M3  Entries live in slabs: no allocation per insert in steady state.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/state/heap/large_memory.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {

// Source: Flink MathUtils.bitMix over key.hashCode() ^ namespace.hashCode().
[[nodiscard]] constexpr std::uint32_t state_map_hash(std::int32_t key_hash,
                                                     std::int32_t namespace_hash) {
  auto hash = static_cast<std::uint32_t>(key_hash ^ namespace_hash);
  hash ^= hash >> 16;
  hash *= 0x85ebca6bU;
  hash ^= hash >> 13;
  hash *= 0xc2b2ae35U;
  return hash ^ (hash >> 16);
}

// Flink VoidNamespace.
struct VoidNamespace {
  static constexpr std::int32_t kHash = 99;
  friend constexpr bool operator==(VoidNamespace, VoidNamespace) = default;
};

// How a state is copied before it is changed under a snapshot (Flink: its serializer's copy). A type
// that shares on copy construction (a shared_ptr) specialises this.
template <typename State>
struct StateCopy {
  static State copy(const State& state) { return state; }
};
template <typename Value>
struct StateCopy<std::shared_ptr<Value>> {
  static std::shared_ptr<Value> copy(const std::shared_ptr<Value>& state) {
    return state == nullptr ? nullptr : std::make_shared<Value>(*state);
  }
};

template <typename Key, typename Namespace, typename State>
class CopyOnWriteStateMap {
 public:
  struct Entry {
    Entry* next;
    std::uint32_t hash;
    std::int32_t entry_version;
    std::int32_t state_version;
    [[no_unique_address]] Namespace name_space;
    Key key;
    State state;
  };

  class Snapshot;

  static constexpr std::int64_t kDefaultCapacity = 128;
  static constexpr std::int64_t kMinimumCapacity = 4;
  static constexpr std::int64_t kMaximumCapacity = std::int64_t{1} << 30;
  static constexpr int kMinTransferredPerRehashStep = 4;

  // Requires: capacity >= 0.
  explicit CopyOnWriteStateMap(std::int64_t capacity = kDefaultCapacity) {
    TAILRACE_ASSERT(capacity >= 0);
    if (capacity == 0) {
      primary_ = Table(2);
      threshold_ = -1;  // the first insertion doubles
      return;
    }
    const std::int64_t length = std::clamp(
        static_cast<std::int64_t>(
            std::bit_ceil(static_cast<std::uint64_t>(std::min(capacity, kMaximumCapacity)))),
        kMinimumCapacity, kMaximumCapacity);
    primary_ = Table(static_cast<std::size_t>(length));
    threshold_ = threshold_of(length);
  }
  ~CopyOnWriteStateMap() {
    TAILRACE_ASSERT(live_snapshots_.empty());
    if constexpr (!std::is_trivially_destructible_v<Entry>) {
      destroy_chains(primary_);
      destroy_chains(incremental_);
    }
  }
  CopyOnWriteStateMap(const CopyOnWriteStateMap&) = delete;
  CopyOnWriteStateMap& operator=(const CopyOnWriteStateMap&) = delete;

  [[nodiscard]] std::int64_t size() const { return primary_size_ + incremental_size_; }

  // Null if absent. The state may be changed in place until the next snapshot: it is this map's own.
  template <typename K>
  [[nodiscard]] State* get(const K& key, const Namespace& name_space, std::uint32_t hash) {
    Entry** bucket = bucket_for(hash);
    for (Entry* entry = *bucket; entry != nullptr; entry = entry->next) {
      if (!matches(*entry, key, name_space, hash)) continue;
      if (entry->state_version < required_version_) {
        if (entry->entry_version < required_version_) entry = copy_chain_until(bucket, entry);
        entry->state_version = map_version_;
        entry->state = copy_state(entry->state);
      }
      return &entry->state;
    }
    return nullptr;
  }

  template <typename K>
  [[nodiscard]] bool contains_key(const K& key, const Namespace& name_space, std::uint32_t hash) {
    for (Entry* entry = *bucket_for(hash); entry != nullptr; entry = entry->next) {
      if (matches(*entry, key, name_space, hash)) return true;
    }
    return false;
  }

  template <typename K>
  void put(const K& key, const Namespace& name_space, std::uint32_t hash, State state) {
    const auto [entry, inserted] = put_entry(key, name_space, hash);
    if (inserted) {
      ::new (static_cast<void*>(&entry->state)) State(std::move(state));
    } else {
      entry->state = std::move(state);
    }
    entry->state_version = map_version_;
  }

  template <typename K>
  std::optional<State> put_and_get_old(const K& key, const Namespace& name_space,
                                       std::uint32_t hash, State state) {
    std::optional<State> old;
    const auto [entry, inserted] = put_entry(key, name_space, hash);
    if (inserted) {
      ::new (static_cast<void*>(&entry->state)) State(std::move(state));
    } else {
      old = entry->state_version < required_version_ ? copy_state(entry->state)
                                                     : std::move(entry->state);
      entry->state = std::move(state);
    }
    entry->state_version = map_version_;
    return old;
  }

  // Replaces the state by `f(old)`; `old` is null if there was none. One lookup for a read and a
  // write. `f` must not touch this map nor throw.
  template <typename K, typename F>
  State& transform(const K& key, const Namespace& name_space, std::uint32_t hash, F f) {
    const auto [entry, inserted] = put_entry(key, name_space, hash);
    if (inserted) {
      ::new (static_cast<void*>(&entry->state)) State(f(static_cast<State*>(nullptr)));
    } else if (entry->state_version < required_version_) {
      State own = copy_state(entry->state);
      entry->state = f(&own);
    } else {
      entry->state = f(&entry->state);
    }
    entry->state_version = map_version_;
    return entry->state;
  }

  template <typename K>
  bool remove(const K& key, const Namespace& name_space, std::uint32_t hash) {
    Entry* entry = unlink(key, name_space, hash);
    if (entry == nullptr) return false;
    discard(entry);
    return true;
  }

  template <typename K>
  std::optional<State> remove_and_get_old(const K& key, const Namespace& name_space,
                                          std::uint32_t hash) {
    Entry* entry = unlink(key, name_space, hash);
    if (entry == nullptr) return std::nullopt;
    std::optional<State> old =
        entry->state_version < required_version_ ? copy_state(entry->state) : entry->state;
    discard(entry);
    return old;
  }

  // Copies the bucket array, no entry. The map must outlive the snapshot.
  [[nodiscard]] Snapshot snapshot() { return Snapshot(*this); }

  // Live entries: the primary table's buckets, then the incremental one's.
  template <typename F>
  void for_each(F f) const {
    for (const Table* table : {&primary_, &incremental_}) {
      for (std::size_t b = 0; b < table->length; ++b) {
        for (const Entry* entry = table->slots[b]; entry != nullptr; entry = entry->next) f(*entry);
      }
    }
  }

  // For recordings, statistics and tests.
  [[nodiscard]] bool rehashing() const { return incremental_.length != 0; }
  [[nodiscard]] std::int64_t rehash_index() const {
    return static_cast<std::int64_t>(rehash_index_);
  }
  [[nodiscard]] std::int64_t primary_capacity() const {
    return static_cast<std::int64_t>(primary_.length);
  }
  [[nodiscard]] std::int64_t incremental_capacity() const {
    return static_cast<std::int64_t>(incremental_.length);
  }
  [[nodiscard]] std::int64_t primary_size() const { return primary_size_; }
  [[nodiscard]] std::int64_t incremental_size() const { return incremental_size_; }
  [[nodiscard]] std::int64_t threshold() const { return threshold_; }
  [[nodiscard]] std::int32_t version() const { return map_version_; }
  [[nodiscard]] std::int32_t required_version() const { return required_version_; }
  [[nodiscard]] std::int64_t modification_count() const { return modification_count_; }
  [[nodiscard]] std::int64_t entry_copies() const { return entry_copies_; }
  [[nodiscard]] std::int64_t state_copies() const { return state_copies_; }
  [[nodiscard]] std::int64_t rehash_steps() const { return rehash_steps_; }
  // Entries that are in no table and wait for the release of a snapshot.
  [[nodiscard]] std::size_t retired_count() const { return retired_.size(); }

 private:
  struct Table {
    struct Free {
      std::size_t bytes = 0;
      void operator()(Entry** array) const { free_large(array, bytes); }
    };
    Table() = default;
    explicit Table(std::size_t count)
        : memory(static_cast<Entry**>(allocate_large(count * sizeof(Entry*))),
                 Free{count * sizeof(Entry*)}),
          slots(memory.get()),
          length(count) {
      std::fill_n(slots, count, nullptr);
    }
    std::unique_ptr<Entry*, Free> memory;
    Entry** slots = nullptr;
    std::size_t length = 0;
  };

  // Slabs grow from small to large: most maps are one key group of 128 and hold little.
  class Pool {
   public:
    void* allocate() {
      if (free_ != nullptr) return std::exchange(free_, free_->next);
      if (left_ == 0) add_slab();
      --left_;
      return bump_++;
    }
    void deallocate(Entry* entry) { free_ = ::new (static_cast<void*>(entry)) Slot{free_}; }

   private:
    // Small entries do not straddle cache lines: an access touches one line.
    static constexpr std::size_t kLine = 64;
    static constexpr std::size_t kAlignment =
        sizeof(Entry) <= kLine ? std::bit_ceil(sizeof(Entry)) : alignof(Entry);
    union alignas(kAlignment) Slot {
      Slot* next;
      std::byte storage[sizeof(Entry)];
    };
    static constexpr std::size_t kFirstSlab = 16;
    static constexpr std::size_t kLargestSlab = 32768;

    struct Free {
      std::size_t bytes = 0;
      void operator()(Slot* slots) const { free_large(slots, bytes); }
    };

    void add_slab() {
      const std::size_t bytes = next_count_ * sizeof(Slot);
      slabs_.emplace_back(static_cast<Slot*>(allocate_large(bytes)), Free{bytes});
      bump_ = slabs_.back().get();
      left_ = next_count_;
      next_count_ = std::min(next_count_ * 2, kLargestSlab);
    }

    std::vector<std::unique_ptr<Slot, Free>> slabs_;
    Slot* free_ = nullptr;
    Slot* bump_ = nullptr;
    std::size_t left_ = 0;
    std::size_t next_count_ = kFirstSlab;
  };

  struct Retired {
    Entry* entry;
    std::int32_t version;  // of the map when the entry left its table
  };

  static constexpr std::int64_t threshold_of(std::int64_t capacity) {
    return capacity < kMaximumCapacity ? capacity / 2 + capacity / 4
                                       : std::numeric_limits<std::int32_t>::max() - 8;
  }

  template <typename K>
  static bool matches(const Entry& entry, const K& key, const Namespace& name_space,
                      std::uint32_t hash) {
    return entry.hash == hash && entry.key == key && entry.name_space == name_space;
  }

  // Performs the step of a running rehash that every access owes, then finds the bucket.
  Entry** bucket_for(std::uint32_t hash) {
    if (incremental_.length != 0) [[unlikely]] {
      rehash_step();
      if ((hash & (primary_.length - 1)) < rehash_index_) {
        return &incremental_.slots[hash & (incremental_.length - 1)];
      }
    }
    return &primary_.slots[hash & (primary_.length - 1)];
  }

  // Makes sure of an entry that may be written. A new one has no state yet.
  template <typename K>
  std::pair<Entry*, bool> put_entry(const K& key, const Namespace& name_space, std::uint32_t hash) {
    Entry** bucket = bucket_for(hash);
    for (Entry* entry = *bucket; entry != nullptr; entry = entry->next) {
      if (!matches(*entry, key, name_space, hash)) continue;
      if (entry->entry_version < required_version_) entry = copy_chain_until(bucket, entry);
      return {entry, false};
    }
    return {insert_entry(bucket, key, name_space, hash), true};
  }

  // Kept out of line, so that the access to a present entry is inlined: a value that travels through
  // memory would wait there for the cache misses of the stores before it.
  template <typename K>
  [[gnu::noinline]] Entry* insert_entry(Entry** bucket, const K& key, const Namespace& name_space,
                                        std::uint32_t hash) {
    ++modification_count_;
    const bool to_primary = is_primary(bucket);
    // The new entry goes where its bucket was before the doubling: both tables keep their memory.
    if (size() > threshold_) double_capacity();
    auto* entry = static_cast<Entry*>(pool_.allocate());
    ::new (static_cast<void*>(&entry->key)) Key(key);
    if constexpr (!std::is_empty_v<Namespace>) {
      ::new (static_cast<void*>(&entry->name_space)) Namespace(name_space);
    }
    entry->hash = hash;
    entry->entry_version = map_version_;
    entry->next = *bucket;
    *bucket = entry;
    ++(to_primary ? primary_size_ : incremental_size_);
    return entry;
  }

  template <typename K>
  Entry* unlink(const K& key, const Namespace& name_space, std::uint32_t hash) {
    Entry** bucket = bucket_for(hash);
    Entry* previous = nullptr;
    for (Entry* entry = *bucket; entry != nullptr; previous = entry, entry = entry->next) {
      if (!matches(*entry, key, name_space, hash)) continue;
      if (previous == nullptr) {
        *bucket = entry->next;
      } else {
        if (previous->entry_version < required_version_) {
          previous = copy_chain_until(bucket, previous);
        }
        previous->next = entry->next;
      }
      ++modification_count_;
      --(is_primary(bucket) ? primary_size_ : incremental_size_);
      return entry;
    }
    return nullptr;
  }

  [[nodiscard]] bool is_primary(Entry* const* bucket) const {
    return incremental_.length == 0 ||
           !(bucket >= incremental_.slots && bucket < incremental_.slots + incremental_.length);
  }

  // Replaces the stale entries from the bucket's head to `last` by copies; returns that of `last`.
  // Source: Flink 1.10 CopyOnWriteStateMap.handleChainedEntryCopyOnWrite.
  [[gnu::noinline]] Entry* copy_chain_until(Entry** bucket, const Entry* last) {
    Entry** link = bucket;
    for (;;) {
      Entry* current = *link;
      const bool found = current == last;
      if (current->entry_version < required_version_) {
        current = copy_entry(*current);
        *link = current;
      }
      if (found) return current;
      link = &current->next;
    }
  }

  // A copy with this map's version, sharing the state; the original stays for the snapshots.
  Entry* copy_entry(Entry& original) {
    ++entry_copies_;
    Entry* copy = ::new (pool_.allocate())
        Entry{original.next,       original.hash, map_version_,  original.state_version,
              original.name_space, original.key,  original.state};
    retired_.push_back({&original, map_version_});
    return copy;
  }

  State copy_state(const State& state) {
    ++state_copies_;
    return StateCopy<State>::copy(state);
  }

  // `entry` has left its table. Only a stale one can be seen by a snapshot.
  void discard(Entry* entry) {
    if (entry->entry_version < required_version_) {
      retired_.push_back({entry, map_version_});
    } else {
      destroy(entry);
    }
  }

  void destroy(Entry* entry) {
    entry->~Entry();
    pool_.deallocate(entry);
  }

  void double_capacity() {
    TAILRACE_ASSERT(!rehashing());
    const auto capacity = static_cast<std::int64_t>(primary_.length);
    if (capacity == kMaximumCapacity) return;
    incremental_ = Table(static_cast<std::size_t>(2 * capacity));
    threshold_ = threshold_of(2 * capacity);
  }

  // Moves whole buckets until at least four entries have moved or none is left.
  [[gnu::noinline]] void rehash_step() {
    ++rehash_steps_;
    std::int64_t transferred = 0;
    const std::size_t mask = incremental_.length - 1;
    std::size_t index = rehash_index_;
    while (transferred < kMinTransferredPerRehashStep) {
      Entry* entry = primary_.slots[index];
      while (entry != nullptr) {
        Entry* next = entry->next;
        if (entry->entry_version < required_version_) entry = copy_entry(*entry);
        Entry*& head = incremental_.slots[entry->hash & mask];
        entry->next = head;
        head = entry;
        entry = next;
        ++transferred;
      }
      primary_.slots[index] = nullptr;
      if (++index == primary_.length) {
        primary_size_ += incremental_size_;
        incremental_size_ = 0;
        primary_ = std::exchange(incremental_, Table());
        rehash_index_ = 0;
        return;
      }
    }
    primary_size_ -= transferred;
    incremental_size_ += transferred;
    rehash_index_ = index;
    // The entries of the next step are far apart in memory: fetch them while the caller works.
    const std::size_t ahead = std::min(index + 8, primary_.length);
    for (; index < ahead; ++index) __builtin_prefetch(primary_.slots[index], 1);
  }

  void release(std::int32_t version) {
    const auto at = std::find(live_snapshots_.begin(), live_snapshots_.end(), version);
    TAILRACE_ASSERT(at != live_snapshots_.end());
    live_snapshots_.erase(at);
    required_version_ = live_snapshots_.empty() ? 0 : live_snapshots_.back();
    // Left the tables before the oldest live snapshot was taken: nobody can see them any more.
    const std::int32_t oldest = live_snapshots_.empty() ? std::numeric_limits<std::int32_t>::max()
                                                        : live_snapshots_.front();
    const auto keep = std::find_if(retired_.begin(), retired_.end(),
                                   [&](const Retired& r) { return r.version >= oldest; });
    for (auto gone = retired_.begin(); gone != keep; ++gone) destroy(gone->entry);
    retired_.erase(retired_.begin(), keep);
  }

  static void destroy_chains(Table& table) {
    for (std::size_t b = 0; b < table.length; ++b) {
      for (Entry* entry = table.slots[b]; entry != nullptr;) {
        Entry* next = entry->next;
        entry->~Entry();
        entry = next;
      }
    }
  }

  Pool pool_;
  Table primary_;
  Table incremental_;  // without slots unless rehashing
  std::size_t rehash_index_ = 0;
  std::int64_t primary_size_ = 0;
  std::int64_t incremental_size_ = 0;
  std::int64_t threshold_ = 0;
  std::int32_t map_version_ = 0;
  std::int32_t required_version_ = 0;         // of the newest live snapshot; 0: none
  std::vector<std::int32_t> live_snapshots_;  // ascending
  std::vector<Retired> retired_;              // by ascending version
  std::int64_t modification_count_ = 0;
  std::int64_t entry_copies_ = 0;
  std::int64_t state_copies_ = 0;
  std::int64_t rehash_steps_ = 0;
};

// What a map contained at one moment, as long as it is not released.
template <typename Key, typename Namespace, typename State>
class CopyOnWriteStateMap<Key, Namespace, State>::Snapshot {
 public:
  // Where a walk that is done in pieces goes on.
  struct Cursor {
    std::size_t bucket = 0;
    const Entry* entry = nullptr;
  };

  Snapshot(Snapshot&& other) noexcept
      : map_(std::exchange(other.map_, nullptr)),
        version_(other.version_),
        size_(other.size_),
        buckets_(std::move(other.buckets_)) {}
  Snapshot& operator=(Snapshot&& other) noexcept {
    if (this != &other) {
      release();
      map_ = std::exchange(other.map_, nullptr);
      version_ = other.version_;
      size_ = other.size_;
      buckets_ = std::move(other.buckets_);
    }
    return *this;
  }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;
  ~Snapshot() { release(); }

  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] std::int64_t array_length() const {
    return static_cast<std::int64_t>(buckets_.size());
  }
  [[nodiscard]] std::int32_t version() const { return version_; }
  [[nodiscard]] bool released() const { return map_ == nullptr; }

  // Gives its entries back to the map. Idempotent.
  void release() {
    if (map_ == nullptr) return;
    std::exchange(map_, nullptr)->release(version_);
    buckets_ = {};
  }

  // Visits up to `limit` entries in array order from `cursor` on; returns how many there were, fewer
  // than `limit` only at the end. Requires: not released.
  template <typename F>
  std::int64_t visit(Cursor& cursor, std::int64_t limit, F f) const {
    TAILRACE_ASSERT(map_ != nullptr);
    // Entries of neighbouring buckets are far apart: two stages fetch them before they are needed.
    constexpr std::size_t kAhead = 16;
    std::int64_t visited = 0;
    const Entry* entry = cursor.entry;
    std::size_t bucket = cursor.bucket;
    const std::size_t end = buckets_.size();
    for (;;) {
      for (; entry != nullptr; entry = entry->next) {
        if (visited == limit) {
          cursor = {bucket, entry};
          return visited;
        }
        f(*entry);
        ++visited;
      }
      if (bucket == end) break;
      if (bucket + kAhead < end) __builtin_prefetch(buckets_[bucket + kAhead]);
      entry = buckets_[bucket++];
    }
    cursor = {bucket, nullptr};
    return visited;
  }

  template <typename F>
  void for_each(F f) const {
    Cursor cursor;
    visit(cursor, std::numeric_limits<std::int64_t>::max(), f);
  }

 private:
  friend class CopyOnWriteStateMap;

  explicit Snapshot(CopyOnWriteStateMap& map) : map_(&map), size_(map.size()) {
    TAILRACE_ASSERT(map.map_version_ < std::numeric_limits<std::int32_t>::max());
    version_ = ++map.map_version_;
    map.required_version_ = version_;
    map.live_snapshots_.push_back(version_);

    // Flink's array has room for every entry, because a filter flattens the chains in place.
    const Table& primary = map.primary_;
    const std::size_t moved = map.rehash_index_;
    const std::size_t length = std::max(moved + primary.length, static_cast<std::size_t>(size_));
    buckets_.reserve(length);
    buckets_.assign(primary.slots + moved, primary.slots + primary.length);
    if (map.rehashing()) {
      const Table& incremental = map.incremental_;
      Entry** const upper = incremental.slots + incremental.length / 2;
      buckets_.insert(buckets_.end(), incremental.slots, incremental.slots + moved);
      buckets_.insert(buckets_.end(), upper, upper + moved);
    }
    buckets_.resize(length);
  }

  CopyOnWriteStateMap* map_;
  std::int32_t version_ = 0;
  std::int64_t size_;
  std::vector<const Entry*> buckets_;
};

}  // namespace tailrace::engine
