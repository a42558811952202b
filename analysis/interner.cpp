#include "analysis/interner.hpp"

#include <limits>

#include "sim/base/assert.hpp"
#include "sim/base/hash.hpp"

namespace tailrace::analysis {

std::string_view Interner::text(std::uint32_t id) const {
  TAILRACE_ASSERT(id < size());
  const std::uint64_t begin = id == 0 ? 0 : ends_[id - 1];
  return std::string_view(bytes_).substr(begin, ends_[id] - begin);
}

std::uint32_t Interner::id(std::string_view text) {
  if (2 * (ends_.size() + 1) > slots_.size()) grow();
  const std::uint64_t hash = base::hash_bytes(text);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = hash & mask;; slot = (slot + 1) & mask) {
    if (slots_[slot] == 0) {
      TAILRACE_ASSERT(size() < std::numeric_limits<std::uint32_t>::max() - 1);
      bytes_ += text;
      ends_.push_back(bytes_.size());
      hashes_.push_back(hash);
      slots_[slot] = size();
      return size() - 1;
    }
    const std::uint32_t candidate = slots_[slot] - 1;
    if (hashes_[candidate] == hash && this->text(candidate) == text) return candidate;
  }
}

void Interner::grow() {
  const std::size_t capacity = slots_.empty() ? 64 : 2 * slots_.size();
  slots_.assign(capacity, 0);
  for (std::uint32_t id = 0; id < size(); ++id) {
    std::size_t slot = hashes_[id] & (capacity - 1);
    while (slots_[slot] != 0) slot = (slot + 1) & (capacity - 1);
    slots_[slot] = id + 1;
  }
}

}  // namespace tailrace::analysis
