#include "engine/scheduling/high_availability_services.hpp"

#include <algorithm>
#include <utility>

namespace tailrace::engine {

HighAvailabilityServices::HighAvailabilityServices(const Ports& ports,
                                                   HighAvailabilityConfig config)
    : ports_(ports), config_(std::move(config)) {}

// ---- Sessions and requests

void HighAvailabilityServices::serve(ProcessId client, Kind kind, Callback apply) {
  touch(client);
  const Time now = ports_.clock->now();
  busy_until_ = std::max(now, busy_until_) + (kind == Kind::WRITE ? config_.write : config_.read);
  ports_.timers->schedule(busy_until_ - now, std::move(apply));
}

void HighAvailabilityServices::answer(ProcessId client, Callback callback) {
  ports_.calls->send(client, kRpcBytes, std::move(callback));
}

void HighAvailabilityServices::touch(ProcessId client) {
  Session& session = sessions_[client];
  ports_.timers->cancel(session.expiry);
  session.expiry = ports_.timers->schedule(config_.session_timeout,
                                           lifeline_.bind([this, client] { expire(client); }));
}

void HighAvailabilityServices::expire(ProcessId client) {
  sessions_.erase(client);
  std::erase(contenders_, client);
  if (leader_ != client) return;
  leader_.reset();
  leader_address_ = {};
  tell_watchers();
  elect();
}

// ---- The leader

void HighAvailabilityServices::contend(ProcessId client, std::shared_ptr<Granted> granted) {
  sessions_[client].granted = std::move(granted);
  contenders_.push_back(client);
  elect();
}

void HighAvailabilityServices::elect() {
  if (leader_.has_value() || contenders_.empty()) return;  // H1
  leader_ = contenders_.front();
  if (ports_.observer != nullptr) ports_.observer->on_leader_granted(*leader_);
  answer(*leader_, [granted = sessions_.at(*leader_).granted] { (*granted)(); });
}

void HighAvailabilityServices::publish_leader(ProcessId client, LeaderAddress address) {
  if (leader_ != client) return;
  leader_address_ = address;
  tell_watchers();
}

void HighAvailabilityServices::watch_leader(ProcessId client,
                                            std::shared_ptr<LeaderWatcher> watcher) {
  watchers_.push_back({client, watcher});
  if (!leader_address_) return;
  answer(client, [watcher, address = leader_address_] { (*watcher)(address); });
}

void HighAvailabilityServices::tell_watchers() {
  for (const Watcher& watching : watchers_) {
    answer(watching.process,
           [watcher = watching.watcher, address = leader_address_] { (*watcher)(address); });
  }
}

// ---- Entries and counters

HighAvailabilityServices::Fault HighAvailabilityServices::next_fault() {
  const auto found = faults_.find(++changes_);
  return found == faults_.end() ? Fault::NONE : found->second;
}

HandleStored HighAvailabilityServices::add_entry(JobId job, Entry entry) {
  const Fault fault = next_fault();
  if (fault == Fault::REFUSED) return HandleStored::FAILED;
  if (fault == Fault::LOST) return HandleStored::UNCERTAIN;
  const CheckpointId id = entry.checkpoint->id;
  const bool savepoint = entry.checkpoint->properties.is_savepoint();
  if (!entries_[job].emplace(checkpoint_id_to_name(id), std::move(entry)).second) {
    return HandleStored::FAILED;
  }
  if (ports_.observer != nullptr) ports_.observer->on_checkpoint_entry_written(job, id, savepoint);
  return fault == Fault::ANSWER_LOST ? HandleStored::UNCERTAIN : HandleStored::STORED;
}

std::optional<HighAvailabilityServices::Entry> HighAvailabilityServices::remove_entry(
    JobId job, const std::string& name) {
  const Fault fault = next_fault();
  if (fault == Fault::REFUSED || fault == Fault::LOST) return std::nullopt;
  const auto of_job = entries_.find(job);
  if (of_job == entries_.end()) return Entry{};
  auto node = of_job->second.extract(name);
  if (node.empty()) return Entry{};
  if (ports_.observer != nullptr) {
    ports_.observer->on_checkpoint_entry_removed(job, name_to_checkpoint_id(name));
  }
  if (fault == Fault::ANSWER_LOST) return std::nullopt;
  return std::move(node.mapped());
}

void HighAvailabilityServices::clear_entries(JobId job) {
  const auto of_job = entries_.find(job);
  if (of_job == entries_.end()) return;
  for (const auto& [name, entry] : of_job->second) {
    if (ports_.observer != nullptr) {
      ports_.observer->on_checkpoint_entry_removed(job, entry.checkpoint->id);
    }
  }
  entries_.erase(of_job);
}

const std::map<std::string, HighAvailabilityServices::Entry>& HighAvailabilityServices::entries(
    JobId job) const {
  static const std::map<std::string, Entry> kNone;
  const auto found = entries_.find(job);
  return found == entries_.end() ? kNone : found->second;
}

CompletedCheckpointPtr HighAvailabilityServices::newest(JobId job) const {
  const auto& all = entries(job);
  return all.empty() ? nullptr : all.rbegin()->second.checkpoint;
}

std::optional<CheckpointId> HighAvailabilityServices::next_checkpoint_id(JobId job) {
  const Fault fault = next_fault();
  if (fault == Fault::REFUSED || fault == Fault::LOST) return std::nullopt;
  const CheckpointId id = counts_.try_emplace(job, 1).first->second++;  // H2
  if (fault == Fault::ANSWER_LOST) return std::nullopt;
  return id;
}

bool HighAvailabilityServices::set_count(JobId job, CheckpointId next) {
  const Fault fault = next_fault();
  if (fault == Fault::REFUSED || fault == Fault::LOST) return false;
  counts_[job] = next;
  return fault != Fault::ANSWER_LOST;
}

CheckpointId HighAvailabilityServices::count(JobId job) const {
  const auto found = counts_.find(job);
  return found == counts_.end() ? 1 : found->second;
}

}  // namespace tailrace::engine
