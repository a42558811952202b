// The highly available store of a cluster: a process of its own that outlives every job manager.
//
// ZooKeeper, or the Kubernetes API server, as Flink 1.10 and 1.20 use them: leader election
// (LeaderElection, the latch node), job graphs (JobGraphStore), entries of completed checkpoints
// (ZooKeeperStateHandleStore), id counters (ZooKeeperCheckpointIDCounter), and who watches the
// leader. Requests come one way, are served one after the other, are applied, and are answered one
// way later: a client that dies in between leaves what it asked for here or not.
//
// Flink locks entries for the session of the leader that uses them. The leader's latch is of the
// same session, so no leader ever meets a lock of another; there are none here.
//
// Invariants
//   H1  At most one leader; it is a contender whose session lives.
//   H2  An id of a counter is handed out once, until the counter is set.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/checkpoint/ha/checkpoint_handle_store.hpp"
#include "engine/graph/job_graph.hpp"
#include "engine/observer.hpp"
#include "engine/ports.hpp"
#include "engine/scheduling/gateways.hpp"
#include "engine/scheduling/job_submission.hpp"
#include "sim/base/lifeline.hpp"

namespace tailrace::engine {

struct HighAvailabilityConfig {
  Duration read = Duration::micros(500);  // to serve a request that changes nothing
  Duration write = Duration::millis(5);   // to serve one that does: a quorum has it on disk
  Duration session_timeout = Duration::seconds(60);  // silence after which a client counts as dead
  std::string storage_directory = "ha";              // high-availability.storageDir
};

class HighAvailabilityServices {
 public:
  enum class Kind : std::uint8_t { READ, WRITE };
  // What goes wrong with a request, for tests.
  enum class Fault : std::uint8_t {
    NONE,
    REFUSED,      // not applied, and the client knows
    LOST,         // not applied, and the client does not know
    ANSWER_LOST,  // applied, and the client does not know
  };

  struct Entry {
    CompletedCheckpointPtr checkpoint;
    std::string pointer;  // the file in the storage directory that the entry points to
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  struct Job {
    std::shared_ptr<const JobGraph> graph;
    std::shared_ptr<const JobSubmission> submission;
  };
  using LeaderAddress = RpcAddress<JobMasterGateway>;  // without a gateway: there is no leader
  using LeaderWatcher = base::InplaceFunction<void(LeaderAddress)>;
  using Granted = base::InplaceFunction<void()>;

  // `ports`: of the store's own process.
  HighAvailabilityServices(const Ports& ports, HighAvailabilityConfig config);
  HighAvailabilityServices(const HighAvailabilityServices&) = delete;
  HighAvailabilityServices& operator=(const HighAvailabilityServices&) = delete;

  [[nodiscard]] ProcessId process() const { return ports_.self; }
  [[nodiscard]] const HighAvailabilityConfig& config() const { return config_; }

  // What follows runs in this process, called by messages of clients (HighAvailabilityClient).

  // Runs `apply` when its turn has come. Also a sign of life of the client.
  void serve(ProcessId client, Kind kind, Callback apply);
  void answer(ProcessId client, Callback callback);
  // A sign of life.
  void touch(ProcessId client);
  // `granted` runs in the client's process once it leads.
  void contend(ProcessId client, std::shared_ptr<Granted> granted);
  // Ignored unless the client leads.
  void publish_leader(ProcessId client, LeaderAddress address);
  // `watcher` runs in its process: with the leader of now, if there is one, and at every change.
  void watch_leader(ProcessId client, std::shared_ptr<LeaderWatcher> watcher);

  [[nodiscard]] std::map<JobId, Job>& jobs() { return jobs_; }
  HandleStored add_entry(JobId job, Entry entry);
  // None: it failed, or nobody knows. An entry without a checkpoint: there was none of that name.
  std::optional<Entry> remove_entry(JobId job, const std::string& name);
  void clear_entries(JobId job);
  // By name. Of a job that is not known: none.
  [[nodiscard]] const std::map<std::string, Entry>& entries(JobId job) const;
  // None: a fault, see the counter's interface.
  std::optional<CheckpointId> next_checkpoint_id(JobId job);
  bool set_count(JobId job, CheckpointId next);
  void remove_count(JobId job) { counts_.erase(job); }
  [[nodiscard]] CheckpointId count(JobId job) const;

  // None: nobody leads.
  [[nodiscard]] std::optional<ProcessId> leader() const { return leader_; }
  // The newest entry; null: none.
  [[nodiscard]] CompletedCheckpointPtr newest(JobId job) const;
  // The `n`-th change of an entry or a counter from now on, counted from 1, goes wrong like that.
  void inject(std::uint64_t n, Fault fault) { faults_[changes_ + n] = fault; }

 private:
  struct Session {
    TimerId expiry;
    std::shared_ptr<Granted> granted;  // of a contender
  };
  struct Watcher {
    ProcessId process;
    std::shared_ptr<LeaderWatcher> watcher;
  };

  void expire(ProcessId client);
  void elect();
  void tell_watchers();
  [[nodiscard]] Fault next_fault();

  Ports ports_;
  HighAvailabilityConfig config_;
  Time busy_until_;
  std::map<ProcessId, Session> sessions_;
  std::deque<ProcessId> contenders_;  // in the order of their coming
  std::optional<ProcessId> leader_;
  LeaderAddress leader_address_;
  std::vector<Watcher> watchers_;
  std::map<JobId, Job> jobs_;
  std::map<JobId, std::map<std::string, Entry>> entries_;
  std::map<JobId, CheckpointId> counts_;
  std::uint64_t changes_ = 0;
  std::map<std::uint64_t, Fault> faults_;
  base::Lifeline lifeline_;
};

}  // namespace tailrace::engine
