#include "engine/rescale/round_robin_operator_state_repartitioner.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "engine/rescale/java_hash_map.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

using ListMetaInfo = OperatorStateHandle::StateMetaInfo;

// A stream is identified by its kind and name; this is also what Java's equals looks at.
struct DelegateKey {
  bool in_line = false;
  std::string name;
  friend bool operator==(const DelegateKey&, const DelegateKey&) = default;
};

// As stream_name(), which lives with the handles; here only to look at both kinds in one place.
DelegateKey key_of(const StreamStateHandle& handle) {
  if (const auto* file = std::get_if<FileStateHandle>(&handle)) return {false, file->path};
  return {true, std::get<ByteStreamStateHandle>(handle).name};
}

// S-3.14: a file handle hashes as its path, an in-line one as 31 * hash(name).
std::uint32_t hash_of(const DelegateKey& key) {
  const std::uint32_t hash = java_hash_of_text(key.name);
  return key.in_line ? 31 * hash : hash;
}

// One old subtask's part of one named state.
struct Part {
  StreamStateHandlePtr delegate;
  std::vector<std::int64_t> offsets;
};
using NameToParts = JavaHashMap<std::string, std::vector<Part>>;

// The names of a handle in the order of its Java map.
std::vector<const std::pair<std::string, ListMetaInfo>*> names_in_order(
    const OperatorStateHandle& handle) {
  JavaHashMap<std::string, const std::pair<std::string, ListMetaInfo>*> map;
  for (const auto& state : handle.states) {
    map.put_if_absent(java_hash_of_text(state.first), state.first) = &state;
  }
  std::vector<const std::pair<std::string, ListMetaInfo>*> names;
  names.reserve(map.size());
  map.for_each([&names](const std::string&, const auto* state) { names.push_back(state); });
  return names;
}

NameToParts group_by_name(const OperatorStatePerSubtask& old, DistributionMode mode) {
  NameToParts result;
  for (const std::vector<OperatorStateHandle>& subtask : old) {
    for (const OperatorStateHandle& handle : subtask) {
      for (const auto* state : names_in_order(handle)) {
        if (state->second.mode != mode) continue;
        result.compute_if_absent(java_hash_of_text(state->first), state->first)
            .push_back(Part{handle.delegate, state->second.offsets});
      }
    }
  }
  return result;
}

// The handles of new subtasks while they are put together, one for each delegate.
class MergeMaps {
 public:
  explicit MergeMaps(std::int32_t parallelism) : maps_(static_cast<std::size_t>(parallelism)) {}

  [[nodiscard]] std::size_t size() const { return maps_.size(); }

  OperatorStateHandle& handle(std::size_t subtask, const StreamStateHandlePtr& delegate) {
    const DelegateKey key = key_of(*delegate);
    OperatorStateHandle& handle = maps_[subtask].put_if_absent(hash_of(key), key);
    if (handle.delegate == nullptr) handle.delegate = delegate;
    return handle;
  }

  void put(std::size_t subtask, const StreamStateHandlePtr& delegate, const std::string& name,
           ListMetaInfo info) {
    OperatorStateHandle& target = handle(subtask, delegate);
    for (auto& [known, value] : target.states) {
      if (known != name) continue;
      value = std::move(info);
      return;
    }
    target.states.emplace_back(name, std::move(info));
  }

  OperatorStatePerSubtask take() {
    OperatorStatePerSubtask result(maps_.size());
    for (std::size_t i = 0; i < maps_.size(); ++i) {
      maps_[i].for_each([&result, i](const DelegateKey&, OperatorStateHandle& handle) {
        result[i].push_back(std::move(handle));
      });
    }
    return result;
  }

 private:
  std::vector<JavaHashMap<DelegateKey, OperatorStateHandle>> maps_;
};

// Walks the offsets of one name, part by part.
class PartCursor {
 public:
  explicit PartCursor(const std::vector<Part>& parts) : parts_(parts) {}

  // The next piece of at most `count` offsets; never across the border of a part. A part without
  // offsets gives one empty piece.
  struct Piece {
    const Part* part;
    std::vector<std::int64_t> offsets;
    std::size_t taken;
  };
  Piece next(std::size_t count) {
    const Part& part = parts_[part_];
    const std::size_t remaining = part.offsets.size() - offset_;
    const std::size_t taken = std::min(count, remaining);
    const auto begin = part.offsets.begin() + static_cast<std::ptrdiff_t>(offset_);
    Piece piece{&part, {begin, begin + static_cast<std::ptrdiff_t>(taken)}, taken};
    offset_ += taken;
    if (remaining <= count) {
      ++part_;
      offset_ = 0;
    }
    return piece;
  }

