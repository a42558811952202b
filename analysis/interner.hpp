// Texts to small numbers: equal texts, equal numbers, in the order of first appearance.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tailrace::analysis {

// Open addressing over one byte array; no allocation per text beyond amortised growth.
class Interner {
 public:
  // The number of that text; new texts get the next one.
  [[nodiscard]] std::uint32_t id(std::string_view text);
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(ends_.size()); }
  // Requires: id < size(). Valid until the next new text.
  [[nodiscard]] std::string_view text(std::uint32_t id) const;

 private:
  void grow();

  // Id + 1 and half a hash, so that a text is compared only with its likely equal.
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t id_plus_one = 0;  // 0: free
  };

  std::string bytes_;                // all texts, one after the other
  std::vector<std::uint64_t> ends_;  // by id: where its bytes end
  std::vector<Slot> slots_;          // the size is a power of two
};

}  // namespace tailrace::analysis
