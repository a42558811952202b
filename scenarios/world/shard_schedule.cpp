#include "scenarios/world/shard_schedule.hpp"

#include <algorithm>
#include <numeric>

#include "sim/base/assert.hpp"

namespace tailrace::scenarios {

ShardSchedule::ShardSchedule(const OfferedLoad& load) {
  TAILRACE_ASSERT(load.kind != OfferedLoad::Kind::kOver);
  if (load.kind == OfferedLoad::Kind::kMax) {
    steps_.push_back({.from = Time{}, .max = true});
    rated_ = 0;
    return;
  }
  // Spans are seconds, minutes and hours times powers of ten, so this is no large number.
  std::int64_t scale = 1;
  for (const OfferedLoad::Step& step : load.steps) scale = std::lcm(scale, step.per.ns);
  scale_ = scale;
  Wide before = 0;
  for (const OfferedLoad::Step& step : load.steps) {
    if (!steps_.empty()) before += (step.from - steps_.back().from).ns * steps_.back().speed;
    steps_.push_back(
        {step.from, before, step.max ? Wide{0} : step.records * (scale_ / step.per.ns), step.max});
  }
  if (steps_.back().max) rated_ = static_cast<std::int64_t>((before + scale_ - 1) / scale_);
}

engine::ReplayableShards::Due ShardSchedule::due(std::int64_t rank) const {
  const Wide records = rank * scale_;
  // The last step that begins with no more than that: a record that would be due at the very moment
  // of a change belongs to the step behind it.
  const auto behind =
      std::upper_bound(steps_.begin(), steps_.end(), records,
                       [](Wide wanted, const Step& step) { return wanted < step.before; });
  const Step& step = *(behind - 1);
  if (step.max) return {step.from, true};
  if (step.speed == 0) return {Time::max(), false};
  const Wide waits = (records - step.before) / step.speed;
  if (waits > (Time::max() - step.from).ns) return {Time::max(), false};
  return {step.from + Duration{static_cast<std::int64_t>(waits)}, false};
}

std::int64_t ShardSchedule::due_until(Time time) const {
  const auto behind =
      std::upper_bound(steps_.begin(), steps_.end(), time,
                       [](Time wanted, const Step& step) { return wanted < step.from; });
  const Step& step = *(behind - 1);
  // Ranks r with (r * scale - before) / speed, rounded down, at most the time that has passed.
  Wide reach = step.before + ((time - step.from).ns + 1) * step.speed;
  if (behind != steps_.end()) reach = std::min(reach, behind->before);
  return static_cast<std::int64_t>((reach + scale_ - 1) / scale_);
}

}  // namespace tailrace::scenarios
