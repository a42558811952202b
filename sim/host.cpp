#include "sim/host.hpp"

#include <algorithm>
#include <utility>

namespace tailrace::sim {

Host::Host(Simulation& simulation, std::int32_t cores, std::int64_t speed_permille)
    : simulation_(&simulation), speed_permille_(speed_permille) {
  TAILRACE_ASSERT(cores >= 1 && speed_permille >= 1);
  cores_.resize(static_cast<std::size_t>(cores));
}

Host::~Host() {
  for (Core& core : cores_) simulation_->cancel(core.event);
}

void Host::run(OwnerTag owner, Duration nominal, Ratio slow_down, base::Callback done) {
  Request request{owner, scale_up(nominal, slow_down), std::move(done)};
  if (static_cast<std::size_t>(busy_) == cores_.size()) {
    queue_.push_back(std::move(request));
    return;
  }
  std::size_t core = 0;
  while (cores_[core].busy) ++core;
  start(core, std::move(request));
}

bool Host::stands_still(OwnerTag owner) const {
  return pauses_ > 0 ||
         std::find(paused_owners_.begin(), paused_owners_.end(), owner) != paused_owners_.end();
}

void Host::start(std::size_t index, Request request) {
  Core& core = cores_[index];
  core.busy = true;
  ++busy_;
  core.owner = request.owner;
  core.left = scale_up(request.work, {1000, speed_permille_});
  core.done = std::move(request.done);
  if (!stands_still(core.owner)) thaw(index);
}

void Host::start_queued() {
  for (std::size_t core = 0; core < cores_.size() && !queue_.empty(); ++core) {
    if (!cores_[core].busy) start(core, queue_.pop_front());
  }
}

void Host::freeze(Core& core) {
  if (core.event.value == 0) return;
  core.left -= simulation_->now() - core.since;
  simulation_->cancel(std::exchange(core.event, {}));
}

void Host::thaw(std::size_t index) {
  Core& core = cores_[index];
  core.since = simulation_->now();
  core.event = simulation_->schedule(core.left, *this, index);
}

void Host::on_event(std::uint64_t argument) {
  Core& core = cores_[argument];
  core.event = {};
  core.busy = false;
  --busy_;
  base::Callback done = std::move(core.done);
  // Who waits comes before whatever `done` asks for: first in, first out.
  if (!queue_.empty()) start(argument, queue_.pop_front());
  if (done) done();
}

void Host::pause() {
  ++pauses_;
  for (Core& core : cores_) freeze(core);
}

void Host::resume() {
  TAILRACE_ASSERT(pauses_ > 0);
  --pauses_;
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    if (cores_[i].busy && !stands_still(cores_[i].owner)) thaw(i);
  }
}

void Host::pause(OwnerTag owner) {
  paused_owners_.push_back(owner);
  for (Core& core : cores_) {
    if (core.busy && core.owner == owner) freeze(core);
  }
}

void Host::resume(OwnerTag owner) {
  const auto found = std::find(paused_owners_.begin(), paused_owners_.end(), owner);
  TAILRACE_ASSERT(found != paused_owners_.end());
  paused_owners_.erase(found);
  if (stands_still(owner)) return;
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    if (cores_[i].busy && cores_[i].owner == owner) thaw(i);
  }
}

void Host::set_speed(std::int64_t speed_permille) {
  TAILRACE_ASSERT(speed_permille >= 1);
  const std::int64_t old = std::exchange(speed_permille_, speed_permille);
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    Core& core = cores_[i];
    if (!core.busy) continue;
    const bool moving = core.event.value != 0;
    freeze(core);
    core.left = scale_up(core.left, {old, speed_permille});
    if (moving) thaw(i);
  }
}

void Host::kill(OwnerTag owner) {
  // Destroyed last: their destructors may come back to this host.
  std::vector<base::Callback> dropped;
  queue_.remove_if([owner](const Request& request) { return request.owner == owner; },
                   [&dropped](Request request) { dropped.push_back(std::move(request.done)); });
  std::erase(paused_owners_, owner);
  for (Core& core : cores_) {
    if (!core.busy || core.owner != owner) continue;
    simulation_->cancel(std::exchange(core.event, {}));
    core.busy = false;
    --busy_;
    dropped.push_back(std::move(core.done));
  }
  start_queued();
}

}  // namespace tailrace::sim
