#include "scenarios/world/effect_log.hpp"

#include <utility>

namespace tailrace::scenarios {

void EffectLog::add_chunk() {
  chunks_.push_back(std::make_unique<Chunk>());
}

void EffectLog::append(EffectLog&& other, base::Time committed) {
  for (const std::unique_ptr<Chunk>& chunk : other.chunks_) {
    for (std::size_t i = 0; i < chunk->size; ++i) chunk->effects[i].committed = committed;
  }
  if (other.size_ < kChunkEffects) {
    // Small transactions share a piece: most of a piece each would be lost otherwise.
    for (const Effect& effect : other) push_back(effect);
  } else {
    for (std::unique_ptr<Chunk>& chunk : other.chunks_) chunks_.push_back(std::move(chunk));
    size_ += other.size_;
  }
  other.chunks_.clear();
  other.size_ = 0;
}

}  // namespace tailrace::scenarios
