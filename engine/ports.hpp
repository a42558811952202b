// Everything the engine wants of a world.
//
// One set of ports belongs to one process (a job manager or one life of a task manager). The world
// keeps these promises:
//   P1  One thread. A callback is never run inside the call that registered it, but later, from the
//       event loop, in the total order (time, order of scheduling).
//   P2  Once a process is dead none of its callbacks runs any more: they are destroyed. A call to a
//       dead process is lost.
//   P3  Nothing here reads a real clock or draws from anything but named streams of the seed.
// Callbacks that may outlive an object of the engine inside a living process are bound to that
// object's Lifeline by the engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/ids.hpp"
#include "engine/record.hpp"
#include "sim/base/callback.hpp"
#include "sim/base/result.hpp"
#include "sim/base/time.hpp"

namespace tailrace::engine {

using base::Callback;
using base::Duration;
using base::Time;

class Clock {
 public:
  [[nodiscard]] virtual Time now() const = 0;

 protected:
  ~Clock() = default;
};

using TimerId = base::StrongId<struct TimerIdTag, std::uint64_t>;  // 0: no timer

class Timers {
 public:
  // Requires: delay >= 0. A delay of 0 runs after everything already due now.
  virtual TimerId schedule(Duration delay, Callback callback) = 0;
  // Destroys the callback without running it. A timer that has fired or does not exist is ignored.
  virtual void cancel(TimerId timer) = 0;

 protected:
  ~Timers() = default;
};

// Control messages between processes (Akka in Flink). FIFO for each ordered pair of processes.
class RemoteCalls {
 public:
  // Runs `deliver` in process `to` after the latency of the way there. `bytes` is the size of the
  // message on the wire. A call to oneself has no latency, but is a later event all the same.
  virtual void send(ProcessId to, std::int64_t bytes, Callback deliver) = 0;

 protected:
  ~RemoteCalls() = default;
};

using ConnectionId = base::StrongId<struct ConnectionIdTag, std::uint32_t>;

// TCP connections between the network stacks of task managers. A connection is opened by the
// consumer's process (client) towards the producer's (server). Each direction is FIFO and shares
// the hosts' network interfaces with everything else.
class DataLinks {
 public:
  // `closed` runs when the peer's process dies (one link latency later), not after close().
  // The server learns of the connection with the first message that it receives.
  virtual ConnectionId open(ProcessId server, Callback closed) = 0;
  // Registers the server's side: what runs there if the client's process dies.
  virtual void accept(ConnectionId connection, Callback closed) = 0;

  // Sends one message towards the other end; may be called at either end.
  // `written` runs at the sender when the last byte has left its interface: only then may the next
  // message of a flow-controlled sender follow. `delivered` runs at the receiver.
  virtual void send(ConnectionId connection, std::int64_t bytes, Callback written,
                    Callback delivered) = 0;
  // Messages on their way are dropped. Neither `closed` callback runs.
  virtual void close(ConnectionId connection) = 0;

 protected:
  ~DataLinks() = default;
};

// What is to be computed. The engine states kinds, counts and bytes; the cost model prices them.
enum class WorkKind : std::uint8_t {
  kOperatorRecord,      // `count` records through the operator `op`
  kSerialise,           // `count` records of `bytes` in all, written into buffers
  kDeserialise,         // the same, read from buffers
  kCheckpointStart,     // a task's thread, from its last barrier (or the call) to its own barrier
  kSnapshotSync,        // synchronous part; count: hash buckets or list elements copied
  kSnapshotAsync,       // entries (`count`) and `bytes` serialised by the asynchronous part
  kRestore,             // entries (`count`) and `bytes` deserialised at a restore
  kCheckpointTrigger,   // job manager, 1.20: the location of a checkpoint is made
  kCheckpointFinalise,  // job manager: subtask states (`count`), bytes of metadata
  kTaskDeployment,      // task manager: `count` tasks from the call to the begin of their threads
};
struct Work {
  WorkKind kind;
  std::int32_t op = -1;  // index of the stream node, for kOperatorRecord; else -1
  std::int64_t count = 0;
  std::int64_t bytes = 0;
};

// Who computes: decides which slow-downs and pauses apply. `task` is -1 for a process's own work.
struct ComputeClient {
  std::int32_t vertex = -1;  // index of the job vertex
  std::int32_t subtask = -1;
};

// How a thread that serves records (Compute::service) keeps its time. It knows the instant at which it
// would be done with everything served so far and sleeps only when that instant is far enough ahead.
struct ServiceRules {
  Duration park;      // it sleeps when it is ahead by more than that
  Duration gap;       // a longer pause between two records is not caught up with
  Duration catch_up;  // nor is more than that
};

class Compute {
 public:
  // The time that the work takes on an idle core of speed 1. A pure function.
  [[nodiscard]] virtual Duration price(const Work& work) const = 0;
  // How much priced work a task does in one piece before it publishes its output and looks at its
  // mailbox again; the resolution of the simulation, not a cost.
  [[nodiscard]] virtual Duration slice() const = 0;
  // Occupies one core of this process's host for `nominal`, stretched by the speed of the host and
  // by whatever slows the client down; waits for a core first if all are busy.
  virtual void run(ComputeClient client, Duration nominal, Callback done) = 0;
  // The time (not CPU time) that one record occupies the thread of a task whose head is the operator
  // `op`, as slow as the client is now; it needs no core. None: records only cost what `price` says.
  [[nodiscard]] virtual std::optional<Duration> service(ComputeClient /*client*/,
                                                        std::int32_t /*op*/) const {
    return std::nullopt;
  }
  [[nodiscard]] virtual ServiceRules service_rules() const { return {}; }
  // How much later than it wanted a sleeping thread of the client runs this time: one that serves
  // records, and one that waits for a timer (to flush, or for a source's next record).
  virtual Duration wake_up(ComputeClient /*client*/) { return {}; }
  virtual Duration timer_lateness(ComputeClient /*client*/) { return {}; }

