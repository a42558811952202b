// Shares one server between flows, message by message: fair queueing with a virtual time.
//
// A flow's next message has the start tag S = max(V, the flow's last finish tag) and the finish tag
// F = S + bytes; the lowest F is served next, at equal tags whoever asked first. While a message is
// served, V lies between its S (start-time fair queueing, Goyal et al. 1996) and its F
// (self-clocked fair queueing, Golestani 1994), and moves from one towards the other by
// bytes / backlogged flows, as the ideal fluid server would. At the ends alone, a flow that wakes
// up with something small would wait for a whole round of the others; so it waits for about one
// message. O(log flows) a message.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/base/assert.hpp"
#include "sim/base/rate.hpp"
#include "sim/base/time.hpp"

namespace tailrace::sim {

// A flow's place at one server.
struct FairShare {
  std::int64_t last_tag = 0;  // finish tag
};

class FairQueue {
 public:
  // `flow` has a message of that size to send, which the owner calls `message`. Requires: it is not
  // in the queue already.
  void push(std::uint32_t flow, FairShare& share, std::int64_t bytes, std::uint32_t message) {
    share.last_tag = std::max(virtual_time_, share.last_tag) + bytes;
    heap_.push_back({share.last_tag, next_sequence_++, bytes, flow, message});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }

  [[nodiscard]] bool empty() const { return heap_.empty(); }

  // The flow to serve now. Requires: not empty.
  std::uint32_t pop() {
    TAILRACE_ASSERT(!heap_.empty());
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Entry entry = heap_.back();
    heap_.pop_back();
    const auto backlogged = static_cast<std::int64_t>(heap_.size()) + 1;
    virtual_time_ = std::max(virtual_time_, entry.tag - entry.bytes) + entry.bytes / backlogged;
    virtual_time_ = std::min(virtual_time_, entry.tag);
    return entry.flow;
  }

  // Whom the next pop gives, if nobody comes in between: for fetching what it will need.
  // Requires: not empty.
  [[nodiscard]] std::uint32_t next_flow() const { return heap_.front().flow; }
  [[nodiscard]] std::uint32_t next_message() const { return heap_.front().message; }

  // Cost: O(flows). Ignores a flow that is not in the queue.
  void remove(std::uint32_t flow) {
    std::erase_if(heap_, [flow](const Entry& entry) { return entry.flow == flow; });
    std::make_heap(heap_.begin(), heap_.end(), later);
  }

 private:
  struct Entry {
    std::int64_t tag;
    std::uint64_t sequence;  // never equal: no heap gets to break a tie its own way
    std::int64_t bytes;
    std::uint32_t flow;
    std::uint32_t message;
  };
  static bool later(const Entry& a, const Entry& b) {
    return a.tag != b.tag ? a.tag > b.tag : a.sequence > b.sequence;
  }

  std::vector<Entry> heap_;
  std::int64_t virtual_time_ = 0;
  std::uint64_t next_sequence_ = 0;
};

// When a line of some bandwidth is free again. Keeps the fraction of a nanosecond while the line is
// busy, so that a stream gets the whole bandwidth, however small its messages are.
class LineClock {
 public:
  explicit LineClock(base::BytesPerSecond bandwidth) : bandwidth_(bandwidth) {
    TAILRACE_ASSERT(bandwidth.value > 0);
  }

  [[nodiscard]] base::BytesPerSecond bandwidth() const { return bandwidth_; }

  // From the next message on.
  void set_bandwidth(base::BytesPerSecond bandwidth) {
    TAILRACE_ASSERT(bandwidth.value > 0);
    free_at_ = rounded_up();
    fraction_ = 0;
    bandwidth_ = bandwidth;
  }

  // Sends `bytes` as soon as the line is free. Returns: when the last byte is through, rounded up.
  base::Time send(base::Time now, std::int64_t bytes) {
    TAILRACE_ASSERT(bytes >= 0);
    if (rounded_up() < now) {
      free_at_ = now;
      fraction_ = 0;
    }
    __extension__ using Wide = __int128;
    constexpr std::int64_t kSecond = 1'000'000'000;
    // Below 9.2 GB 64 bits do, whose division is several times as fast.
    if (bytes < Wide{1} * INT64_MAX / kSecond - bandwidth_.value / kSecond - 1) {
      const std::int64_t sum = bytes * kSecond + fraction_;
      free_at_ = free_at_ + base::Duration{sum / bandwidth_.value};
      fraction_ = sum % bandwidth_.value;
    } else {
      const Wide sum = static_cast<Wide>(bytes) * kSecond + fraction_;
      free_at_ = free_at_ + base::Duration{static_cast<std::int64_t>(sum / bandwidth_.value)};
      fraction_ = static_cast<std::int64_t>(sum % bandwidth_.value);
    }
    return rounded_up();
  }

  // What was being sent is not sent after all.
  void abort(base::Time now) {
    free_at_ = now;
    fraction_ = 0;
  }

 private:
  [[nodiscard]] base::Time rounded_up() const {
    return free_at_ + base::Duration{fraction_ > 0 ? 1 : 0};
  }

  base::BytesPerSecond bandwidth_;
  base::Time free_at_;
  std::int64_t fraction_ = 0;  // of a nanosecond, in units of 1 / bandwidth
};

}  // namespace tailrace::sim
