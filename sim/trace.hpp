// The trace of a run: every externally visible step, in order, and a running 64-bit hash over it.
//
// Two runs are the same run if and only if their hashes are equal. The event loop feeds the time
// and number of every fired event; the world and the adapters of the engine add typed records. The
// hash is always on. Who wants to see the records sets a sink.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/base/callback.hpp"
#include "sim/base/hash.hpp"
#include "sim/base/time.hpp"

namespace tailrace::sim {

// What a record is about. Numbers are given out by whoever records; they are part of the hash.
enum class TraceKind : std::uint32_t {};

struct TraceRecord {
  static constexpr std::size_t kFields = 4;

  base::Time at;
  TraceKind kind{};
  std::array<std::int64_t, kFields> fields{};  // unused ones are 0
  std::string_view text;                       // lives as long as the call
};

class Trace {
 public:
  using Sink = base::InplaceFunction<void(const TraceRecord&)>;

  // One event of the loop. One multiplication: time and number enter on either side of it.
  void fired(base::Time at, std::uint32_t sequence) {
    events_ = base::mix(events_ ^ static_cast<std::uint64_t>(at.ns), kOdd ^ sequence) + kStep;
  }

  // Cost: six multiplications and one for every eight bytes of text; no allocation.
  void record(const TraceRecord& record) {
    ++records_;
    hash_.add(record.at.ns);
    hash_.add(static_cast<std::uint32_t>(record.kind));
    for (const std::int64_t field : record.fields) hash_.add(field);
    if (!record.text.empty()) hash_.add(record.text);
    // Ties the record to its place among the fired events.
    hash_.add(events_);
    if (sink_) sink_(record);
  }

  void set_sink(Sink sink) { sink_ = std::move(sink); }

  [[nodiscard]] std::uint64_t records() const { return records_; }
  [[nodiscard]] std::uint64_t hash() const {
    base::RunningHash total = hash_;
    total.add(events_);
    total.add(records_);
    return total.value();
  }

 private:
  static constexpr std::uint64_t kOdd = 0xd6e8feb86659fd93ULL;
  static constexpr std::uint64_t kStep = 0x2545f4914f6cdd1dULL;

  std::uint64_t events_ = 0x243f6a8885a308d3ULL;
  base::RunningHash hash_;
  std::uint64_t records_ = 0;
  Sink sink_;
};

}  // namespace tailrace::sim
