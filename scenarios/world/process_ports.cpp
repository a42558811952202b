#include "scenarios/world/process_ports.hpp"

#include <utility>

#include "scenarios/world/connections.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::scenarios {

ProcessPorts::ProcessPorts(const SharedWorld& world, engine::ProcessId id, sim::Host& host,
                           const SlowDowns& slow_downs, engine::Observer& observer)
    : world_(world), id_(id), host_(&host), slow_downs_(&slow_downs) {
  ports_.self = id;
  ports_.clock = this;
  ports_.timers = this;
  ports_.calls = this;
  ports_.links = this;
  ports_.compute = this;
  ports_.blobs = this;
  ports_.random = this;
  ports_.observer = &observer;
}

ProcessPorts::~ProcessPorts() = default;

sim::OwnerTag ProcessPorts::owner() const {
  return sim::OwnerTag{id_.value};
}

void ProcessPorts::die(bool silently) {
  TAILRACE_ASSERT(alive_);
  alive_ = false;
  for (TimerSlot& slot : timers_) {
    if (!slot.pending) continue;
    world_.simulation->cancel(slot.event);
    slot.callback.reset();
    slot.pending = false;
  }
  timers_.clear();
  free_timers_.clear();
  host_->kill(owner());
  world_.store->cancel(owner());
  if (world_.reads != world_.store) world_.reads->cancel(owner());
  world_.connections->process_died(id_, silently);
}

// --- timers ------------------------------------------------------------------------------------

Time ProcessPorts::now() const {
  return world_.simulation->now();
}

engine::TimerId ProcessPorts::schedule(Duration delay, base::Callback callback) {
  if (!alive_) return {};
  std::uint32_t index = 0;
  if (free_timers_.empty()) {
    index = static_cast<std::uint32_t>(timers_.size());
    timers_.emplace_back();
  } else {
    index = free_timers_.back();
    free_timers_.pop_back();
  }
  TimerSlot& slot = timers_[index];
  slot.callback = std::move(callback);
  slot.pending = true;
  slot.event = world_.simulation->schedule(delay, *this, index);
  return {static_cast<std::uint64_t>(slot.generation) << 32 | index};
}

void ProcessPorts::cancel(engine::TimerId timer) {
  const auto index = static_cast<std::uint32_t>(timer.value & 0xffffffff);
  if (index >= timers_.size()) return;
  TimerSlot& slot = timers_[index];
  if (!slot.pending || slot.generation != timer.value >> 32) return;
  world_.simulation->cancel(slot.event);
  release(index);
}

base::Callback ProcessPorts::release(std::uint32_t index) {
  TimerSlot& slot = timers_[index];
  base::Callback callback = std::move(slot.callback);
  slot.pending = false;
  ++slot.generation;
  free_timers_.push_back(index);
  return callback;
}

void ProcessPorts::on_event(std::uint64_t argument) {
  base::Callback callback = release(static_cast<std::uint32_t>(argument));
  callback();
}

// --- calls and links -----------------------------------------------------------------------------

void ProcessPorts::send(engine::ProcessId to, std::int64_t bytes, base::Callback deliver) {
  static_cast<void>(bytes);  // control messages are small beside their latency
  if (!alive_) return;
  // The latency is constant and events of one instant keep their order: FIFO for each pair.
  world_.process(to).run_after(to == id_ ? Duration{} : world_.rpc_latency, std::move(deliver));
}

engine::ConnectionId ProcessPorts::open(engine::ProcessId server, base::Callback closed) {
  return world_.connections->open(id_, server, std::move(closed));
}

void ProcessPorts::accept(engine::ConnectionId connection, base::Callback closed) {
  world_.connections->accept(connection, std::move(closed));
}

void ProcessPorts::send(engine::ConnectionId connection, std::int64_t bytes, base::Callback written,
                        base::Callback delivered) {
  if (alive_) {
    world_.connections->send(connection, id_, bytes, std::move(written), std::move(delivered));
  }
}

void ProcessPorts::close(engine::ConnectionId connection) {
  world_.connections->close(connection);
}