 private:
  const std::vector<Part>& parts_;
  std::size_t part_ = 0;
  std::size_t offset_ = 0;
};

// S-3.12. The extra items of a name go to the subtasks from `start` on; the next name starts behind.
void split(NameToParts& names, MergeMaps& merged) {
  const std::size_t parallelism = merged.size();
  std::size_t start = 0;
  names.for_each([&](const std::string& name, const std::vector<Part>& parts) {
    std::size_t total = 0;
    for (const Part& part : parts) total += part.offsets.size();
    const std::size_t base = total / parallelism;
    const std::size_t extra = total % parallelism;

    PartCursor cursor(parts);
    for (std::size_t i = 0; i < parallelism; ++i) {
      const std::size_t subtask = (start + i) % parallelism;
      std::size_t wanted = base + (i < extra ? 1 : 0);
      while (wanted > 0) {
        PartCursor::Piece piece = cursor.next(wanted);
        merged.put(subtask, piece.part->delegate, name,
                   ListMetaInfo{std::move(piece.offsets), DistributionMode::SPLIT_DISTRIBUTE});
        wanted -= piece.taken;
      }
    }
    start = (start + extra) % parallelism;
  });
}

void unite(NameToParts& names, MergeMaps& merged) {
  names.for_each([&merged](const std::string& name, const std::vector<Part>& parts) {
    for (const Part& part : parts) {
      for (std::size_t subtask = 0; subtask < merged.size(); ++subtask) {
        merged.put(subtask, part.delegate, name,
                   ListMetaInfo{part.offsets, DistributionMode::UNION});
      }
    }
  });
}

void broadcast(const std::string& name, const std::vector<Part>& parts, MergeMaps& merged) {
  for (std::size_t subtask = 0; subtask < merged.size(); ++subtask) {
    const Part& part = parts[subtask % parts.size()];
    merged.put(subtask, part.delegate, name,
               ListMetaInfo{part.offsets, DistributionMode::BROADCAST});
  }
}

}  // namespace

std::vector<std::string> RoundRobinOperatorStateRepartitioner::order_of_names(
    const OperatorStatePerSubtask& old, DistributionMode mode) {
  std::vector<std::string> order;
  group_by_name(old, mode).for_each(
      [&order](const std::string& name, const std::vector<Part>&) { order.push_back(name); });
  return order;
}

OperatorStatePerSubtask RoundRobinOperatorStateRepartitioner::repartition_state(
    const OperatorStatePerSubtask& old, std::int32_t new_parallelism) const {
  TAILRACE_ASSERT(new_parallelism >= 1);
  MergeMaps merged(new_parallelism);
  NameToParts union_names = group_by_name(old, DistributionMode::UNION);

  if (old.size() == merged.size()) {
    NameToParts partial;
    if (semantics_.redistribute_partly_reported_broadcast) {
      const std::size_t capacity = (old.size() + 63) / 64 * 64;
      group_by_name(old, DistributionMode::BROADCAST)
          .for_each([&](const std::string& name, std::vector<Part>& parts) {
            if (parts.size() >= capacity) return;
            partial.put_if_absent(java_hash_of_text(name), name) = std::move(parts);
          });
    }
    // Nothing is dealt out anew: SPLIT items stay where they are, however unevenly.
    if (union_names.empty() && partial.empty()) return old;
    for (std::size_t subtask = 0; subtask < old.size(); ++subtask) {
      for (const OperatorStateHandle& handle : old[subtask]) {
        OperatorStateHandle& target = merged.handle(subtask, handle.delegate);
        TAILRACE_ASSERT(target.states.empty());  // a subtask has one handle for each stream
        target.states = handle.states;
      }
    }
    unite(union_names, merged);
    partial.for_each([&merged](const std::string& name, const std::vector<Part>& parts) {
      broadcast(name, parts, merged);
    });
    return merged.take();
  }

  NameToParts split_names = group_by_name(old, DistributionMode::SPLIT_DISTRIBUTE);
  split(split_names, merged);
  unite(union_names, merged);
  group_by_name(old, DistributionMode::BROADCAST)
      .for_each([&merged](const std::string& name, const std::vector<Part>& parts) {
        broadcast(name, parts, merged);
      });
  return merged.take();
}

}  // namespace tailrace::engine
