#include "engine/scheduling/high_availability_client.hpp"

#include <map>
#include <optional>

#include "engine/checkpoint/metadata/metadata_v2_serializer.hpp"
#include "engine/checkpoint/metadata/metadata_v4_serializer.hpp"

namespace tailrace::engine {
namespace {

// The answer of a request that has none.
struct Done {};
// A client speaks up three times within its session's timeout. Apache ZooKeeper 3.4 ClientCnxn: half
// of the read timeout, which is two thirds of the session's; Flink's Kubernetes defaults are 5 s and
// 15 s.
constexpr std::int64_t kPingsPerSession = 3;

}  // namespace

HighAvailabilityClient::HighAvailabilityClient(const Ports& ports,
                                               HighAvailabilityServices& services)
    : ports_(ports), services_(services) {}

HighAvailabilityClient::~HighAvailabilityClient() {
  ports_.timers->cancel(ping_);
}

void HighAvailabilityClient::contend(HighAvailabilityServices::Granted granted) {
  ping();
  const auto boxed = std::make_shared<HighAvailabilityServices::Granted>(lifeline_.bind(
      [granted = std::make_unique<HighAvailabilityServices::Granted>(std::move(granted))] {
        (*granted)();
      }));
  ask<Done>(
      Kind::WRITE,
      [client = ports_.self, boxed](HighAvailabilityServices& services) {
        services.contend(client, boxed);
        return Done{};
      },
      [](Done) {});
}

void HighAvailabilityClient::ping() {
  ports_.calls->send(services_.process(), kRpcBytes,
                     [&services = services_, self = ports_.self] { services.touch(self); });
  ping_ = ports_.timers->schedule(Duration::nanos(config().session_timeout.ns / kPingsPerSession),
                                  lifeline_.bind([this] { ping(); }));
}

void HighAvailabilityClient::publish_leader(RpcAddress<JobMasterGateway> address) {
  ask<Done>(
      Kind::WRITE,
      [client = ports_.self, address](HighAvailabilityServices& services) {
        services.publish_leader(client, address);
        return Done{};
      },
      [](Done) {});
}

void HighAvailabilityClient::put_job(JobId id, HighAvailabilityServices::Job job,
                                     base::InplaceFunction<void()> done) {
  ask<Done>(
      Kind::WRITE,
      [id, job = std::move(job)](HighAvailabilityServices& services) {
        services.jobs()[id] = job;
        return Done{};
      },
      [done = std::move(done)](Done) mutable { done(); });
}

void HighAvailabilityClient::remove_job(JobId id) {
  ask<Done>(
      Kind::WRITE,
      [id](HighAvailabilityServices& services) {
        services.jobs().erase(id);
        return Done{};
      },
      [](Done) {});
}

void HighAvailabilityClient::get_jobs(base::InplaceFunction<void(std::vector<RecoveredJob>)> done) {
  ask<std::vector<RecoveredJob>>(
      Kind::READ,
      [](HighAvailabilityServices& services) {
        std::vector<RecoveredJob> jobs;
        for (const auto& [id, job] : services.jobs()) {
          jobs.push_back({id, job, services.count(id)});
        }
        return jobs;
      },
      std::move(done));
}

void HighAvailabilityClient::when_idle(base::InplaceFunction<void()> done) {
  waiting_for_idle_.push_back(std::move(done));
  ++unanswered_;  // never inside the call
  ports_.timers->schedule({}, lifeline_.bind([this] { answered(); }));
}

void HighAvailabilityClient::answered() {
  if (--unanswered_ > 0) return;
  std::vector<base::InplaceFunction<void()>> waiting = std::move(waiting_for_idle_);
  waiting_for_idle_.clear();
  for (base::InplaceFunction<void()>& done : waiting) done();
}

// ---- One job

struct HighAvailableJob::Adding {
  CompletedCheckpointPtr checkpoint;
  std::string pointer;
  Added done;
};

struct HighAvailableJob::Reading {
  AllRead done;
  std::vector<std::pair<CheckpointId, HighAvailabilityServices::Entry>> entries;
  std::vector<StoredCheckpoint> result;
};

HighAvailableJob::HighAvailableJob(HighAvailabilityClient& client, JobId job,
                                   CheckpointId next_checkpoint, HandleStoreSemantics semantics)
    : client_(client), job_(job), known_count_(next_checkpoint), semantics_(semantics) {}

void HighAvailableJob::add_and_lock(CompletedCheckpointPtr checkpoint, Added done) {
  auto adding = std::make_shared<Adding>();
  // Flink draws the name; this one is as unique.
  adding->pointer = client_.config().storage_directory + "/job-" + std::to_string(job_.value) +
                    "/completedCheckpoint-" + checkpoint_id_to_name(checkpoint->id) + '-' +
                    std::to_string(client_.ports().self.value);
  adding->checkpoint = std::move(checkpoint);
  adding->done = std::move(done);
  if (!semantics_.checks_existence) return write_pointer(std::move(adding));
  client_.ask<bool>(
      Kind::READ,
      [job = job_, name = checkpoint_id_to_name(adding->checkpoint->id)](
          HighAvailabilityServices& services) { return services.entries(job).contains(name); },
      lifeline_.bind([this, adding](bool exists) {
        if (exists) return adding->done(HandleStored::FAILED);
        write_pointer(adding);
      }));
}

void HighAvailableJob::write_pointer(std::shared_ptr<Adding> adding) {
  const CompletedCheckpoint& checkpoint = *adding->checkpoint;
  client_.ports().blobs->put(
      adding->pointer,
      semantics_.keeps_finished_states
          ? MetadataV4Serializer::serialize(checkpoint.id, checkpoint.master_states,
                                            checkpoint.operator_states, checkpoint.properties)
          : MetadataV2Serializer::serialize(checkpoint.id, checkpoint.master_states,
                                            checkpoint.operator_states),
      lifeline_.bind([this, adding](PutStatus status) {
        if (status == PutStatus::kFailed) return adding->done(HandleStored::FAILED);
        write_entry(adding);
      }));
}

void HighAvailableJob::write_entry(std::shared_ptr<Adding> adding) {
  if (client_.ports().observer != nullptr) {
    client_.ports().observer->on_checkpoint_entry_sent(job_, adding->checkpoint->id);
  }
  client_.ask<HandleStored>(
      Kind::WRITE,
      [job = job_, checkpoint = adding->checkpoint,
       pointer = adding->pointer](HighAvailabilityServices& services) {
        return services.add_entry(job, {checkpoint, pointer});
      },
      lifeline_.bind([this, adding](HandleStored stored) {
        const bool keep = stored == HandleStored::STORED ||
                          (stored == HandleStored::UNCERTAIN && semantics_.keeps_uncertain);
        if (!keep) client_.ports().blobs->remove(adding->pointer);
        adding->done(stored);
      }));
}

// Reads where it points to, releases the lock, deletes the entry, then what it pointed to: three
// requests in turn. Flink 1.10 ZooKeeperStateHandleStore.releaseAndTryRemove.
void HighAvailableJob::release_and_try_remove(CheckpointId id, Removed done) {
  struct Removing {
    std::string name;
    Removed done;
  };
  const auto removing =
      std::shared_ptr<Removing>(new Removing{checkpoint_id_to_name(id), std::move(done)});
  const auto nothing = [](HighAvailabilityServices&) { return Done{}; };
  client_.ask<Done>(Kind::READ, nothing, lifeline_.bind([this, removing, nothing](Done) {
    client_.ask<Done>(Kind::WRITE, nothing, lifeline_.bind([this, removing](Done) {
      using Entry = HighAvailabilityServices::Entry;
      client_.ask<std::optional<Entry>>(
          Kind::WRITE,
          [job = job_, removing](HighAvailabilityServices& services) {
            return services.remove_entry(job, removing->name);
          },
          lifeline_.bind([this, removing](const std::optional<Entry>& entry) {
            if (entry.has_value() && !entry->pointer.empty()) {
              client_.ports().blobs->remove(entry->pointer);
            }
            removing->done(entry.has_value());
          }));
    }));
  }));
}

void HighAvailableJob::get_all_and_lock(AllRead done) {
  auto reading = std::make_shared<Reading>();
  reading->done = std::move(done);
  using Entries = std::vector<std::pair<CheckpointId, HighAvailabilityServices::Entry>>;
  client_.ask<Entries>(
      Kind::READ,
      [job = job_](HighAvailabilityServices& services) {
        Entries entries;
        for (const auto& [name, entry] : services.entries(job)) {
          entries.emplace_back(name_to_checkpoint_id(name), entry);
        }
        return entries;
      },
      lifeline_.bind([this, reading](Entries entries) {
        reading->entries = std::move(entries);
        read_next(reading);
      }));
}

// Each entry is locked (a write) and read; then what it points to is.
void HighAvailableJob::read_next(std::shared_ptr<Reading> reading) {
  if (reading->result.size() == reading->entries.size()) {
    return reading->done(std::move(reading->result));
  }
  client_.ask<Done>(
      Kind::WRITE, [](HighAvailabilityServices&) { return Done{}; },
      lifeline_.bind([this, reading](Done) {
        const auto& [id, entry] = reading->entries[reading->result.size()];
        client_.ports().blobs->get(
            entry.pointer, lifeline_.bind([this, reading, id = id](const Blob& blob) {
              const auto& next = reading->entries[reading->result.size()].second;
              if (client_.ports().observer != nullptr) {
                client_.ports().observer->on_checkpoint_entry_read(job_, id, blob != nullptr);
              }
              reading->result.push_back({id, blob == nullptr ? nullptr : next.checkpoint});
              read_next(reading);
            }));
      }));
}

void HighAvailableJob::clear_entries() {
  client_.ask<Done>(
      Kind::WRITE,
      [job = job_](HighAvailabilityServices& services) {
        services.clear_entries(job);
        return Done{};
      },
      [](Done) {});
}

void HighAvailableJob::get_and_increment(Next done) {
  client_.ask<std::optional<CheckpointId>>(
      Kind::WRITE,
      [job = job_](HighAvailabilityServices& services) { return services.next_checkpoint_id(job); },
      lifeline_.bind([this, done = std::move(done)](std::optional<CheckpointId> id) mutable {
        if (id.has_value()) known_count_ = *id + 1;
        done(id);
      }));
}

void HighAvailableJob::set_count(CheckpointId next, Set done) {
  client_.ask<bool>(
      Kind::WRITE,
      [job = job_, next](HighAvailabilityServices& services) {
        return services.set_count(job, next);
      },
      lifeline_.bind([this, next, done = std::move(done)](bool is_set) mutable {
        if (is_set) known_count_ = next;
        done(is_set);
      }));
}

void HighAvailableJob::remove() {
  client_.ask<Done>(
      Kind::WRITE,
      [job = job_](HighAvailabilityServices& services) {
        services.remove_count(job);
        return Done{};
      },
      [](Done) {});
}

}  // namespace tailrace::engine