Duration RandomStreams::hiccup(engine::ComputeClient client, const ThreadTimes& threads) {
  if (threads.hiccup_share_ppm == 0 || threads.hiccup.ns == 0) return {};
  const std::pair task{client.vertex, client.subtask};
  auto found = sleeps_.find(task);
  if (found == sleeps_.end()) {
    const std::string name =
        "sleep/" + std::to_string(task.first) + '/' + std::to_string(task.second);
    found = sleeps_.emplace(task, sim::RandomStream(seed_, name)).first;
  }
  if (!found->second.happens_ppm(threads.hiccup_share_ppm)) return {};
  return Duration{found->second.uniform(0, threads.hiccup.ns)};
}

PinnedTimes::PinnedTimes(const Pins& pins) {
  times_["checkpoint.initial-delay"] = {pins.first_triggers.begin(), pins.first_triggers.end()};
  for (const Pins::TaskStarts& starts : pins.task_starts) {
    times_["task-start/" + std::to_string(starts.subtask.op) + "/" +
           std::to_string(starts.subtask.subtask)] = {starts.times.begin(), starts.times.end()};
  }
}

// --- compute -------------------------------------------------------------------------------------

Duration ProcessPorts::price(const engine::Work& work) const {
  return world_.costs->price(work);
}

Duration ProcessPorts::slice() const {
  return world_.costs->slice();
}

void ProcessPorts::run(engine::ComputeClient client, Duration nominal, base::Callback done) {
  if (!alive_) return;
  host_->run(owner(), nominal, {slow_downs_->factor_milli(client), 1000}, std::move(done));
}

std::optional<Duration> ProcessPorts::service(engine::ComputeClient client, std::int32_t op) const {
  const std::optional<Duration> nominal = world_.costs->service(op);
  if (!nominal) return std::nullopt;
  return sim::scale_up(*nominal, {slow_downs_->factor_milli(client), 1000});
}

engine::ServiceRules ProcessPorts::service_rules() const {
  const ThreadTimes& threads = world_.costs->threads();
  return {threads.park, threads.gap, threads.catch_up};
}

Duration ProcessPorts::wake_up(engine::ComputeClient client) {
  return world_.costs->threads().wake_up + world_.random->hiccup(client, world_.costs->threads());
}

Duration ProcessPorts::timer_lateness(engine::ComputeClient client) {
  return world_.costs->threads().timer_lateness +
         world_.random->hiccup(client, world_.costs->threads());
}

// --- storage -------------------------------------------------------------------------------------

void ProcessPorts::put(std::string path, std::vector<std::byte> bytes,
                       base::InplaceFunction<void(engine::PutStatus)> done) {
  put_rest(std::move(path), std::move(bytes), 0, std::move(done));
}

bool ProcessPorts::write_ahead(std::int64_t bytes,
                               base::InplaceFunction<void(engine::PutStatus)> done) {
  if (!alive_) return true;
  world_.store->put_part(bytes, owner(),
                         [done = std::make_unique<base::InplaceFunction<void(engine::PutStatus)>>(
                              std::move(done))](sim::StorageStatus status) {
                           (*done)(status == sim::StorageStatus::kOk ? engine::PutStatus::kStored
                                                                     : engine::PutStatus::kFailed);
                         });
  return true;
}

void ProcessPorts::put_rest(std::string path, std::vector<std::byte> bytes, std::int64_t ahead,
                            base::InplaceFunction<void(engine::PutStatus)> done) {
  if (!alive_) return;
  TAILRACE_ASSERT(0 <= ahead && ahead <= static_cast<std::int64_t>(bytes.size()));
  struct Request {
    std::string path;
    engine::Blob blob;
    base::InplaceFunction<void(engine::PutStatus)> done;
  };
  const std::int64_t size = static_cast<std::int64_t>(bytes.size()) - ahead;
  auto request = std::make_unique<Request>();
  request->path = std::move(path);
  request->blob = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  request->done = std::move(done);
  after_extra_latency([this, size, request = std::move(request)]() mutable {
    if (world_.trouble->full) {
      // Refused at the door, when the request has got there.
      world_.store->touch(owner(), [request = std::move(request)](sim::StorageStatus) {
        request->done(engine::PutStatus::kFailed);
      });
      return;
    }
    world_.store->put(
        size, owner(),
        [contents = world_.blobs, removed = world_.removed,
         request = std::move(request)](sim::StorageStatus status) {
          const bool stored = status == sim::StorageStatus::kOk && !removed->cover(request->path);
          if (stored) (*contents)[request->path] = request->blob;
          request->done(stored ? engine::PutStatus::kStored : engine::PutStatus::kFailed);
        });
  });
}