 protected:
  ~Compute() = default;
};

enum class PutStatus : std::uint8_t { kStored, kFailed };
// Immutable bytes, shared between the store and its readers.
using Blob = std::shared_ptr<const std::vector<std::byte>>;

// The durable store of checkpoints (a distributed file system or an object store).
class BlobStore {
 public:
  virtual void put(std::string path, std::vector<std::byte> bytes,
                   base::InplaceFunction<void(PutStatus)> done) = 0;
  // The next `bytes` of a blob that is still being written cross to the store; `done` runs when they
  // are through. Requires: bytes >= 1.
  // Returns: false if this store takes blobs only whole; then nothing happens.
  [[nodiscard]] virtual bool write_ahead(std::int64_t /*bytes*/,
                                         base::InplaceFunction<void(PutStatus)> /*done*/) {
    return false;
  }
  // As `put`; `ahead` of its bytes have crossed with write_ahead and do not cross again.
  virtual void put_rest(std::string path, std::vector<std::byte> bytes, std::int64_t /*ahead*/,
                        base::InplaceFunction<void(PutStatus)> done) {
    put(std::move(path), std::move(bytes), std::move(done));
  }
  // Null if there is no such blob or the store fails.
  virtual void get(const std::string& path, base::InplaceFunction<void(Blob)> done) = 0;
  // The bytes [offset, offset + length) of a blob; only they take time on the way. Null also if the
  // blob ends before. Requires: offset >= 0, length >= 1.
  virtual void get_range(const std::string& path, std::int64_t offset, std::int64_t length,
                         base::InplaceFunction<void(Blob)> done) = 0;
  // As `get_range`, of a blob that is open already: no request goes out for it.
  virtual void get_more(const std::string& path, std::int64_t offset, std::int64_t length,
                        base::InplaceFunction<void(Blob)> done) {
    get_range(path, offset, length, std::move(done));
  }
  // Fire and forget; removing what does not exist is no error.
  virtual void remove(const std::string& path) = 0;
  // Runs when the store has answered a removal that was asked for just now.
  virtual void when_removed(base::InplaceFunction<void()> done) { done(); }
  // Removes every blob below a directory, for good: what is on its way there, or is put there later,
  // fails and is not kept.
  virtual void remove_directory(const std::string& path) = 0;

 protected:
  ~BlobStore() = default;
};

class RandomDraws {
 public:
  // Uniform in [low, high], both included, from the stream of that name.
  virtual std::int64_t uniform(std::string_view stream, std::int64_t low, std::int64_t high) = 0;
  // A time that the scenario has fixed in place of what chance or the machine would decide; each call
  // takes the stream's next one. None: it has fixed none (any more).
  virtual std::optional<Time> fixed_time(std::string_view /*stream*/) { return std::nullopt; }

 protected:
  ~RandomDraws() = default;
};

// A log that can be read again from any position (a file, a Kafka topic), cut into partitions.
// Lives outside the job; positions are bytes.
class ReplayableLog {
 public:
  struct Line {
    std::string_view text;  // without its line end; lives as long as the log
    // When it came into being; never before is it visible. None: it comes into being when it is
    // read (an offered rate of `max`).
    std::optional<Time> offered;
    std::int64_t next = 0;  // position behind it
  };
  [[nodiscard]] virtual std::int32_t partition_count() const = 0;
  [[nodiscard]] virtual std::int64_t begin(std::int32_t partition) const = 0;
  [[nodiscard]] virtual std::int64_t end(std::int32_t partition) const = 0;
  // The first line at or behind `position`, whether or not it has been offered yet; none at the
  // end.
  [[nodiscard]] virtual std::optional<Line> read(std::int32_t partition,
                                                 std::int64_t position) const = 0;
  // Whether a source of it ends after the last line; otherwise it stays idle there.
  [[nodiscard]] virtual bool finite() const = 0;

 protected:
  ~ReplayableLog() = default;
};

using TransactionId = std::int64_t;

// The system that a sink writes to. Outlives every process of the job. Effects are visible when
// their transaction is committed, or at once if they are appended without one.
class ExternalSystem {
 public:
  virtual TransactionId begin() = 0;
  virtual void write(TransactionId transaction, const Record& record) = 0;
  // Idempotent: committing again what was committed does nothing (spec rescale.md S-8.11).
  // Returns: false if the transaction was aborted before.
  virtual bool commit(TransactionId transaction) = 0;
  // Tolerates unknown and finished transactions.
  virtual void abort(TransactionId transaction) = 0;
  virtual void append(const Record& record) = 0;

 protected:
  ~ExternalSystem() = default;
};

class Observer;  // engine/observer.hpp

// The ports of one process. Everything outlives the engine's objects of that process.
struct Ports {
  ProcessId self;
  Clock* clock = nullptr;
  Timers* timers = nullptr;
  RemoteCalls* calls = nullptr;
  DataLinks* links = nullptr;
  Compute* compute = nullptr;
  BlobStore* blobs = nullptr;
  RandomDraws* random = nullptr;
  Observer* observer = nullptr;
};

}  // namespace tailrace::engine
