// The highly available store, its client, and both generations' stores over it.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/checkpoint/checkpoint_storage.hpp"
#include "engine/checkpoint/f110/zookeeper_completed_checkpoint_store_110.hpp"
#include "engine/checkpoint/f120/default_completed_checkpoint_store_120.hpp"
#include "engine/scheduling/high_availability_client.hpp"
#include "engine/scheduling/high_availability_services.hpp"
#include "tests/engine/scheduling/hand_written_world.hpp"

namespace tailrace::engine {
namespace {

using Fault = HighAvailabilityServices::Fault;

constexpr ProcessId kStore{100};
constexpr ProcessId kFirst{1};
constexpr ProcessId kSecond{2};
constexpr JobId kJob{7};
constexpr Duration kWay = World::kLatency;
constexpr Duration kRead = Duration::micros(500);
constexpr Duration kWrite = Duration::millis(5);

// Files that are there, as the world of the job managers sees them.
class Files final : public BlobStore {
 public:
  explicit Files(World& world) : world_(world) {}
  void put(std::string path, std::vector<std::byte> bytes,
           base::InplaceFunction<void(PutStatus)> done) override {
    if (broken) {
      world_.schedule(kWay, [done = std::make_unique<base::InplaceFunction<void(PutStatus)>>(
                                 std::move(done))] { (*done)(PutStatus::kFailed); });
      return;
    }
    paths.insert(path);
    world_.put(std::move(path), std::move(bytes), std::move(done));
  }
  void get(const std::string& path, base::InplaceFunction<void(Blob)> done) override {
    world_.get(path, std::move(done));
  }
  void get_range(const std::string& path, std::int64_t offset, std::int64_t length,
                 base::InplaceFunction<void(Blob)> done) override {
    world_.get_range(path, offset, length, std::move(done));
  }
  void remove(const std::string& path) override {
    paths.erase(path);
    world_.remove(path);
  }
  void remove_directory(const std::string& path) override { world_.remove_directory(path); }

  std::set<std::string> paths;
  bool broken = false;

 private:
  World& world_;
};

class StoreCluster {
 public:
  StoreCluster() : files(world), store(ports_of(kStore), config()) {}

  [[nodiscard]] static HighAvailabilityConfig config() {
    HighAvailabilityConfig config;
    config.read = kRead;
    config.write = kWrite;
    config.session_timeout = Duration::seconds(6);
    return config;
  }
  [[nodiscard]] Ports ports_of(ProcessId self) {
    Ports ports;
    ports.self = self;
    ports.clock = &world;
    ports.timers = &world;
    ports.calls = &world;
    ports.blobs = &files;
    return ports;
  }
  // The process is dead, and its objects go.
  void kill(ProcessId process) { world.kill(process); }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& [name, entry] : store.entries(kJob)) names.push_back(name);
    return names;
  }

  World world;
  Files files;
  HighAvailabilityServices store;
};

CompletedCheckpointPtr kept_checkpoint(CheckpointId id) {
  auto completed = std::make_shared<CompletedCheckpoint>();
  completed->job = kJob;
  completed->id = id;
  completed->properties = CheckpointProperties::for_checkpoint(
      CheckpointRetentionPolicy::NEVER_RETAIN_AFTER_TERMINATION);
  completed->location.directory = "checkpoints/chk-" + std::to_string(id);
  return completed;
}

// One life of a job manager with what it has in the store.
struct Leader {
  Leader(StoreCluster& cluster, ProcessId self, HandleStoreSemantics semantics,
         CheckpointId next = 1)
      : client(cluster.ports_of(self), cluster.store), job(client, kJob, next, semantics) {}
  HighAvailabilityClient client;
  HighAvailableJob job;
};
constexpr HandleStoreSemantics k110{.keeps_uncertain = false, .checks_existence = false};
constexpr HandleStoreSemantics k120{};

std::vector<StoredCheckpoint> read_all(StoreCluster& cluster, HighAvailableJob& job) {
  std::optional<std::vector<StoredCheckpoint>> result;
  job.get_all_and_lock([&result](std::vector<StoredCheckpoint> all) { result = std::move(all); });
  cluster.world.run_for(Duration::seconds(1));
  return result.value_or(std::vector<StoredCheckpoint>{});
}

// ---- Names

