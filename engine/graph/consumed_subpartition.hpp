// Which subpartition a channel reads (spec rescale.md 5).
#pragma once

#include <cstdint>

namespace tailrace::engine {

struct ConsumedSubpartition {
  std::int32_t producer = 0;      // subtask of the producing vertex
  std::int32_t subpartition = 0;  // of that subtask's partition

  friend constexpr bool operator==(const ConsumedSubpartition&,
                                   const ConsumedSubpartition&) = default;
};

}  // namespace tailrace::engine
