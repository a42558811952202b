// When the records of a source of shards come into being.
//
// All shards together have their records at the offered rate, evenly: the record with rank
// r = seq * shards + shard is due when r records have come into being before it. So shard i's first
// record is due i / shards of its interval after the first step with a rate begins, and what remains
// of an interval when the rate changes is waited for at the new rate. Exact up to the last rounding
// (down, to the nanosecond): fractions of records are kept over the least common multiple of the
// steps' spans.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/task/operators/shard_source.hpp"
#include "scenarios/model.hpp"

namespace tailrace::scenarios {

class ShardSchedule {
 public:
  // Requires: kMax or kSteps; `max` at most in the last step.
  explicit ShardSchedule(const OfferedLoad& load);

  // Requires: rank >= 0. Cost: O(log steps), a division of 128 bits.
  [[nodiscard]] engine::ReplayableShards::Due due(std::int64_t rank) const;
  // How many ranks are due at or before that time, without those that come when they are read.
  [[nodiscard]] std::int64_t due_until(Time time) const;
  // How many ranks have a due time of their own; none come when they are read if this is negative.
  [[nodiscard]] std::int64_t rated() const { return rated_; }

 private:
  __extension__ using Wide = __int128;

  struct Step {
    Time from;
    Wide before = 0;  // records that have come into being until then, times scale_
    Wide speed = 0;   // in a nanosecond, times scale_
    bool max = false;
  };

  Wide scale_ = 1;
  std::vector<Step> steps_;
  std::int64_t rated_ = -1;
};

}  // namespace tailrace::scenarios
