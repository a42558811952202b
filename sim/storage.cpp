#include "sim/storage.hpp"

#include <algorithm>
#include <utility>

namespace tailrace::sim {
namespace {

constexpr std::int64_t kUnitsPerByte = std::int64_t{1} << 20;
constexpr std::int64_t kSecond = 1'000'000'000;

}  // namespace

ObjectStore::ObjectStore(Simulation& simulation, StorageConfig config, std::uint64_t seed,
                         std::string_view name)
    : simulation_(&simulation), config_(config), stream_(seed, name) {
  TAILRACE_ASSERT(config.total.value > 0 && config.per_connection.value > 0);
  TAILRACE_ASSERT(config.request_latency.ns >= 0);
}

ObjectStore::~ObjectStore() {
  for (const Request& request : requests_) simulation_->cancel(request.event);
  simulation_->cancel(event_);
}

void ObjectStore::put(std::int64_t bytes, OwnerTag owner, Done done) {
  request(bytes, owner, std::move(done), latency(), true);
}

void ObjectStore::put_part(std::int64_t bytes, OwnerTag owner, Done done) {
  request(bytes, owner, std::move(done), {}, true);
}

void ObjectStore::get_part(std::int64_t bytes, OwnerTag owner, Done done) {
  request(bytes, owner, std::move(done), {}, false);
}

void ObjectStore::get(std::int64_t bytes, OwnerTag owner, Done done) {
  request(bytes, owner, std::move(done), latency(), false);
}

void ObjectStore::request(std::int64_t bytes, OwnerTag owner, Done done, Duration latency,
                          bool is_put) {
  TAILRACE_ASSERT(bytes >= 0 && done);
  std::uint32_t index = 0;
  if (free_.empty()) {
    index = static_cast<std::uint32_t>(requests_.size());
    requests_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  Request& request = requests_[index];
  request.used = true;
  request.is_put = is_put;
  request.bytes = bytes;
  request.owner = owner;
  request.done = std::move(done);
  request.event = simulation_->schedule(latency, *this, index);
  ++pending_;
}

void ObjectStore::on_event(std::uint64_t argument) {
  if (argument == kTransferDone) {
    on_transfer_done();
  } else {
    on_latency_passed(static_cast<std::uint32_t>(argument));
  }
}

void ObjectStore::on_latency_passed(std::uint32_t index) {
  Request& request = requests_[index];
  request.event = {};
  // Drawn in any case, so that switching the store off does not shift later draws.
  const bool error = error_ppm_ > 0 && stream_.happens_ppm(error_ppm_);
  if (failing_ || error) {
    finish(index, StorageStatus::kFailed);
    return;
  }
  if (request.bytes == 0) {
    finish(index, StorageStatus::kOk);
    return;
  }
  advance();
  heap_.push_back(
      {served_ + static_cast<Served>(request.bytes) * kUnitsPerByte, next_sequence_++, index});
  std::push_heap(heap_.begin(), heap_.end(), later);
  rearm();
}

void ObjectStore::on_transfer_done() {
  event_ = {};
  advance();
  TAILRACE_ASSERT(!heap_.empty() && heap_.front().end <= served_);
  std::pop_heap(heap_.begin(), heap_.end(), later);
  const std::uint32_t index = heap_.back().request;
  heap_.pop_back();
  rearm();
  finish(index, failing_ ? StorageStatus::kFailed : StorageStatus::kOk);
}

void ObjectStore::finish(std::uint32_t index, StorageStatus status) {
  Request& request = requests_[index];
  if (status == StorageStatus::kOk) {
    (request.is_put ? bytes_put_ : bytes_got_) += request.bytes;
  }
  Done done = std::move(request.done);
  request = Request{};
  free_.push_back(index);
  --pending_;
  done(status);
}

ObjectStore::Rate ObjectStore::rate() const {
  const auto transfers = static_cast<std::int64_t>(heap_.size());
  // A connection's rate or an equal share of the total, whichever is less.
  const bool connection_bound = config_.per_connection.value <= config_.total.value / transfers;
  const std::int64_t bandwidth =
      connection_bound ? config_.per_connection.value : config_.total.value;
  const std::int64_t shared_by = connection_bound ? 1 : transfers;
  TAILRACE_ASSERT(bandwidth < (std::int64_t{1} << 42));  // 4 TB/s: keeps products in 128 bits
  return {bandwidth * slow_down_.denominator, shared_by * slow_down_.numerator};
}

// Brings served_ up to the present.
void ObjectStore::advance() {
  const Time now = simulation_->now();
  if (!heap_.empty() && now > since_) {
    const Rate each = rate();
    const Served units = static_cast<Served>((now - since_).ns) * each.numerator;
    // In two steps: the product of all three factors would need more than 128 bits for long waits.
    const Served denominator = static_cast<Served>(each.denominator) * kSecond;
    served_ +=
        units / denominator * kUnitsPerByte + units % denominator * kUnitsPerByte / denominator;
  }
  since_ = now;
}

// Schedules the end of the transfer that is next to end. Requires: advance() at this instant.
void ObjectStore::rearm() {
  simulation_->cancel(std::exchange(event_, {}));
  if (heap_.empty()) {
    served_ = 0;
    return;
  }
  const Rate each = rate();
  const Served units = std::max<Served>(heap_.front().end - served_, 0);
  // The first nanosecond at which `units` have been served.
  const Served numerator = units * each.denominator;
  const Served per_second = static_cast<Served>(each.numerator) * kUnitsPerByte;
  const Served whole = numerator / per_second;
  TAILRACE_ASSERT(whole < Duration::max().ns / kSecond / 2);
  const Served rest = (numerator % per_second * kSecond + per_second - 1) / per_second;
  event_ = simulation_->schedule(Duration{static_cast<std::int64_t>(whole * kSecond + rest)}, *this,
                                 kTransferDone);
}

void ObjectStore::set_error_ppm(std::int64_t ppm) {
  TAILRACE_ASSERT(ppm >= 0 && ppm <= 1'000'000);
  error_ppm_ = ppm;
}

void ObjectStore::set_slow_down(Ratio slow_down) {
  constexpr std::int64_t kLimit = std::int64_t{1} << 31;  // as scale_up's
  TAILRACE_ASSERT(slow_down.valid() && slow_down.numerator < kLimit &&
                  slow_down.denominator < kLimit);
  advance();
  slow_down_ = slow_down;
  rearm();
}

void ObjectStore::cancel(OwnerTag owner) {
  advance();
  // Destroyed last: their destructors may come back to the store.
  std::vector<Done> dropped;
  std::erase_if(
      heap_, [&](const Transfer& transfer) { return requests_[transfer.request].owner == owner; });
  std::make_heap(heap_.begin(), heap_.end(), later);
  for (std::uint32_t i = 0; i < requests_.size(); ++i) {
    Request& request = requests_[i];
    if (!request.used || request.owner != owner) continue;
    simulation_->cancel(request.event);
    dropped.push_back(std::move(request.done));
    request = Request{};
    free_.push_back(i);
    --pending_;
  }
  rearm();
}

}  // namespace tailrace::sim
