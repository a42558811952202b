// Hosts' network interfaces, shared fairly by flows, and links with latency between them.
//
// A flow is one direction of one connection; its messages arrive in the order in which they were
// sent. A message passes three places:
//   1. the sender's interface, which serves one message at a time, flows sharing it fairly
//      (fair_server.hpp), at its outgoing bandwidth; `written` runs when the last byte has left;
//   2. the link: latency;
//   3. the receiver's interface, shared in the same way at its incoming bandwidth; `delivered` runs
//      when the last byte is in.
// The receiver takes a message up as late as it can without delaying it (cut-through), at
//   max(first byte's arrival, last byte's arrival - bytes / incoming bandwidth),
// so that an idle receiver adds nothing and a slow sender never holds up another's message. One
// message on an idle way takes latency + bytes / min(outgoing, incoming), and a stream gets that
// whole bandwidth. Times are rounded up to nanoseconds; the rounding does not add up over a stream.
//
// Flows between processes of one host pass no interface: `written` follows at once, `delivered`
// after the loopback latency.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/base/rate.hpp"
#include "sim/fair_server.hpp"
#include "sim/simulation.hpp"

namespace tailrace::sim {

using base::BytesPerSecond;
using HostId = base::StrongId<struct HostIdTag, std::int32_t>;
using FlowId = base::StrongId<struct FlowIdTag, std::uint64_t>;  // 0: no flow

struct NicConfig {
  BytesPerSecond out;
  BytesPerSecond in;
};

class Network final : public EventHandler {
 public:
  Network(Simulation& simulation, Duration latency, Duration loopback_latency);
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  ~Network();

  HostId add_host(NicConfig nic);
  [[nodiscard]] std::int32_t host_count() const;
  // Counts from the next message on.
  void set_bandwidth(HostId host, NicConfig nic);
  // The latency from one host to another, one way. Counts for messages that leave from now on; none
  // overtakes an earlier one of its flow.
  void set_latency(HostId from, HostId to, Duration latency);
  [[nodiscard]] Duration latency(HostId from, HostId to) const;

  FlowId open_flow(HostId from, HostId to);
  // Either callback may be empty. Requires: bytes >= 0; the flow is open.
  // Cost: three events, O(log flows of a host) each.
  void send(FlowId flow, std::int64_t bytes, base::Callback written, base::Callback delivered);
  // Drops what is queued, being sent or in flight, with its callbacks; what was being sent frees
  // the interface at once. Ignores a flow that is closed already.
  // Cost: O(messages of the flow + flows of both hosts).
  void close_flow(FlowId flow);
  [[nodiscard]] bool is_open(FlowId flow) const;
  // Messages of the flow that are not yet delivered.
  [[nodiscard]] std::size_t undelivered(FlowId flow) const;

  // Bytes of whole messages that have left, and have come into, a host; loopback not counted.
  [[nodiscard]] std::int64_t bytes_sent(HostId host) const;
  [[nodiscard]] std::int64_t bytes_received(HostId host) const;

  void on_event(std::uint64_t argument) override;

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  enum class Step : std::uint8_t { kWritten, kArrived, kReceived, kLoopWritten, kLoopDelivered };

  // One direction of one interface.
  struct Port {
    explicit Port(BytesPerSecond bandwidth) : line(bandwidth) {}
    LineClock line;
    FairQueue queue;
    std::uint32_t serving = kNone;  // flow
    EventId event;                  // the end of the service
    std::int64_t bytes = 0;         // through so far
  };
  // With many hosts next to nothing of a flow or a message is in the cache when its turn comes, so
  // both begin with a cache line, and what a step reads lies together.
  static constexpr std::size_t kCacheLine = 64;
  struct alignas(kCacheLine) Message {
    std::int64_t bytes = 0;
    Time last_byte_in;      // at the receiver, whose interface may still be busy then
    EventId event;          // arrival, or delivery over loopback
    EventId written_event;  // loopback only
    std::uint32_t next = kNone;
    base::Callback written;
    base::Callback delivered;
  };
  struct alignas(kCacheLine) Flow {
    // Odd: open. So a flow of any other generation is recognised, and of a closed one.
    std::uint32_t generation = 0;
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    // The messages in order, and how far they have come: those before `to_send` have left.
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
    std::uint32_t to_send = kNone;
    std::uint32_t undelivered = 0;
    std::uint32_t arrived = 0;  // of the first ones, waiting for the receiver's interface or in it
    Duration latency;
    Time last_arrival;  // arrivals of a flow keep their order
    FairShare out;
    FairShare in;

    [[nodiscard]] bool open() const { return generation % 2 == 1; }
  };
  static_assert(sizeof(Flow) == kCacheLine);

  [[nodiscard]] static std::uint64_t event_argument(Step step, std::uint32_t index) {
    return (static_cast<std::uint64_t>(step) << 32) | index;
  }
  [[nodiscard]] static std::uint32_t index_of(FlowId flow) {
    return static_cast<std::uint32_t>(flow.value) - 1;
  }
  [[nodiscard]] std::uint32_t host_index(HostId host) const;

  // Asks for what the next message of a port will need, while others have their turn.
  void fetch_ahead(const FairQueue& queue) const;
  std::uint32_t new_message();
  void free_message(std::uint32_t index);
  void send_over_loopback(std::uint32_t flow, std::uint32_t message);
  void serve_out(std::uint32_t host);
  void serve_in(std::uint32_t host);
  void on_written(std::uint32_t host);
  void on_arrived(std::uint32_t flow);
  void on_received(std::uint32_t host);
  void on_loop_written(std::uint32_t message);
  void on_loop_delivered(std::uint32_t flow);
  base::Callback take_first(Flow& flow);

  Simulation* simulation_;
  Duration latency_;
  Duration loopback_latency_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Duration> latencies_;  // where they differ
  std::vector<Port> out_;                                                  // by host
  std::vector<Port> in_;
  std::vector<Flow> flows_;
  std::vector<std::uint32_t> free_flows_;
  std::vector<Message> messages_;
  std::uint32_t free_message_ = kNone;
};

}  // namespace tailrace::sim
