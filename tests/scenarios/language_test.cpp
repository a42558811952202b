#include "scenarios/sections.hpp"
#include "tests/scenarios/scenario_files.hpp"

namespace tailrace::scenarios {
namespace {

using Language = ScenarioFiles;
using engine::PartitionerKind;

TEST_F(Language, FillsInWhatASmallScenarioLeavesOut) {
  const Scenario scenario = load(small());
  EXPECT_EQ(scenario.name, "small");
  EXPECT_EQ(scenario.seed, 1u);
  EXPECT_EQ(scenario.duration, Duration::seconds(10));
  EXPECT_TRUE(scenario.stop_with_savepoint);
  EXPECT_EQ(scenario.cluster.network.bandwidth.value, 1'250'000'000);
  EXPECT_EQ(scenario.cluster.network.latency, Duration::micros(200));
  EXPECT_EQ(scenario.cluster.rpc_latency, Duration::micros(500));
  ASSERT_EQ(scenario.job.operators.size(), 4u);
  const std::vector<OperatorSpec>& ops = scenario.job.operators;
  EXPECT_EQ(ops[0].file, path("text.txt"));
  EXPECT_EQ(ops[1].partitioner, PartitionerKind::kForward);
  EXPECT_EQ(ops[1].parallelism, 2);  // of its input
  EXPECT_EQ(ops[2].partitioner, PartitionerKind::kHash);
  EXPECT_EQ(ops[3].parallelism, 2);
  EXPECT_EQ(ops[3].inputs, std::vector<std::int32_t>{2});
  EXPECT_EQ(ops[2].uid, "count");
  EXPECT_EQ(scenario.costs.slice, Duration::millis(1));
}

TEST_F(Language, ForwardBecomesRebalanceOnlyWhereNobodyWroteIt) {
  const Scenario scenario = load(small(), {"job.operators.words.parallelism=64"});
  EXPECT_EQ(scenario.job.operators[1].partitioner, PartitionerKind::kRebalance);
  EXPECT_EQ(
      mistakes(small(), {"job.operators.words.parallelism=64", "job.operators.words.by=forward"}),
      "--set job.operators.words.parallelism=64: job.operators.words: forward needs the same "
      "parallelism on both sides; lines has 2 and words has 64; use by: rebalance");
}

TEST_F(Language, RatesTakeAllTheirForms) {
  const auto load_of = [this](const std::string& rate) {
    return load(small(), {"job.operators.lines.rate=" + rate}).job.operators[0].load;
  };
  EXPECT_EQ(load_of("max").kind, OfferedLoad::Kind::kMax);
  EXPECT_EQ(load_of("{over: 45s}").over, Duration::seconds(45));
  EXPECT_EQ(load_of("1k/s").steps.at(0).records, 1000);
  const OfferedLoad steps = load_of("[[0s, 1k/s], [60s, 5k/s]]");
  ASSERT_EQ(steps.steps.size(), 2u);
  EXPECT_EQ(steps.steps[1].from, Time{60'000'000'000});
  EXPECT_EQ(mistakes(small(), {"job.operators.lines.rate=[[1s, 1/s]]"}),
            "--set job.operators.lines.rate=[[1s, 1/s]]: job.operators.lines.rate: the first step "
            "must begin at 0s");
  EXPECT_EQ(
      mistakes(small(), {"job.operators.lines.rate=5"}),
      "--set job.operators.lines.rate=5: job.operators.lines.rate: \"5\" has no unit; write it "
      "as 5/s, 5k/s, 5M/s, 5/min or 5/h; or max, {over: 45s}, or a list of [time, rate]");
}

TEST_F(Language, ASourceReadsAFileOrMakesUpRecordsOfOneSize) {
  const std::string made_up = "job.operators.lines.from={records: 5000}";
  const Scenario scenario = load(small(), {made_up, "job.operators.lines.size=1KiB"});
  EXPECT_EQ(scenario.job.operators[0].made_up_records, 5000);
  EXPECT_EQ(scenario.job.operators[0].record_bytes, 1024);
  EXPECT_EQ(scenario.job.operators[0].file, "");
  EXPECT_EQ(
      mistakes(small(), {made_up}),
      "s.yaml:6:7: job.operators.lines makes up records and has no \"size\" for them, such as "
      "size: 100B");
  EXPECT_EQ(
      mistakes(small(), {made_up, "job.operators.lines.size=14B"}),
      "--set job.operators.lines.size=14B: job.operators.lines.size: \"14B\" is out of range; "
      "it must be from 15B to 1048576B");
  EXPECT_EQ(mistakes(small(), {"job.operators.lines.size=29B"}),
            "--set job.operators.lines.size=29B: job.operators.lines.size: only records that are "
            "made up have a size to choose");
  EXPECT_EQ(mistakes(small(), {"job.operators.words.size=29B"}),
            "--set job.operators.words.size=29B: job.operators.words.size: only sources have this "
            "key");
  EXPECT_EQ(
      mistakes(small(), {"job.operators.lines.from.records=5", "job.operators.lines.size=29B"}),
      "--set job.operators.lines.from.records=5: job.operators.lines.from.records: a source "
      "reads a file or makes up records, not both");
  EXPECT_EQ(mistakes(small(), {"job.operators.lines.from={records: 5, repeat: 2}",
                               "job.operators.lines.size=29B"}),
            "--set job.operators.lines.from={records: 5, repeat: 2}: "
            "job.operators.lines.from.repeat: only files are read again");
  EXPECT_EQ(
      mistakes(small(), {"job.operators.lines.from={repeat: 2}"}),
      "--set job.operators.lines.from={repeat: 2}: job.operators.lines.from needs a file or a "
      "number of records or shards");
}

TEST_F(Language, SlotSharingGroupsAreTakenOverFromInputsThatAgree) {
  const auto groups = [this](const std::vector<std::string>& sets) {
    std::string text;
    for (const OperatorSpec& op : load(small(), sets).job.operators) {
      text += *op.slot_sharing_group + ' ';
    }
    return text;
  };
  EXPECT_EQ(groups({}), "default default default default ");
  EXPECT_EQ(groups({"job.operators.lines.slot_sharing_group=in"}), "in in in in ");
  EXPECT_EQ(groups({"job.operators.count.slot_sharing_group=own"}), "default default own own ");
  EXPECT_EQ(groups({"job.operators.words.slot_sharing_group=own",
                    "job.operators.out.input=[words, count]",
                    "job.operators.count.slot_sharing_group=other"}),
            "default own other default ");
}

TEST_F(Language, ABufferTimeoutBelongsToWhoSends) {
  EXPECT_EQ(
      load(small(), {"job.operators.words.buffer_timeout=97ms"}).job.operators[1].buffer_timeout,
      Duration::millis(97));
  EXPECT_EQ(load(small()).job.operators[1].buffer_timeout, std::nullopt);
  EXPECT_EQ(mistakes(small(), {"job.operators.out.buffer_timeout=97ms"}),
            "--set job.operators.out.buffer_timeout=97ms: job.operators.out.buffer_timeout: only "
            "operators that are no sinks have this key");
}

TEST_F(Language, MergeKeysAndAliasesWork) {
  const Scenario scenario = load(
      "name: merged\nduration: 10s\nflink: {version: \"1.10\"}\n"
      "cluster: {disk: &d {read: 1GB/s, latency: 1ms}, network: {latency: 1ms}}\n"
      "job:\n  operators:\n"
      "    - &src {id: a, kind: source, from: {file: text.txt}, cost: 5us}\n"
      "    - {<<: *src, id: b, uid: b}\n"
      "    - {id: out, kind: sink, input: [a, b]}\n");
  EXPECT_EQ(scenario.job.operators[1].id, "b");
  EXPECT_EQ(scenario.job.operators[1].cost, Duration::micros(5));
  EXPECT_EQ(scenario.job.operators[2].inputs, (std::vector<std::int32_t>{0, 1}));
}

TEST_F(Language, TimelineEntriesCarryTheirAnchorAndTarget) {
  const Scenario scenario =
      load(small("cluster: {task_managers: {count: 3}}\n"
                 "timeline:\n"
                 "  - {when: {checkpoint: 3, acknowledged: 4}, kill: {task_manager_of: "
                 "\"count[0]\"}, back_after: 8s}\n"
                 "  - {at: 2s, slow: {operator: count, subtask: 1, factor: 1.5}, for: 5s}\n"
                 "  - {at: 3s, rescale: {count: 3}, optional: true}\n"
                 "  - {every: 4s, until: 9s, storage: {error_rate: 20%}, for: 3s}\n"
                 "  - {when: {checkpoint: 5, completed}, fail: {subtask: \"out[2]\"}}\n"
                 "  - {at: 1s, vanish: {task_manager: 2}}\n"));
  const std::vector<TimelineEntry>& t = scenario.timeline;
  ASSERT_EQ(t.size(), 6u);
  EXPECT_EQ(t[0].anchor.kind, Anchor::Kind::kCheckpoint);
  EXPECT_EQ(t[0].anchor.moment, CheckpointMoment::kAcknowledged);
  EXPECT_EQ(t[0].anchor.acknowledged, 4);
  EXPECT_EQ(t[0].task_manager->running->op, 2);
  EXPECT_EQ(t[0].back_after, Duration::seconds(8));
  EXPECT_EQ(t[0].text, "kill {task_manager_of: count[0]}");
  EXPECT_EQ(t[0].position.line, 12);
  EXPECT_EQ(t[1].factor_milli, 1500);
  EXPECT_EQ(t[1].subtask->subtask, 1);
  EXPECT_TRUE(t[2].optional);
  // `out` has no parallelism of its own and follows.
  ASSERT_EQ(t[2].rescales.size(), 2u);
  EXPECT_EQ(t[2].rescales[1].op, 3);
  EXPECT_EQ(t[2].rescales[1].parallelism, 3);
  EXPECT_EQ(t[3].anchor.from, Time{4'000'000'000});
  EXPECT_EQ(t[3].storage.error_rate_ppm, 200'000);
  EXPECT_EQ(t[4].subtask->subtask, 2);  // it exists after the rescale
  EXPECT_EQ(t[5].action, ActionKind::kVanish);
  EXPECT_EQ(t[5].task_manager->index, 2);
}

TEST_F(Language, TimelineMistakesSayWhatIsPossible) {
  const auto timeline = [this](const std::string& entry) {
    return mistakes(small("timeline:\n  - " + entry + "\n"));
  };
  EXPECT_EQ(
      timeline("{at: 1s, kill: {task_manager: 1}}"),
      "s.yaml:11:35: timeline.0.kill.task_manager: there is no task manager 1; they count from "
      "0 to 0");
  EXPECT_EQ(
      timeline("{at: 1s, fail: {subtask: \"count[2]\"}}"),
      "s.yaml:11:30: timeline.0.fail.subtask: count has no subtask \"2\"; they count from 0 to "
      "1");
  EXPECT_EQ(timeline("{at: 1s, fail: {subtask: \"cuont[0]\"}}"),
            "s.yaml:11:30: timeline.0.fail.subtask: there is no operator \"cuont\" (did you mean "
            "count?)");
  EXPECT_EQ(timeline("{checkpoint}"),
            "s.yaml:11:5: timeline.0 has no time; give it at, every or when");
  EXPECT_EQ(timeline("{at: 1s, cut: {}}").substr(0, 69),
            "s.yaml:11:5: timeline.0 does nothing; give it one of kill, vanish, sl");
  EXPECT_EQ(timeline("{at: 1s, rescale: {lines: 3}}"),
            "");  // `words` and no other is forward-connected to it, and follows
}

TEST_F(Language, SettingsReachListElementsByIdAndFlinkKeysWhole) {
  const Scenario scenario =
      load(small(), {"job.operators.count.cost=7us", "flink.heartbeat.timeout=60000", "seed=9",
                     "duration=~", "until=idle"});
  EXPECT_EQ(scenario.job.operators[2].cost, Duration::micros(7));
  EXPECT_EQ(scenario.flink.heartbeat_timeout, Duration::seconds(60));
  EXPECT_EQ(scenario.seed, 9u);
  EXPECT_EQ(scenario.ends_at, EndOfRun::kIdle);
}

TEST_F(Language, SettingsAreCheckedLikeTheFile) {
  EXPECT_EQ(mistakes(small(), {"job.operators.cuont.cost=7us"}),
            "--set job.operators.cuont.cost=7us: job.operators has no element \"cuont\" (did you "
            "mean count?)");
  EXPECT_EQ(mistakes(small(), {"sede=7"}),
            "--set sede=7: unknown key \"sede\" (did you mean seed?)");
  EXPECT_EQ(mistakes(small(), {"seed"}), "--set seed: write it as path=value, such as seed=7");
  EXPECT_EQ(mistakes(small(), {"seed.x=1"}).substr(0, 16), "--set seed.x=1: ");
  EXPECT_EQ(mistakes(small(), {"name.x=1"}), "--set name.x=1: name is \"small\", and has no \"x\"");
  EXPECT_EQ(mistakes(small(), {"job.operators.lines.from.file=text.txt"}),
            "--set job.operators.lines.from.file=text.txt: job.operators.lines.from.file: "
            "\"text.txt\" cannot be opened: No such file or directory");
}

TEST_F(Language, FlinkOptionsHaveTheTypesOfTheVersion) {
  const auto flink = [this](const std::string& rest) {
    return load(small(), {"flink={version: \"1.10\", " + rest + "}"}).flink;
  };
  EXPECT_EQ(flink("heartbeat.interval: 500").heartbeat_interval, Duration::millis(500));
  EXPECT_EQ(flink("akka.ask.timeout: 20 s").ask_timeout, Duration::seconds(20));
  EXPECT_EQ(flink("execution.checkpointing.interval: 3000").checkpoint_interval,
            Duration::seconds(3));
  EXPECT_EQ(flink("restart-strategy: fixed-delay, restart-strategy.fixed-delay.attempts: 10")
                .fixed_delay_attempts,
            10);
  EXPECT_EQ(flink("restart-strategy.type: none").restart_strategy, RestartStrategyKind::kNone);
  EXPECT_EQ(flink("taskmanager.memory.segment-size: 4kb").segment_bytes, 4096);
  EXPECT_EQ(flink("execution.checkpointing.mode: at_least_once").mode,
            CheckpointingMode::AT_LEAST_ONCE);
  EXPECT_FALSE(flink("pipeline.operator-chaining.enabled: FALSE").operator_chaining);
  EXPECT_EQ(
      flink("execution.checkpointing.tolerable-failed-checkpoints: 3").tolerable_failed_checkpoints,
      3);
}

TEST_F(Language, FlinkOptionsOf120HaveTheirOwnTypesAndDefaults) {
  const auto flink = [this](const std::string& rest) {
    return load(small(), {"flink={version: \"1.20\", " + rest + "}"}).flink;
  };
  EXPECT_EQ(flink("").generation, engine::Generation::kFlink120);
  EXPECT_FALSE(flink("").buffer_debloat.enabled);
  const engine::BufferDebloatConfiguration debloat =
      flink(
          "taskmanager.network.memory.buffer-debloat.enabled: true, "
          "taskmanager.network.memory.buffer-debloat.target: 300ms, "
          "taskmanager.network.memory.buffer-debloat.samples: 5, "
          "taskmanager.memory.min-segment-size: 1kb")
          .buffer_debloat;
  EXPECT_TRUE(debloat.enabled);
  EXPECT_EQ(debloat.target, Duration::millis(300));
  EXPECT_EQ(debloat.period, Duration::millis(200));
  EXPECT_EQ(debloat.samples, 5);
  EXPECT_EQ(debloat.min_buffer_bytes, 1024);
  EXPECT_EQ(load(small(), {"flink={heartbeat.interval: 2000}"}).flink.generation,
            engine::Generation::kFlink120);
  EXPECT_EQ(flink("").state_memory_threshold_bytes, 20 * 1024);
  EXPECT_EQ(flink("state.backend.fs.memory-threshold: 4 kb").state_memory_threshold_bytes, 4096);
  EXPECT_EQ(flink("heartbeat.timeout: 20000").heartbeat_timeout, Duration::seconds(20));
  EXPECT_EQ(flink("heartbeat.interval: 2s").heartbeat_interval, Duration::seconds(2));
  EXPECT_EQ(flink("akka.ask.timeout: 500").ask_timeout, Duration::millis(500));
  EXPECT_FALSE(flink("execution.checkpointing.checkpoints-after-tasks-finish: false")
                   .checkpoints_after_tasks_finish);
  EXPECT_EQ(flink("execution.savepoint-restore-mode: CLAIM").claim_mode, engine::ClaimMode::CLAIM);
  EXPECT_EQ(flink("web.checkpoints.history: 3").checkpoint_history, 3);
  const FlinkOptions delays = flink(
      "restart-strategy.type: exponential-delay, "
      "restart-strategy.exponential-delay.initial-backoff: 500ms, "
      "restart-strategy.exponential-delay.backoff-multiplier: 2.5, "
      "restart-strategy.exponential-delay.jitter-factor: 0, "
      "restart-strategy.exponential-delay.attempts-before-reset-backoff: 4");
  EXPECT_EQ(delays.restart_strategy, RestartStrategyKind::kExponentialDelay);
  EXPECT_EQ(delays.exponential_delay.initial_backoff, Duration::millis(500));
  EXPECT_EQ(delays.exponential_delay.multiplier, 2.5);
  EXPECT_EQ(delays.exponential_delay.jitter, 0.0);
  EXPECT_EQ(delays.exponential_delay.attempts, 4);
}

TEST_F(Language, OptionsOfTheOtherVersionAreNoted) {
  EXPECT_EQ(
      load(small(), {"flink={version: \"1.20\", task.checkpoint.alignment.max-size: 100}"}).notes,
      (std::vector<std::string>{
          "flink.task.checkpoint.alignment.max-size has no effect in Flink 1.20"}));
  EXPECT_EQ(
      load(small(), {"flink={version: \"1.10\", execution.checkpointing.unaligned.enabled: true}"})
          .notes,
      (std::vector<std::string>{
          "flink.execution.checkpointing.unaligned.enabled has no effect in Flink 1.10"}));
}

TEST_F(Language, FlinkMistakesAreFlinks) {
  const auto flink = [this](const std::string& rest) {
    write("s.yaml", "name: x\nduration: 1s\n" + rest + "\n" + small().substr(small().find("job:")));
    return mistakes_of(path("s.yaml"));
  };
  EXPECT_EQ(
      flink("flink: {version: \"1.10\", heartbeat.timeout: 90s}"),
      "s.yaml:3:45: flink.heartbeat.timeout: \"90s\" is not a whole number: in 1.10 this option "
      "is a plain number of milliseconds, such as 2000");
  EXPECT_EQ(
      flink("flink: {version: \"1.10\", state.backend: filesystem, state.backend.type: hashmap}"),
      "s.yaml:3:53: flink.state.backend.type: the same option as state.backend, which is set "
      "as well");
  EXPECT_EQ(
      flink("flink: {restart-strategy.exponential-delay.jitter-factor: 1.5x}"),
      "s.yaml:3:59: flink.restart-strategy.exponential-delay.jitter-factor: \"1.5x\" is not a "
      "decimal number, such as 1.5");
  EXPECT_EQ(flink("flink: {restart-strategy.exponential-delay.jitter-factor: 1.5}"),
            "s.yaml:3:59: flink.restart-strategy.exponential-delay.jitter-factor: \"1.5\" is not "
            "from 0 to 1");
  EXPECT_EQ(
      flink("flink: {restart-strategy.exponential-delay.backoff-multiplier: nan}"),
      "s.yaml:3:64: flink.restart-strategy.exponential-delay.backoff-multiplier: \"nan\" is not "
      "a decimal number, such as 1.5");
  EXPECT_EQ(
      flink("flink: {version: \"1.10\", restart-strategy: exponential-delay}"),
      "s.yaml:3:44: flink.restart-strategy: \"exponential-delay\" is none of none, fixed-delay "
      "or failure-rate");
  EXPECT_EQ(flink("flink: {execution.checkpointing.unaligned: true, "
                  "execution.checkpointing.max-concurrent-checkpoints: 2}"),
            "s.yaml:3:8: flink: unaligned checkpoints are taken one at a time, so that "
            "execution.checkpointing.max-concurrent-checkpoints must be 1");
  EXPECT_EQ(flink("flink: {taskmanager.memory.segment-size: 5000b}"),
            "s.yaml:3:42: flink.taskmanager.memory.segment-size: \"5000b\" is not a power of two");
  EXPECT_EQ(flink("flink: {version: \"1.10\", taskmanager.network.memory.buffers-per-channel: 0}"),
            "s.yaml:3:8: flink: taskmanager.network.memory.buffers-per-channel must be at least 1 "
            "in Flink 1.10");
  EXPECT_EQ(flink("flink: {taskmanager.network.memory.buffers-per-channel: 0}"), "");
  EXPECT_EQ(flink("flink: {heartbeat.interval: 0s}"),
            "s.yaml:3:29: flink.heartbeat.interval: \"0s\" is out of range; it must be at least 1 "
            "ms");
  EXPECT_EQ(flink("flink: {execution.state-recovery.claim-mode: mine}"),
            "s.yaml:3:46: flink.execution.state-recovery.claim-mode: \"mine\" is none of NO_CLAIM, "
            "CLAIM or LEGACY");
  EXPECT_EQ(flink("flink: {version: 1.1}"),
            "s.yaml:3:18: flink.version: the number 1.1 is no version; write version: \"1.10\" or "
            "\"1.20\", with the quotes, because YAML reads 1.10 as the number 1.1");
  EXPECT_EQ(
      flink("flink: {version: \"1.10\", state.backend: rocksdb}"),
      "s.yaml:3:41: flink.state.backend: \"rocksdb\" is not modelled yet in this version; use "
      "hashmap");
  EXPECT_EQ(flink("flink: {version: \"1.10\", heartbeat.interval: 500, heartbeat.timeout: 400}"),
            "s.yaml:3:8: flink: heartbeat.timeout must not be smaller than heartbeat.interval");
}

TEST_F(Language, RealKeysOfFlinkThatDoNothingHereAreNoted) {
  const Scenario scenario = load(small(), {"flink.web.timeout=5", "flink.metrics.reporter.mine.x=1",
                                           "flink.kubernetes.pod.annotations=~"});
  EXPECT_EQ(scenario.notes,
            (std::vector<std::string>{"flink.web.timeout is not modelled and has no effect",
                                      "flink.metrics.reporter.mine.x is not modelled and has no "
                                      "effect"}));
}

TEST_F(Language, PartsOfTheLanguageThatCannotRunYetSaySo) {
  EXPECT_EQ(mistakes(small("sweep: {seed: 1..20}\n")),
            "s.yaml:10:1: sweep is not modelled yet in this version");
  EXPECT_EQ(mistakes(small("fidelity: flow\n")),
            "s.yaml:10:11: fidelity: flow is not modelled yet in this version; use records");
}

TEST(ExpectGrammar, ReadsNamesOperatorsBoundsAndSentences) {
  const auto parsed = parse_expectation("checkpoints.duration.p99  <  2s");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed.value().text, "checkpoints.duration.p99 < 2s");
  EXPECT_EQ(parsed.value().bound, 2'000'000'000);
  EXPECT_EQ(parse_expectation("restarts==1").value().comparison, analysis::Comparison::kEqual);
  EXPECT_EQ(parse_expectation("records.in >= 5").value().bound, 5);
  EXPECT_EQ(parse_expectation("finished == job_failed").value().bound_word, "job_failed");
  EXPECT_EQ(parse_expectation("at  least once").value().kind,
            analysis::ExpectationKind::kAtLeastOnce);
  EXPECT_EQ(parse_expectation("exactly onec").error(),
            "\"exactly onec\" is not understood (did you mean exactly once?)");
  EXPECT_EQ(parse_expectation("restarts = 1").error(),
            "\"restarts = 1\" has no comparison; write <, <=, ==, !=, >= or >");
  EXPECT_EQ(parse_expectation("restarts < 1s").error(),
            "\"1s\" is not a whole number, and restarts is one");
  EXPECT_EQ(parse_expectation("latency_ms.p99 < 1s").error(),
            "there is no result \"latency_ms.p99\" (did you mean latency.p99?)");
  EXPECT_EQ(parse_expectation("latency.p99 < 5").error(),
            "\"5\" has no unit; write it as 5ns, 5us, 5ms, 5s, 5min, 5h or 5d");
  EXPECT_FALSE(parse_expectation("finished < idle").ok());
  EXPECT_FALSE(parse_expectation("wall < 5s").ok());
  EXPECT_FALSE(parse_expectation("").ok());
}

// The table must be able to read its own defaults; nothing else would show a misspelt one.
TEST(Schema, EveryDefaultIsAValidValueOfItsKey) {
  Diagnostics diagnostics({"schema"});
  for (const SectionSpec* section : all_sections()) {
    MapReader reader(nullptr, *section, std::string(section->name), {}, diagnostics);
    for (const KeySpec& key : section->keys) {
      if (key.fallback.empty()) continue;
      switch (key.type) {
        case ValueType::kInteger:
        case ValueType::kMilli:
        case ValueType::kPercent:
          EXPECT_TRUE(reader.number(key.key).has_value()) << section->name << ' ' << key.key;
          break;
        case ValueType::kDuration:
          EXPECT_TRUE(reader.duration(key.key).has_value()) << section->name << ' ' << key.key;
          break;
        case ValueType::kSize:
          EXPECT_TRUE(reader.size(key.key).has_value()) << section->name << ' ' << key.key;
          break;
        case ValueType::kBandwidth:
          EXPECT_GT(reader.bandwidth(key.key).value, 1) << section->name << ' ' << key.key;
          break;
        case ValueType::kChoice:
          EXPECT_TRUE(reader.choice(key.key).has_value()) << section->name << ' ' << key.key;
          break;
        case ValueType::kText:
        case ValueType::kName:
        case ValueType::kBoolean:
        case ValueType::kSection:
        case ValueType::kOther:
        case ValueType::kFlag:
          break;
      }
    }
  }
}

}  // namespace
}  // namespace tailrace::scenarios