TEST(CheckpointNames, SortAsTheirIdsDo) {
  EXPECT_EQ(checkpoint_id_to_name(1), "0000000000000000001");
  EXPECT_EQ(checkpoint_id_to_name(9223372036854775807), "9223372036854775807");
  EXPECT_LT(checkpoint_id_to_name(9), checkpoint_id_to_name(10));
  for (const CheckpointId id : {1L, 10L, 123456789L}) {
    EXPECT_EQ(name_to_checkpoint_id(checkpoint_id_to_name(id)), id);
  }
  EXPECT_EQ(name_to_checkpoint_id("1"), kNoCheckpoint);
  EXPECT_EQ(name_to_checkpoint_id("000000000000000000x"), kNoCheckpoint);
}

// ---- Requests

TEST(HighAvailabilityServices, ARequestIsAppliedOneWayLaterAndAnsweredOneWayAfterThat) {
  StoreCluster cluster;
  Leader leader(cluster, kFirst, k110);
  std::optional<CheckpointId> id;
  leader.job.get_and_increment([&id](std::optional<CheckpointId> next) { id = next; });
  cluster.world.run_for(kWay + kWrite - Duration::nanos(1));
  EXPECT_EQ(cluster.store.count(kJob), 1);
  cluster.world.run_for(Duration::nanos(1));
  EXPECT_EQ(cluster.store.count(kJob), 2);
  EXPECT_FALSE(id.has_value());
  cluster.world.run_for(kWay - Duration::nanos(1));
  EXPECT_FALSE(id.has_value());
  cluster.world.run_for(Duration::nanos(1));
  EXPECT_EQ(id, 1);
  EXPECT_EQ(leader.job.get(), 2);
}

TEST(HighAvailabilityServices, RequestsAreServedOneAfterTheOther) {
  StoreCluster cluster;
  Leader leader(cluster, kFirst, k110);
  std::vector<std::pair<CheckpointId, Time>> answers;
  for (int i = 0; i < 3; ++i) {
    leader.job.get_and_increment([&](std::optional<CheckpointId> next) {
      answers.emplace_back(*next, cluster.world.now());
    });
  }
  cluster.world.run_for(Duration::seconds(1));
  ASSERT_EQ(answers.size(), 3U);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(answers[static_cast<std::size_t>(i)].first, i + 1);
    EXPECT_EQ(answers[static_cast<std::size_t>(i)].second, Time{} + kWay + kWrite * (i + 1) + kWay);
  }
}

TEST(HighAvailabilityServices, WhatTheDeadHaveSentIsAppliedAndTheCounterGoesOnBehindIt) {
  StoreCluster cluster;
  auto first = std::make_unique<Leader>(cluster, kFirst, k110);
  bool answered = false;
  first->job.get_and_increment([&](std::optional<CheckpointId>) { answered = true; });
  cluster.world.run_for(Duration::nanos(kWay.ns / 2));  // on its way
  cluster.kill(kFirst);
  first.reset();
  cluster.world.run_for(Duration::seconds(1));
  EXPECT_FALSE(answered);

  Leader second(cluster, kSecond, k110, cluster.store.count(kJob));
  EXPECT_EQ(second.job.get(), 2);
  std::optional<CheckpointId> id;
  second.job.get_and_increment([&id](std::optional<CheckpointId> next) { id = next; });
  cluster.world.run_for(Duration::seconds(1));
  EXPECT_EQ(id, 2);  // 1 was used up
}

// Whenever the job manager dies while it adds an entry, the entry is there from the moment of the
// write on, and not before; nothing else of it is ever applied.
TEST(HighAvailabilityServices, AnEntryIsThereFromItsWriteOnWheneverItsWriterDies) {
  // File, one way, write, one way.
  const Duration sent = kWay;
  const Duration written = sent + kWay + kWrite;
  const Duration over = written + kWay + Duration::millis(1);
  for (Duration death{}; death <= over; death = death + Duration::micros(250)) {
    StoreCluster cluster;
    auto leader = std::make_unique<Leader>(cluster, kFirst, k110);
    std::optional<HandleStored> answer;
    leader->job.add_and_lock(kept_checkpoint(1), [&](HandleStored stored) { answer = stored; });
    cluster.world.run_for(death);
    cluster.kill(kFirst);
    const bool was_answered = answer.has_value();
    leader.reset();
    cluster.world.run_for(Duration::seconds(1));
    EXPECT_EQ(cluster.names().size(), death >= sent ? 1U : 0U) << death.ns;
    EXPECT_EQ(was_answered, death >= written + kWay) << death.ns;
    EXPECT_EQ(answer.has_value(), was_answered) << death.ns;

    Leader second(cluster, kSecond, k110);
    const std::vector<StoredCheckpoint> all = read_all(cluster, second.job);
    ASSERT_EQ(all.size(), cluster.names().size());
    for (const StoredCheckpoint& one : all) EXPECT_NE(one.checkpoint, nullptr);
  }
}

