// Where a gate puts what arrives on a blocked channel.
//
// Flink 1.10 BufferStorage, EmptyBufferStorage (spec barriers.md 2.2).
#pragma once

#include <cstdint>
#include <optional>

#include "engine/network/input_gate.hpp"

namespace tailrace::engine::f110 {

class BufferStorage {
 public:
  virtual ~BufferStorage() = default;

  // Appends to what is pending: it stays there until the next roll_over().
  virtual void add(BufferOrEvent item) = 0;
  // Makes what is pending the next to be handed out, before what was already being handed out:
  // newer items come only from channels whose older ones have all been replayed.
  virtual void roll_over() = 0;
  // Nothing: a sequence has just been exhausted, or there is none.
  virtual std::optional<BufferOrEvent> poll_next() = 0;
  // Gives back all buffers held.
  virtual void close() = 0;

  // Nothing is being handed out. Pending items do not count.
  [[nodiscard]] virtual bool is_empty() const = 0;
  // Units: pages, not the items' own bytes; an event counts as one page too.
  [[nodiscard]] virtual std::int64_t pending_bytes() const = 0;
  // Sequences pushed back behind newer ones. Without the one being handed out: Flink 1.10.0
  // undercounts while it replays (FLINK-12912), and so does its limit.
  [[nodiscard]] virtual std::int64_t rolled_bytes() const = 0;
  // -1: no limit.
  [[nodiscard]] virtual std::int64_t max_buffered_bytes() const = 0;

  [[nodiscard]] bool is_full() const {
    const std::int64_t limit = max_buffered_bytes();
    return limit > 0 && rolled_bytes() + pending_bytes() > limit;
  }
};

// Of at-least-once: no channel is ever blocked, so nothing is ever stored.
class EmptyBufferStorage final : public BufferStorage {
 public:
  // A broken invariant: whoever stores here has taken a channel for blocked.
  void add(BufferOrEvent item) override;
  void roll_over() override {}
  std::optional<BufferOrEvent> poll_next() override { return std::nullopt; }
  void close() override {}
  [[nodiscard]] bool is_empty() const override { return true; }
  [[nodiscard]] std::int64_t pending_bytes() const override { return 0; }
  [[nodiscard]] std::int64_t rolled_bytes() const override { return 0; }
  [[nodiscard]] std::int64_t max_buffered_bytes() const override { return -1; }
};

}  // namespace tailrace::engine::f110
