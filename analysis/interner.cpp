#include "analysis/interner.hpp"

#include <limits>
#include <utility>

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
  const auto hash = static_cast<std::uint32_t>(base::hash_bytes(text) >> 32);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
    Slot& slot = slots_[at];
    if (slot.id_plus_one == 0) {
      TAILRACE_ASSERT(size() < std::numeric_limits<std::uint32_t>::max() - 1);
      bytes_ += text;
      ends_.push_back(bytes_.size());
      slot = {hash, size()};
      return size() - 1;
    }
    if (slot.hash == hash && this->text(slot.id_plus_one - 1) == text) return slot.id_plus_one - 1;
  }
}

void Interner::grow() {
  const std::vector<Slot> old = std::exchange(slots_, {});
  slots_.resize(old.empty() ? 64 : 2 * old.size());
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.id_plus_one == 0) continue;
    std::size_t at = slot.hash & mask;
    while (slots_[at].id_plus_one != 0) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

}  // namespace tailrace::analysis