void ProcessPorts::after_extra_latency(base::Callback request) {
  const Duration extra = world_.trouble->extra_latency;
  if (extra.ns == 0) {
    request();
  } else {
    schedule(extra, std::move(request));
  }
}

void ProcessPorts::get(const std::string& path, base::InplaceFunction<void(engine::Blob)> done) {
  if (!alive_) return;
  const auto found = world_.blobs->find(path);
  fetch(found == world_.blobs->end() ? nullptr : found->second, false, std::move(done));
}

void ProcessPorts::get_range(const std::string& path, std::int64_t offset, std::int64_t length,
                             base::InplaceFunction<void(engine::Blob)> done) {
  if (alive_) fetch(part_of(path, offset, length), false, std::move(done));
}

void ProcessPorts::get_more(const std::string& path, std::int64_t offset, std::int64_t length,
                            base::InplaceFunction<void(engine::Blob)> done) {
  if (alive_) fetch(part_of(path, offset, length), true, std::move(done));
}

engine::Blob ProcessPorts::part_of(const std::string& path, std::int64_t offset,
                                   std::int64_t length) const {
  TAILRACE_ASSERT(offset >= 0 && length >= 1);
  const auto found = world_.blobs->find(path);
  if (found == world_.blobs->end()) return nullptr;
  const std::vector<std::byte>& whole = *found->second;
  const auto size = static_cast<std::int64_t>(whole.size());
  if (offset > size || length > size - offset) return nullptr;
  return std::make_shared<const std::vector<std::byte>>(whole.begin() + offset,
                                                        whole.begin() + offset + length);
}

void ProcessPorts::fetch(engine::Blob blob, bool is_open,
                         base::InplaceFunction<void(engine::Blob)> done) {
  const std::int64_t size = blob == nullptr ? 0 : static_cast<std::int64_t>(blob->size());
  struct Request {
    engine::Blob blob;
    base::InplaceFunction<void(engine::Blob)> done;
  };
  auto request = std::make_unique<Request>();
  request->blob = std::move(blob);
  request->done = std::move(done);
  const auto crossed = [](std::unique_ptr<Request> over) {
    return [request = std::move(over)](sim::StorageStatus status) {
      request->done(status == sim::StorageStatus::kOk ? request->blob : nullptr);
    };
  };
  if (is_open) return world_.reads->get_part(size, owner(), crossed(std::move(request)));
  after_extra_latency([this, size, crossed, request = std::move(request)]() mutable {
    world_.reads->get(size, owner(), crossed(std::move(request)));
  });
}

// Takes effect at once: nobody may read what is deleted. Who waits for the answer of the store asks for
// it (`when_removed`). The dead delete nothing.
void ProcessPorts::remove(const std::string& path) {
  if (alive_) world_.blobs->erase(path);
}

void ProcessPorts::when_removed(base::InplaceFunction<void()> done) {
  if (!alive_) return;
  after_extra_latency(
      [this, done = std::make_unique<base::InplaceFunction<void()>>(std::move(done))]() mutable {
        // Whether the store has done it or not is all the same to who asked (Flink logs it).
        world_.store->touch(owner(), [done = std::move(done)](sim::StorageStatus) { (*done)(); });
      });
}

void ProcessPorts::remove_directory(const std::string& path) {
  if (!alive_) return;
  const std::string below = path + '/';
  const auto first = world_.blobs->lower_bound(below);
  auto last = first;
  while (last != world_.blobs->end() && last->first.starts_with(below)) ++last;
  world_.blobs->erase(first, last);
  world_.removed->add(path);
}

std::optional<Time> ProcessPorts::fixed_time(std::string_view stream) {
  return world_.pins->next(stream);
}

std::int64_t ProcessPorts::uniform(std::string_view stream, std::int64_t low, std::int64_t high) {
  return world_.random->stream(stream).uniform(low, high);
}

}  // namespace tailrace::scenarios
