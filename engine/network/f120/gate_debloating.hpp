// What a gate measures and decides about the size of the buffers on their way to it.
//
// The part of Flink 1.20 SingleInputGate that serves debloating (spec barriers.md section 7). Exists
// only while debloating is on.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/network/f120/buffer_debloater.hpp"
#include "engine/network/f120/throughput_calculator.hpp"

namespace tailrace::engine {

class GateDebloating {
 public:
  // The clock outlives it.
  GateDebloating(const BufferDebloatConfiguration& configuration, std::int32_t segment_bytes,
                 const Clock& clock)
      : throughput_(clock), debloater_(configuration, segment_bytes) {}

  // A poll has given an item with so many bytes, events included.
  void polled(std::int64_t bytes) { throughput_.incoming_data_size(bytes); }
  void found_nothing() { throughput_.pause_measurement(); }

  // Once a period. Returns: what to announce to the senders, in bytes; nothing if it is known.
  std::optional<std::int32_t> trigger(std::int32_t buffers_in_use) {
    return debloater_.recalculate_buffer_size(throughput_.calculate_throughput(), buffers_in_use);
  }

  [[nodiscard]] const BufferDebloater& debloater() const { return debloater_; }

 private:
  ThroughputCalculator throughput_;
  BufferDebloater debloater_;
};

}  // namespace tailrace::engine
