#include "sim/network.hpp"

#include <algorithm>

namespace tailrace::sim {

Network::Network(Simulation& simulation, Duration latency, Duration loopback_latency)
    : simulation_(&simulation), latency_(latency), loopback_latency_(loopback_latency) {
  TAILRACE_ASSERT(latency.ns >= 0 && loopback_latency.ns >= 0);
}

Network::~Network() {
  for (std::uint32_t i = 0; i < flows_.size(); ++i) {
    if (flows_[i].open()) {
      close_flow({(std::uint64_t{flows_[i].generation} << 32) | (std::uint64_t{i} + 1)});
    }
  }
}

HostId Network::add_host(NicConfig nic) {
  out_.emplace_back(nic.out);
  in_.emplace_back(nic.in);
  return {static_cast<std::int32_t>(out_.size()) - 1};
}

std::int32_t Network::host_count() const {
  return static_cast<std::int32_t>(out_.size());
}

std::uint32_t Network::host_index(HostId host) const {
  TAILRACE_ASSERT(host.value >= 0 && host.value < host_count());
  return static_cast<std::uint32_t>(host.value);
}

void Network::set_bandwidth(HostId host, NicConfig nic) {
  out_[host_index(host)].line.set_bandwidth(nic.out);
  in_[host_index(host)].line.set_bandwidth(nic.in);
}

void Network::set_latency(HostId from, HostId to, Duration latency) {
  TAILRACE_ASSERT(latency.ns >= 0);
  latencies_[{host_index(from), host_index(to)}] = latency;
  for (Flow& flow : flows_) {
    if (flow.from == host_index(from) && flow.to == host_index(to)) flow.latency = latency;
  }
}

Duration Network::latency(HostId from, HostId to) const {
  const auto own = latencies_.find({host_index(from), host_index(to)});
  if (own != latencies_.end()) return own->second;
  return from == to ? loopback_latency_ : latency_;
}

std::int64_t Network::bytes_sent(HostId host) const {
  return out_[host_index(host)].bytes;
}
std::int64_t Network::bytes_received(HostId host) const {
  return in_[host_index(host)].bytes;
}

FlowId Network::open_flow(HostId from, HostId to) {
  std::uint32_t index = 0;
  if (free_flows_.empty()) {
    index = static_cast<std::uint32_t>(flows_.size());
    flows_.emplace_back();
  } else {
    index = free_flows_.back();
    free_flows_.pop_back();
  }
  Flow fresh;
  fresh.generation = flows_[index].generation + 1;
  fresh.from = host_index(from);
  fresh.to = host_index(to);
  fresh.latency = latency(from, to);
  flows_[index] = fresh;
  return {(std::uint64_t{fresh.generation} << 32) | (std::uint64_t{index} + 1)};
}

bool Network::is_open(FlowId flow) const {
  const std::uint32_t index = index_of(flow);
  return flow.value != 0 && index < flows_.size() && flows_[index].open() &&
         flows_[index].generation == flow.value >> 32;
}

std::size_t Network::undelivered(FlowId flow) const {
  return is_open(flow) ? flows_[index_of(flow)].undelivered : 0;
}

std::uint32_t Network::new_message() {
  if (free_message_ == kNone) {
    messages_.emplace_back();
    return static_cast<std::uint32_t>(messages_.size() - 1);
  }
  const std::uint32_t index = free_message_;
  free_message_ = std::exchange(messages_[index].next, kNone);
  return index;
}

void Network::fetch_ahead(const FairQueue& queue) const {
  if (queue.empty()) return;
  __builtin_prefetch(&flows_[queue.next_flow()]);
  const Message* message = &messages_[queue.next_message()];
  __builtin_prefetch(message);
  __builtin_prefetch(&message->written);
  __builtin_prefetch(&message->delivered);
}

void Network::free_message(std::uint32_t index) {
  Message& message = messages_[index];
  message.event = message.written_event = {};
  message.written.reset();
  message.delivered.reset();
  message.next = free_message_;
  free_message_ = index;
}

void Network::send(FlowId id, std::int64_t bytes, base::Callback written,
                   base::Callback delivered) {
  TAILRACE_ASSERT(is_open(id) && bytes >= 0);
  const std::uint32_t index = index_of(id);
  const std::uint32_t added = new_message();
  Message& message = messages_[added];
  message.bytes = bytes;
  message.written = std::move(written);
  message.delivered = std::move(delivered);

  Flow& flow = flows_[index];
  if (flow.last == kNone) {
    flow.first = added;
  } else {
    messages_[flow.last].next = added;
  }
  flow.last = added;
  ++flow.undelivered;
  if (flow.from == flow.to) {
    send_over_loopback(index, added);
    return;
  }
  if (flow.to_send == kNone) {
    flow.to_send = added;
    Port& port = out_[flow.from];
    port.queue.push(index, flow.out, bytes, added);
    if (port.serving == kNone) serve_out(flow.from);
  }
}

void Network::send_over_loopback(std::uint32_t flow_index, std::uint32_t added) {
  Flow& flow = flows_[flow_index];
  Message& message = messages_[added];
  if (message.written) {
    message.written_event =
        simulation_->schedule(Duration{}, *this, event_argument(Step::kLoopWritten, added));
  }
  flow.last_arrival = std::max(flow.last_arrival, simulation_->now() + flow.latency);
  message.event = simulation_->schedule_at(flow.last_arrival, *this,
                                           event_argument(Step::kLoopDelivered, flow_index));
}

// Takes up the next message of the outgoing interface. Requires: it is idle.
void Network::serve_out(std::uint32_t host) {
  Port& port = out_[host];
  if (port.queue.empty()) return;
  port.serving = port.queue.pop();
  fetch_ahead(port.queue);
  Flow& flow = flows_[port.serving];
  Message& message = messages_[flow.to_send];
  const Time now = simulation_->now();
  const Time last_byte_out = port.line.send(now, message.bytes);
  port.event = simulation_->schedule_at(last_byte_out, *this, event_argument(Step::kWritten, host));

  message.last_byte_in = last_byte_out + flow.latency;
  const Duration taking_in = in_[flow.to].line.bandwidth().time_for(message.bytes);
  const Time arrival = std::max(now + flow.latency, message.last_byte_in - taking_in);
  flow.last_arrival = std::max(flow.last_arrival, arrival);
  message.event = simulation_->schedule_at(flow.last_arrival, *this,
                                           event_argument(Step::kArrived, port.serving));
}

void Network::on_written(std::uint32_t host) {
  Port& port = out_[host];
  const std::uint32_t index = std::exchange(port.serving, kNone);
  port.event = {};
  Flow& flow = flows_[index];
  Message& message = messages_[flow.to_send];
  port.bytes += message.bytes;
  base::Callback written = std::move(message.written);
  flow.to_send = message.next;
  if (flow.to_send != kNone) {
    port.queue.push(index, flow.out, messages_[flow.to_send].bytes, flow.to_send);
  }
  serve_out(host);
  if (written) written();
}

void Network::on_arrived(std::uint32_t index) {
  Flow& flow = flows_[index];
  Port& port = in_[flow.to];
  if (++flow.arrived > 1) return;  // an earlier one is in line for the flow
  port.queue.push(index, flow.in, messages_[flow.first].bytes, flow.first);
  if (port.serving == kNone) serve_in(flow.to);
}

// Takes up the next message of the incoming interface. Requires: it is idle.
void Network::serve_in(std::uint32_t host) {
  Port& port = in_[host];
  if (port.queue.empty()) return;
  port.serving = port.queue.pop();
  fetch_ahead(port.queue);
  const Message& message = messages_[flows_[port.serving].first];
  const Time taken_in = port.line.send(simulation_->now(), message.bytes);
  // Rounding, or a latency that has grown, may have put the arrival too early.
  port.event = simulation_->schedule_at(std::max(taken_in, message.last_byte_in), *this,
                                        event_argument(Step::kReceived, host));
}

void Network::on_received(std::uint32_t host) {
  Port& port = in_[host];
  const std::uint32_t index = std::exchange(port.serving, kNone);
  port.event = {};
  Flow& flow = flows_[index];
  port.bytes += messages_[flow.first].bytes;
  base::Callback delivered = take_first(flow);
  if (--flow.arrived > 0) {
    port.queue.push(index, flow.in, messages_[flow.first].bytes, flow.first);
  }
  serve_in(host);
  if (delivered) delivered();
}

void Network::on_loop_delivered(std::uint32_t index) {
  base::Callback delivered = take_first(flows_[index]);
  if (delivered) delivered();
}

// Takes a flow's first message, which has arrived, out of it. Returns: what to run now.
base::Callback Network::take_first(Flow& flow) {
  const std::uint32_t first = flow.first;
  Message& message = messages_[first];
  base::Callback delivered = std::move(message.delivered);
  flow.first = message.next;
  if (flow.first == kNone) flow.last = kNone;
  --flow.undelivered;
  free_message(first);
  return delivered;
}

void Network::on_loop_written(std::uint32_t index) {
  messages_[index].written_event = {};
  base::Callback written = std::move(messages_[index].written);
  written();
}

void Network::on_event(std::uint64_t argument) {
  const auto index = static_cast<std::uint32_t>(argument);
  switch (static_cast<Step>(argument >> 32)) {
    case Step::kWritten:
      return on_written(index);
    case Step::kArrived:
      return on_arrived(index);
    case Step::kReceived:
      return on_received(index);
    case Step::kLoopWritten:
      return on_loop_written(index);
    case Step::kLoopDelivered:
      return on_loop_delivered(index);
  }
}

void Network::close_flow(FlowId id) {
  if (!is_open(id)) return;
  const std::uint32_t index = index_of(id);
  Flow& flow = flows_[index];
  ++flow.generation;

  // Destroyed last: their destructors may come back to the network.
  std::vector<base::Callback> dropped;
  for (std::uint32_t at = flow.first; at != kNone;) {
    Message& message = messages_[at];
    simulation_->cancel(message.event);
    simulation_->cancel(message.written_event);
    dropped.push_back(std::move(message.written));
    dropped.push_back(std::move(message.delivered));
    const std::uint32_t next = message.next;
    free_message(at);
    at = next;
  }
  const auto leave = [&](Port& port) {
    port.queue.remove(index);
    if (port.serving != index) return false;
    simulation_->cancel(std::exchange(port.event, {}));
    port.serving = kNone;
    port.line.abort(simulation_->now());
    return true;
  };
  const std::uint32_t from = flow.from;
  const std::uint32_t to = flow.to;
  if (leave(out_[from])) serve_out(from);
  if (leave(in_[to])) serve_in(to);
  free_flows_.push_back(index);
}

}  // namespace tailrace::sim