TEST(HighAvailabilityServices, TheSameNameTwiceIsRefused) {
  for (const HandleStoreSemantics semantics : {k110, k120}) {
    StoreCluster cluster;
    Leader leader(cluster, kFirst, semantics);
    std::vector<HandleStored> answers;
    const auto note = [&answers](HandleStored stored) { answers.push_back(stored); };
    leader.job.add_and_lock(kept_checkpoint(3), note);
    cluster.world.run_for(Duration::seconds(1));
    leader.job.add_and_lock(kept_checkpoint(3), note);
    cluster.world.run_for(Duration::seconds(1));
    EXPECT_EQ(answers, (std::vector{HandleStored::STORED, HandleStored::FAILED}));
    EXPECT_EQ(cluster.names(), (std::vector{checkpoint_id_to_name(3)}));
  }
}

// ---- Failures of a write

struct WriteCase {
  const char* name;
  HandleStoreSemantics semantics;
  Fault fault;
  HandleStored answer;
  bool entry;  // is there an entry afterwards?
  bool file;   // is what it points to there?
};
constexpr WriteCase kWriteCases[] = {
    {"Stored110", k110, Fault::NONE, HandleStored::STORED, true, true},
    {"Refused110", k110, Fault::REFUSED, HandleStored::FAILED, false, false},
    {"Lost110", k110, Fault::LOST, HandleStored::UNCERTAIN, false, false},
    {"AnswerLost110", k110, Fault::ANSWER_LOST, HandleStored::UNCERTAIN, true, false},
    {"Stored120", k120, Fault::NONE, HandleStored::STORED, true, true},
    {"Refused120", k120, Fault::REFUSED, HandleStored::FAILED, false, false},
    {"Lost120", k120, Fault::LOST, HandleStored::UNCERTAIN, false, true},
    {"AnswerLost120", k120, Fault::ANSWER_LOST, HandleStored::UNCERTAIN, true, true},
};
class EntryWrite : public testing::TestWithParam<WriteCase> {};

TEST_P(EntryWrite, LeavesWhatFlinkLeaves) {
  const WriteCase& c = GetParam();
  StoreCluster cluster;
  Leader leader(cluster, kFirst, c.semantics);
  cluster.store.inject(1, c.fault);
  std::optional<HandleStored> answer;
  leader.job.add_and_lock(kept_checkpoint(1), [&](HandleStored stored) { answer = stored; });
  cluster.world.run_for(Duration::seconds(1));
  EXPECT_EQ(answer, c.answer);
  EXPECT_EQ(!cluster.names().empty(), c.entry);
  EXPECT_EQ(!cluster.files.paths.empty(), c.file);
  const std::vector<StoredCheckpoint> all = read_all(cluster, leader.job);
  ASSERT_EQ(all.size(), c.entry ? 1U : 0U);
  for (const StoredCheckpoint& one : all) EXPECT_EQ(one.checkpoint != nullptr, c.file);
}
INSTANTIATE_TEST_SUITE_P(Faults, EntryWrite, testing::ValuesIn(kWriteCases),
                         [](const auto& one) { return one.param.name; });

TEST(HighAvailableJob, WithoutItsFileThereIsNoEntry) {
  StoreCluster cluster;
  Leader leader(cluster, kFirst, k120);
  cluster.files.broken = true;
  std::optional<HandleStored> answer;
  leader.job.add_and_lock(kept_checkpoint(1), [&](HandleStored stored) { answer = stored; });
  cluster.world.run_for(Duration::seconds(1));
  EXPECT_EQ(answer, HandleStored::FAILED);
  EXPECT_TRUE(cluster.names().empty());
}

// ---- Leaders

