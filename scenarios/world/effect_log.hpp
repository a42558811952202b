// Effects in the order in which they were written, in pieces that are never copied once they are
// full: committing a large transaction moves pointers, and a growing log moves nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/base/time.hpp"

namespace tailrace::scenarios {

// What a sink has written. Texts are interned by the store that owns the log.
struct Effect {
  std::uint32_t text = 0;
  std::int64_t number = 0;
  base::Time created;    // of the record
  base::Time committed;  // when it became visible
};

class EffectLog {
 public:
  static constexpr std::size_t kChunkEffects = 512;

 private:
  struct Chunk {
    std::size_t size = 0;
    std::array<Effect, kChunkEffects> effects;
  };

 public:
  class Iterator {
   public:
    const Effect& operator*() const { return (*chunk_)->effects[at_]; }
    Iterator& operator++() {
      if (++at_ == (*chunk_)->size) {
        ++chunk_;
        at_ = 0;
      }
      return *this;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    friend class EffectLog;
    explicit Iterator(const std::unique_ptr<Chunk>* chunk) : chunk_(chunk) {}
    const std::unique_ptr<Chunk>* chunk_;
    std::size_t at_ = 0;
  };

  [[nodiscard]] Iterator begin() const { return Iterator(chunks_.data()); }
  [[nodiscard]] Iterator end() const { return Iterator(chunks_.data() + chunks_.size()); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }

  void push_back(const Effect& effect) {
    if (chunks_.empty() || chunks_.back()->size == kChunkEffects) add_chunk();
    Chunk& chunk = *chunks_.back();
    chunk.effects[chunk.size++] = effect;
    ++size_;
  }
  // Moves what `other` holds behind what is here; all of it becomes visible at `committed`.
  void append(EffectLog&& other, base::Time committed);

 private:
  void add_chunk();

  std::vector<std::unique_ptr<Chunk>> chunks_;  // none is empty
  std::size_t size_ = 0;
};

}  // namespace tailrace::scenarios
