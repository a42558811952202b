#include "scenarios/sections.hpp"

namespace tailrace::scenarios {
namespace {

Price parse_price(MapReader reader, std::string_view per_item) {
  return {reader.time_span(per_item), reader.bandwidth("bandwidth"), {}};
}

}  // namespace

Cluster parse_cluster(MapReader reader, const FlinkOptions& flink) {
  Cluster cluster;

  MapReader managers = reader.section("task_managers", kTaskManagersSection);
  cluster.task_managers.count = managers.small("count");
  cluster.task_managers.slots = managers.has("slots") ? managers.small("slots") : flink.task_slots;
  cluster.task_managers.cores = managers.small("cores");
  cluster.task_managers.speed_milli = managers.number("speed").value_or(1000);
  cluster.task_managers.position = managers.position();

  MapReader network = reader.section("network", kNetworkSection);
  cluster.network = {network.bandwidth("bandwidth"), network.time_span("latency")};

  MapReader disk = reader.section("disk", kDiskSection);
  cluster.disk = {disk.bandwidth("read"), disk.bandwidth("write"), disk.time_span("latency")};

  MapReader storage = reader.section("checkpoint_storage", kCheckpointStorageSection);
  cluster.checkpoint_storage.bandwidth = storage.bandwidth("bandwidth");
  cluster.checkpoint_storage.per_connection = storage.bandwidth("per_connection");
  cluster.checkpoint_storage.request_latency = storage.time_span("request_latency");
  if (storage.has("write") || storage.has("read")) {
    const auto pipe = [&](std::string_view key) {
      return storage.has(key) ? storage.bandwidth(key) : cluster.checkpoint_storage.bandwidth;
    };
    cluster.checkpoint_storage.directions = {pipe("write"), pipe("read")};
  }

  cluster.rpc_latency = reader.section("job_manager", kJobManagerSection).time_span("rpc_latency");

  MapReader resources = reader.section("resource_manager", kResourceManagerSection);
  cluster.resource_manager.kind =
      static_cast<ResourceManagerKind>(resources.choice("kind").value_or(0));
  cluster.resource_manager.notices_after = resources.time_span("notices_after");
  if (resources.has("notices_after") &&
      cluster.resource_manager.kind == ResourceManagerKind::kStandalone) {
    resources.error("notices_after", "only an active resource manager notices anything");
  }

  MapReader store = reader.section("high_availability", kHighAvailabilitySection);
  cluster.high_availability = {store.time_span("read"), store.time_span("write")};
  if (reader.has("high_availability") && flink.high_availability == HighAvailabilityMode::NONE) {
    reader.error("high_availability", "there is none: flink.high-availability is NONE");
  }
  return cluster;
}

Costs parse_costs(MapReader reader) {
  Costs costs;
  costs.serialise = parse_price(reader.section("serialise", kRecordPriceSection), "per_record");
  costs.deserialise = parse_price(reader.section("deserialise", kRecordPriceSection), "per_record");
  costs.snapshot_sync =
      parse_price(reader.section("snapshot_sync", kSyncPriceSection), "per_entry");
  costs.snapshot_async =
      parse_price(reader.section("snapshot_async", kEntryPriceSection), "per_entry");
  costs.restore = parse_price(reader.section("restore", kEntryPriceSection), "per_entry");
  costs.checkpoint_finalise =
      parse_price(reader.section("checkpoint_finalise", kFinalisePriceSection), "per_subtask");
  costs.snapshot_async.fixed =
      reader.section("snapshot_async", kEntryPriceSection).time_span("fixed");
  costs.restore.fixed = reader.section("restore", kEntryPriceSection).time_span("fixed");
  costs.checkpoint_finalise.fixed =
      reader.section("checkpoint_finalise", kFinalisePriceSection).time_span("fixed");
  costs.source_record = reader.time_span("source_record");
  costs.checkpoint_trigger = reader.time_span("checkpoint_trigger");
  costs.checkpoint_start = reader.time_span("checkpoint_start");
  costs.task_deployment = reader.time_span("task_deployment");
  MapReader threads = reader.section("threads", kThreadsSection);
  costs.threads = {threads.time_span("park"),
                   threads.time_span("wake_up"),
                   threads.time_span("gap"),
                   threads.time_span("catch_up"),
                   threads.time_span("timer_lateness"),
                   threads.number("hiccup_share").value_or(0),
                   threads.time_span("hiccup")};
  costs.slice = reader.duration("slice").value_or(Duration::millis(1));
  return costs;
}

}  // namespace tailrace::scenarios