TEST(Leadership, GoesToTheNextContenderWhenTheSessionOfTheDeadHasRunOut) {
  StoreCluster cluster;
  auto first = std::make_unique<Leader>(cluster, kFirst, k110);
  std::vector<std::pair<int, Time>> granted;
  first->client.contend([&] { granted.emplace_back(1, cluster.world.now()); });
  cluster.world.run_for(Duration::seconds(10));
  EXPECT_EQ(cluster.store.leader(), kFirst);

  // The pings of a session of 6 s come every 2 s: the last one at 10 s.
  cluster.kill(kFirst);
  first.reset();
  Leader second(cluster, kSecond, k110);
  second.client.contend([&] { granted.emplace_back(2, cluster.world.now()); });
  cluster.world.run_for(Duration::millis(5'900));
  EXPECT_EQ(cluster.store.leader(), kFirst);
  cluster.world.run_for(Duration::seconds(1));
  EXPECT_EQ(cluster.store.leader(), kSecond);
  ASSERT_EQ(granted.size(), 2U);
  EXPECT_EQ(granted[0], (std::pair{1, Time{} + kWay + kWrite + kWay}));
  EXPECT_EQ(granted[1], (std::pair{2, Time{} + Duration::seconds(16) + kWay + kWay}));
}

TEST(Leadership, WatchersHearThatItIsLostAndWhoHasItNext) {
  StoreCluster cluster;
  constexpr ProcessId kWatcher{50};
  std::vector<std::uint32_t> heard;  // 0: nobody
  const auto watcher = std::make_shared<HighAvailabilityServices::LeaderWatcher>(
      [&heard](RpcAddress<JobMasterGateway> leader) {
        heard.push_back(leader ? leader.process.value : 0);
      });
  cluster.store.watch_leader(kWatcher, watcher);
  // An address that is only compared with null here.
  auto* gateway = reinterpret_cast<JobMasterGateway*>(&cluster);
  auto first = std::make_unique<Leader>(cluster, kFirst, k110);
  first->client.contend([&] { first->client.publish_leader({kFirst, gateway}); });
  cluster.world.run_for(Duration::seconds(1));
  cluster.kill(kFirst);
  first.reset();
  Leader second(cluster, kSecond, k110);
  second.client.contend([&] { second.client.publish_leader({kSecond, gateway}); });
  cluster.world.run_for(Duration::seconds(10));
  EXPECT_EQ(heard, (std::vector<std::uint32_t>{1, 0, 2}));

  // Whoever does not lead is not announced.
  Leader third(cluster, ProcessId{3}, k110);
  third.client.publish_leader({ProcessId{3}, gateway});
  cluster.world.run_for(Duration::seconds(1));
  EXPECT_EQ(heard.size(), 3U);
}

// ---- The store of 1.10

struct Store110 {
  explicit Store110(StoreCluster& cluster, ProcessId self, std::int32_t retained = 1)
      : leader(cluster, self, k110),
        storage(cluster.files, draws, kJob, "checkpoints", "savepoints"),
        store(retained, leader.job, storage, registry) {}
  struct Draws final : RandomDraws {
    std::int64_t uniform(std::string_view, std::int64_t low, std::int64_t) override { return low; }
  };

  bool add(StoreCluster& cluster, CompletedCheckpointPtr one) {
    std::optional<bool> answer;
    store.add_checkpoint_async(std::move(one), [&answer](bool stored) { answer = stored; });
    cluster.world.run_for(Duration::seconds(1));
    return answer.value();
  }
  std::optional<bool> recover(StoreCluster& cluster) {
    std::optional<bool> answer;
    store.recover_async([&answer](bool recovered) { answer = recovered; });
    cluster.world.run_for(Duration::seconds(1));
    return answer;
  }
  [[nodiscard]] std::vector<CheckpointId> ids() const {
    std::vector<CheckpointId> ids;
    for (const CompletedCheckpointPtr& one : store.checkpoints()) ids.push_back(one->id);
    return ids;
  }

  Draws draws;
  Leader leader;
  FsCheckpointStorage storage;
  SharedStateRegistry110 registry{[](const StreamStateHandle&) {}};
  ZooKeeperCompletedCheckpointStore110 store;
};

TEST(ZooKeeperCompletedCheckpointStore110, RecoversWhatIsThereOldestFirst) {
  StoreCluster cluster;
  Store110 first(cluster, kFirst, 3);
  for (const CheckpointId id : {8, 10, 9}) EXPECT_TRUE(first.add(cluster, kept_checkpoint(id)));
  Store110 second(cluster, kSecond, 3);
  EXPECT_TRUE(second.ids().empty());
  EXPECT_EQ(second.recover(cluster), true);
  EXPECT_EQ(second.ids(), (std::vector<CheckpointId>{8, 9, 10}));
  EXPECT_EQ(second.store.latest_checkpoint(false)->id, 10);
}

TEST(ZooKeeperCompletedCheckpointStore110, DropsEntriesBeforeItAnswersAndFilesWithThem) {
  StoreCluster cluster;
  Store110 store(cluster, kFirst, 1);
  cluster.files.paths = {"checkpoints/chk-1/_metadata", "checkpoints/chk-2/_metadata"};
  EXPECT_TRUE(store.add(cluster, kept_checkpoint(1)));
  EXPECT_TRUE(store.add(cluster, kept_checkpoint(2)));
  EXPECT_EQ(cluster.names(), (std::vector{checkpoint_id_to_name(2)}));
  EXPECT_FALSE(cluster.files.paths.contains("checkpoints/chk-1/_metadata"));
  EXPECT_TRUE(cluster.files.paths.contains("checkpoints/chk-2/_metadata"));
  EXPECT_EQ(cluster.files.paths.size(), 2U);  // and what the entry points to
}

TEST(ZooKeeperCompletedCheckpointStore110, WhatCannotBeRemovedIsForgottenAndKept) {
  StoreCluster cluster;
  Store110 store(cluster, kFirst, 1);
  cluster.files.paths = {"checkpoints/chk-1/_metadata"};
  EXPECT_TRUE(store.add(cluster, kept_checkpoint(1)));
  cluster.store.inject(2, Fault::LOST);  // the removal, behind the next entry
  EXPECT_TRUE(store.add(cluster, kept_checkpoint(2)));
  EXPECT_EQ(store.ids(), (std::vector<CheckpointId>{2}));
  EXPECT_EQ(cluster.names().size(), 2U);
  EXPECT_TRUE(cluster.files.paths.contains("checkpoints/chk-1/_metadata"));  // Z1
}

TEST(ZooKeeperCompletedCheckpointStore110, PassesOverWhatCannotBeRead) {
  StoreCluster cluster;
  Store110 store(cluster, kFirst, 2);
  EXPECT_TRUE(store.add(cluster, kept_checkpoint(1)));
  cluster.store.inject(1, Fault::ANSWER_LOST);
  EXPECT_FALSE(
      store.add(cluster, kept_checkpoint(2)));  // its entry is there, and points to nothing
  EXPECT_EQ(cluster.names().size(), 2U);
  EXPECT_EQ(store.recover(cluster), true);
  EXPECT_EQ(store.ids(), (std::vector<CheckpointId>{1}));
}

TEST(ZooKeeperCompletedCheckpointStore110, FailsIfNothingOfWhatIsThereCanBeRead) {
  StoreCluster cluster;
  Store110 store(cluster, kFirst);
  cluster.store.inject(1, Fault::ANSWER_LOST);
  EXPECT_FALSE(store.add(cluster, kept_checkpoint(1)));
  EXPECT_EQ(store.recover(cluster), false);
}

TEST(ZooKeeperCompletedCheckpointStore110, KeepsEverythingAfterASuspensionAndNothingAfterTheEnd) {
  for (const bool suspended : {true, false}) {
    StoreCluster cluster;
    Store110 store(cluster, kFirst, 2);
    EXPECT_TRUE(store.add(cluster, kept_checkpoint(1)));
    EXPECT_TRUE(store.add(cluster, kept_checkpoint(2)));
    store.store.shutdown(suspended ? JobStatus::SUSPENDED : JobStatus::CANCELED);
    EXPECT_TRUE(store.ids().empty());
    cluster.world.run_for(Duration::seconds(1));
    EXPECT_EQ(cluster.names().size(), suspended ? 2U : 0U);
    EXPECT_EQ(cluster.files.paths.size(), suspended ? 2U : 0U);
  }
}

// ---- The store of 1.20

struct Store120 {
  Store120(StoreCluster& cluster, ProcessId self, std::int32_t retained,
           const std::vector<CompletedCheckpointPtr>& recovered = {})
      : leader(cluster, self, k120),
        registry([](const StreamStateHandle&) {}),
        cleaner([this](CompletedCheckpointPtr gone, base::InplaceFunction<void(), 128> done) {
          cleaned.push_back(gone->id);
          done();
        }),
        store(retained, recovered, leader.job, registry, cleaner) {}

  CompletedCheckpointStore120::Outcome add(StoreCluster& cluster, CompletedCheckpointPtr one) {
    std::optional<CompletedCheckpointStore120::Outcome> answer;
    store.add(
        std::move(one), [] { return CheckpointsCleaner::PostCleanup{}; },
        [&answer](CompletedCheckpointStore120::Outcome outcome) { answer = std::move(outcome); });
    EXPECT_FALSE(answer.has_value());
    cluster.world.run_for(Duration::seconds(1));
    return answer.value();
  }

  std::vector<CheckpointId> cleaned;
  Leader leader;
  SharedStateRegistry120 registry;
  CheckpointsCleaner cleaner;
  DefaultCompletedCheckpointStore120 store;
};

TEST(DefaultCompletedCheckpointStore120, SubsumesBeforeItAnswersAndSaysWhat) {
  StoreCluster cluster;
  Store120 store(cluster, kFirst, 1);
  EXPECT_EQ(store.add(cluster, kept_checkpoint(1)).last_subsumed, nullptr);
  const auto outcome = store.add(cluster, kept_checkpoint(2));
  EXPECT_EQ(outcome.added, CompletedCheckpointStore120::Added::STORED);
  ASSERT_NE(outcome.last_subsumed, nullptr);
  EXPECT_EQ(outcome.last_subsumed->id, 1);
  EXPECT_EQ(store.cleaned, (std::vector<CheckpointId>{1}));
  EXPECT_EQ(cluster.names(), (std::vector{checkpoint_id_to_name(2)}));
}

TEST(DefaultCompletedCheckpointStore120, TellsAnUncertainFailureFromACertainOne) {
  using Added = CompletedCheckpointStore120::Added;
  for (const auto& [fault, added] :
       {std::pair{Fault::REFUSED, Added::FAILED}, std::pair{Fault::LOST, Added::UNCERTAIN},
        std::pair{Fault::ANSWER_LOST, Added::UNCERTAIN}}) {
    StoreCluster cluster;
    Store120 store(cluster, kFirst, 1);
    cluster.store.inject(1, fault);
    EXPECT_EQ(store.add(cluster, kept_checkpoint(1)).added, added);
    EXPECT_TRUE(store.store.checkpoints().empty());
  }
}

TEST(DefaultCompletedCheckpointStore120, StartsFromWhatTheLeaderBeforeHasLeft) {
  StoreCluster cluster;
  Store120 first(cluster, kFirst, 2);
  static_cast<void>(first.add(cluster, kept_checkpoint(4)));
  static_cast<void>(first.add(cluster, kept_checkpoint(5)));
  Leader second(cluster, kSecond, k120);
  std::optional<std::vector<CompletedCheckpointPtr>> all;
  retrieve_completed_checkpoints(second.job,
                                 [&all](auto retrieved) { all = std::move(retrieved); });
  cluster.world.run_for(Duration::seconds(1));
  ASSERT_TRUE(all.has_value());
  Store120 recovered(cluster, ProcessId{3}, 2, *all);
  ASSERT_EQ(recovered.store.checkpoints().size(), 2U);
  EXPECT_EQ(recovered.store.latest_checkpoint()->id, 5);
  EXPECT_EQ(recovered.add(cluster, kept_checkpoint(6)).last_subsumed->id, 4);
}

TEST(DefaultCompletedCheckpointStore120, DoesNotStartWhileAnEntryCannotBeRead) {
  StoreCluster cluster;
  Store120 first(cluster, kFirst, 2);
  static_cast<void>(first.add(cluster, kept_checkpoint(4)));
  cluster.files.remove(cluster.store.entries(kJob).begin()->second.pointer);
  bool called = false;
  retrieve_completed_checkpoints(first.leader.job, [&called](const auto& retrieved) {
    called = true;
    EXPECT_FALSE(retrieved.has_value());
  });
  cluster.world.run_for(Duration::seconds(1));
  EXPECT_TRUE(called);
}

TEST(DefaultCompletedCheckpointStore120, KeepsEverythingAfterASuspensionAndNothingAfterTheEnd) {
  for (const bool suspended : {true, false}) {
    StoreCluster cluster;
    Store120 store(cluster, kFirst, 2);
    static_cast<void>(store.add(cluster, kept_checkpoint(1)));
    static_cast<void>(store.add(cluster, kept_checkpoint(2)));
    store.store.shutdown(suspended ? JobStatus::SUSPENDED : JobStatus::FINISHED);
    cluster.world.run_for(Duration::seconds(1));
    EXPECT_EQ(cluster.names().size(), suspended ? 2U : 0U);
    EXPECT_EQ(store.cleaned,
              suspended ? std::vector<CheckpointId>{} : (std::vector<CheckpointId>{1, 2}));
  }
}

}  // namespace
}  // namespace tailrace::engine
