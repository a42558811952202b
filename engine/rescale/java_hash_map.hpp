// A map that is walked in the order in which java.util.HashMap would be.
//
// Operator state is dealt out in the order of Java hash maps (spec rescale.md S-3.15), so the order
// decides which subtask gets which list item. Buckets with more than 8 keys become trees in Java;
// they are not modelled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/assert.hpp"

namespace tailrace::engine {

// java.lang.String.hashCode of UTF-8 text: over UTF-16 units, so characters beyond the basic plane
// count as two.
[[nodiscard]] std::uint32_t java_hash_of_text(std::string_view utf8);

// Not for large maps: a bucket is a list, as in Java.
template <typename Key, typename Value>
class JavaHashMap {
 public:
  // HashMap.put of a new key, or the value that the key has: the entry goes to the end of its
  // bucket, then the table may grow.
  Value& put_if_absent(std::uint32_t hash, const Key& key) {
    if (Value* found = find(hash, key)) return *found;
    bucket(hash).push_back(append(hash, key));
    if (entries_.size() * 4 > buckets_.size() * 3) grow();
    return entries_.back().value;
  }

  // HashMap.computeIfAbsent: the table grows at the start of the next call, whatever its key, and
  // the entry goes to the front of its bucket.
  Value& compute_if_absent(std::uint32_t hash, const Key& key) {
    if (entries_.size() * 4 > buckets_.size() * 3) grow();
    if (Value* found = find(hash, key)) return *found;
    std::vector<std::size_t>& list = bucket(hash);
    list.insert(list.begin(), append(hash, key));
    return entries_.back().value;
  }

  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

  // visit(const Key&, Value&) in Java's order.
  template <typename Visitor>
  void for_each(Visitor visit) {
    for (const std::vector<std::size_t>& list : buckets_) {
      for (const std::size_t at : list) visit(std::as_const(entries_[at].key), entries_[at].value);
    }
  }

 private:
  struct Entry {
    std::uint32_t hash;
    Key key;
    Value value;
  };
  // java.util.HashMap.DEFAULT_INITIAL_CAPACITY.
  static constexpr std::size_t kInitialCapacity = 16;

  static std::uint32_t spread(std::uint32_t hash) { return hash ^ (hash >> 16); }
  std::vector<std::size_t>& bucket(std::uint32_t hash) {
    return buckets_[spread(hash) & (buckets_.size() - 1)];
  }
  Value* find(std::uint32_t hash, const Key& key) {
    for (const std::size_t at : bucket(hash)) {
      if (entries_[at].hash == hash && entries_[at].key == key) return &entries_[at].value;
    }
    return nullptr;
  }
  std::size_t append(std::uint32_t hash, const Key& key) {
    entries_.push_back(Entry{hash, key, Value{}});
    return entries_.size() - 1;
  }
  // Doubles the table; each bucket splits in two, both in the old order.
  void grow() {
    std::vector<std::vector<std::size_t>> old(buckets_.size() * 2);
    old.swap(buckets_);
    for (const std::vector<std::size_t>& list : old) {
      for (const std::size_t at : list) bucket(entries_[at].hash).push_back(at);
    }
  }

  std::vector<Entry> entries_;  // in the order of insertion
  std::vector<std::vector<std::size_t>> buckets_ =
      std::vector<std::vector<std::size_t>>(kInitialCapacity);
};

}  // namespace tailrace::engine
