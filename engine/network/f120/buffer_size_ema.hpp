// The exponential moving average of the size that buffers should have.
//
// Flink 1.20 BufferSizeEMA (spec barriers.md section 7 points 3 and 4). All arithmetic is Flink's in
// double precision: a result that is off by one byte would be announced at another time.
//
// Invariant: min_buffer_bytes <= last size <= max_buffer_bytes after every calculation.
#pragma once

#include <cstdint>

namespace tailrace::engine {

class BufferSizeEMA {
 public:
  // Requires: 0 < min_buffer_bytes <= max_buffer_bytes, samples > 0. Begins with the largest size.
  BufferSizeEMA(std::int32_t max_buffer_bytes, std::int32_t min_buffer_bytes, std::int64_t samples);

  // Takes the bytes that all buffers together should hold, and how many buffers there are.
  // Requires: total_bytes >= 0, buffers > 0 (Flink throws otherwise).
  // Returns: bytes of one buffer. It at most doubles the last size before the average is taken, so
  // that growing is no faster than shrinking.
  std::int32_t calculate_buffer_size(std::int64_t total_bytes, std::int32_t buffers);

 private:
  std::int32_t max_buffer_bytes_;
  std::int32_t min_buffer_bytes_;
  double alpha_;
  std::int32_t last_buffer_bytes_;
};

}  // namespace tailrace::engine
