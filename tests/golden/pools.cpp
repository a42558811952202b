// Replays golden/network/pools_f110.jsonl and pools.jsonl (1.20): buffer pools, step by step, and how
// many buffers gates and partitions of 1.20 ask for.
#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/network/buffer_sizes.hpp"
#include "engine/network/f120/local_buffer_pool.hpp"
#include "engine/network/network_buffer_pool.hpp"
#include "engine/network/network_config.hpp"
#include "sim/base/assert.hpp"
#include "tests/golden/golden_registry.hpp"

namespace tailrace::golden {
namespace {

using namespace engine;

// Checked before anything is allocated for them.
std::int32_t segments_of(const Json& number) {
  const auto segments = number.get<std::int64_t>();
  if (segments < 1 || segments > 1 << 20) {
    throw MalformedCase("total: " + std::to_string(segments));
  }
  return static_cast<std::int32_t>(segments);
}

// 1.10 has no channels.
std::int32_t channel_of(const Json& step) {
  return step.value("channel", kUnknownSubpartition);
}

BufferPoolSpec spec_of(const Json& step) {
  BufferPoolSpec spec{.required = step.at("required"), .max = step.at("max")};
  if (!step.contains("subpartitions")) return spec;
  spec.subpartitions = step.at("subpartitions");
  spec.max_buffers_per_channel = step.at("perChannel");
  spec.max_overdraft_buffers = step.at("overdraft");
  return spec;
}

struct PoolReplay {
  // Takes as many segments as it was told to; in 1.20 it stays registered for none but the first.
  struct Listener final : BufferListener {
    Answer notify_buffer_available(NetworkBuffer& segment) override {
      const bool takes = wants > 0;
      Json offer = {{"e", "offered"}, {"listener", id}, {"taken", takes}};
      if (takes) {
        --wants;
        offer["ticket"] = replay->issue(segment);
      }
      replay->out.push_back(offer);
      return !takes      ? Answer::kNotUsed
             : wants > 0 ? Answer::kUsedNeedMore
                         : Answer::kUsedNoNeedMore;
    }
    void recycle(NetworkBuffer&) override {}  // it has no exclusive ones
    PoolReplay* replay = nullptr;
    std::int64_t id = 0;
    std::int64_t wants = 0;
  };

  PoolReplay(const Json& line, const NetworkSemantics& semantics)
      : global(segments_of(line.at("total")), 64, semantics) {
    global.set_walk_order([this](std::vector<LocalBufferPool*>& order) {
      std::vector<LocalBufferPool*> walked;
      for (const Json& id : *walk) {
        for (LocalBufferPool* pool : order) {
          const auto found = ids.find(pool);
          if ((found == ids.end() ? creating : found->second) == id) walked.push_back(pool);
        }
      }
      if (walked.size() == order.size()) order = walked;
    });
  }

  // What comes home at the end must not be given out again.
  ~PoolReplay() { give_everything_back(); }

  void give_everything_back() {
    blocked = false;
    for (auto& [id, listener] : listeners) listener.wants = 0;
    tickets.clear();
    for (auto& [id, segments] : unpooled) {
      global.return_segments(segments);
      segments.clear();
    }
    for (auto& [id, pool] : pools) {
      if (pool != nullptr) std::exchange(pool, nullptr)->lazy_destroy();
    }
  }

  std::int64_t issue(NetworkBuffer& segment) {
    tickets.emplace_back(segment, 0, 0);
    return static_cast<std::int64_t>(tickets.size()) - 1;
  }

  LocalBufferPool& pool_at(std::int64_t id) {
    const auto found = pools.find(id);
    if (found == pools.end() || found->second == nullptr) {
      throw MalformedCase("there is no pool " + std::to_string(id));
    }
    return *found->second;
  }

  void try_blocked() {
    if (!blocked) return;
    NetworkBuffer* segment = pool_at(blocked_pool).request_buffer(blocked_channel);
    if (segment == nullptr) return;
    blocked = false;
    out.push_back({{"e", "blockedGot"}, {"pool", blocked_pool}, {"ticket", issue(*segment)}});
  }

  void run(const Json& step, Json& got) {
    const std::string op = step.at("op");
    const auto id = step.value("pool", std::int64_t{-1});
    const bool is_destroyed = pools.contains(id) && pools.at(id) == nullptr;
    if (is_destroyed && op == "listen") got["registered"] = false;
    if (is_destroyed && (op == "req" || op == "reserve" || op == "block")) got["exception"] = true;
    if (is_destroyed && op != "create" && op != "recycle") return;
    if (op == "create") {
      creating = id;
      std::string error;
      LocalBufferPool* pool = global.create_buffer_pool(spec_of(step), &error);
      got["exception"] = pool == nullptr;
      if (pool == nullptr) return;
      ids[pool] = id;
      pools[id] = pool;
      pool->set_availability_listener([this, id] { woken |= blocked && blocked_pool == id; });
    } else if (op == "destroy") {
      if (blocked_pool == id) blocked = false;  // its waiting request fails
      LocalBufferPool* pool = &pool_at(id);
      pools[id] = nullptr;
      pool->lazy_destroy();
      ids.erase(pool);
    } else if (op == "req" || op == "reserve") {
      if (op == "reserve") {
        // False: Flink's wait ran out.
        got["exception"] = !pool_at(id).reserve_segments(step.at("count"));
        return;
      }
      NetworkBuffer* segment = pool_at(id).request_buffer(channel_of(step));
      got["got"] = segment == nullptr ? Json(nullptr) : Json(issue(*segment));
    } else if (op == "block") {
      static_cast<void>(pool_at(id));
      blocked = true;
      blocked_pool = id;
      blocked_channel = channel_of(step);
      try_blocked();
    } else if (op == "recycle") {
      tickets.at(step.at("ticket").get<std::size_t>()).reset();
    } else if (op == "listen") {
      Listener& listener = listeners[step.at("listener").get<std::int64_t>()];
      listener.replay = this;
      listener.id = step.at("listener");
      listener.wants =
          step.contains("wants") ? step.at("wants").get<int>() : step.at("takes").get<bool>();
      got["registered"] = pool_at(id).add_buffer_listener(listener);
    } else if (op == "unpooled") {
      const auto count = step.value("count", std::int32_t{2});
      const bool reserved = global.reserve_unpooled(count, nullptr);
      got["exception"] = !reserved;
      if (!reserved) return;
      const auto wanted = static_cast<std::size_t>(count);
      std::vector<NetworkBuffer*> segments;
      while (segments.size() < wanted) {
        NetworkBuffer* segment = global.request_memory_segment();
        if (segment == nullptr) break;
        segments.push_back(segment);
      }
      if (segments.size() < wanted) {
        // Guaranteed, but held by pools that must shrink first: Flink's wait ran out.
        global.return_segments(segments);
        global.release_unpooled(count);
        got["exception"] = true;
        return;
      }
      unpooled[step.at("exclusive").get<std::int64_t>()] = std::move(segments);
    } else if (op == "recycleUnpooled") {
      auto& segments = unpooled[step.at("exclusive").get<std::int64_t>()];
      const auto count = step.at("count").get<std::int32_t>();
      if (count < 0 || static_cast<std::size_t>(count) > segments.size()) {
        throw MalformedCase("count: " + std::to_string(count));
      }
      const std::span<NetworkBuffer* const> all = segments;
      global.return_segments(all.last(static_cast<std::size_t>(count)));
      segments.resize(segments.size() - static_cast<std::size_t>(count));
      global.release_unpooled(count);
    } else if (op == "setOverdraft") {
      dynamic_cast<LocalBufferPool120&>(pool_at(id))
          .set_max_overdraft_buffers(step.at("overdraft"));
    } else {
      throw MalformedCase("unknown step: " + op);
    }
  }

  NetworkBufferPool global;
  const Json* walk = nullptr;
  std::int64_t creating = -1;
  std::map<const LocalBufferPool*, std::int64_t> ids;  // looked up, never walked
  std::map<std::int64_t, LocalBufferPool*> pools;
  std::map<std::int64_t, Listener> listeners;
  std::map<std::int64_t, std::vector<NetworkBuffer*>> unpooled;
  std::vector<Buffer> tickets;
  Json out = Json::array();
  bool blocked = false;
  bool woken = false;
  std::int64_t blocked_pool = -1;
  std::int32_t blocked_channel = kUnknownSubpartition;
};

Json row_of(const LocalBufferPool& pool) {
  Json row = {pool.size(), pool.requested(), pool.free_segments(), pool.is_available() ? 1 : 0};
  const auto* limited = dynamic_cast<const LocalBufferPool120*>(&pool);
  if (limited != nullptr) row.push_back(limited->unavailable_subpartitions());
  return row;
}

void replay_pools(const Json& line, const NetworkSemantics& semantics) {
  PoolReplay replay(line, semantics);
  std::size_t number = 0;
  for (const Json& step : line.at("steps")) {
    const std::string where =
        "step " + std::to_string(number++) + " (" + step.at("op").get<std::string>() + "): ";
    replay.walk = &step.at("walk");
    replay.out = Json::array();
    replay.woken = false;
    Json got = Json::object();
    try {
      replay.run(step, got);
      if (replay.woken) replay.try_blocked();
    } catch (const base::InvariantViolation&) {
      got["exception"] = true;
    }
    expect_equal(where + "exception", step.contains("exception"), got.value("exception", false));
    for (const char* name : {"got", "registered"}) {
      if (got.contains(name)) expect_equal(where + name, step.at(name), got.at(name));
    }
    Json out = step.at("out");
    // Not told here: the owner of a pool destroys it after its channels and its writer.
    out.erase(std::remove_if(out.begin(), out.end(),
                             [](const Json& one) {
                               return one.at("e") == "destroyed" || one.at("e") == "blockedFailed";
                             }),
              out.end());
    expect_equal(where + "out", out, replay.out);
    expect_equal(where + "globalAvailable", step.at("globalAvailable"),
                 replay.global.available_segments());
    expect_equal(where + "globalIsAvailable", step.at("globalIsAvailable"),
                 replay.global.is_available());
    for (const auto& [id, pool] : replay.pools) {
      if (pool == nullptr) continue;
      expect_equal(where + "pool " + std::to_string(id),
                   step.at("pools").at(static_cast<std::size_t>(id)), row_of(*pool));
    }
  }
  replay.give_everything_back();
  expect_equal("segments that did not come back", 0, replay.global.outstanding_segments());
}

void replay_110(const Json& line) {
  if (line.at("kind") != "pools") throw MalformedCase("unknown kind: " + line.at("kind").dump());
  replay_pools(line, network_semantics_110());
}

ResultPartitionType type_of(const Json& name) {
  if (name == "BLOCKING") return ResultPartitionType::BLOCKING;
  if (name == "PIPELINED") return ResultPartitionType::PIPELINED;
  if (name == "PIPELINED_BOUNDED") return ResultPartitionType::PIPELINED_BOUNDED;
  throw MalformedCase("type: " + name.dump());
}

NetworkConfig settings_of(const Json& line) {
  NetworkConfig config;
  config.semantics = &network_semantics_120();
  config.exclusive_per_channel = line.at("exclusive");
  config.floating_per_gate = line.at("floating");
  if (!line.value("cap", Json()).is_null()) config.required_buffers_per_gate_max = line.at("cap");
  return config;
}

void replay_gate_sizing(const Json& line) {
  const NetworkConfig config = settings_of(line);
  const auto spec = config.semantics->gate_buffers(config, type_of(line.at("type")),
                                                   line.at("channels").get<std::int32_t>());
  expect_equal("rejected", line.contains("rejected"), !spec.ok());
  if (!spec) return;
  expect_equal("effectiveExclusive", line.at("effectiveExclusive"),
               spec.value().exclusive_per_channel);
  expect_equal("requiredFloating", line.at("requiredFloating"), spec.value().required_floating);
  expect_equal("totalFloating", line.at("totalFloating"), spec.value().total_floating);
  expect_equal("target", line.at("target"), spec.value().target_total);
}

void replay_output_sizing(const Json& line) {
  const NetworkConfig config = settings_of(line);
  const BufferPoolSpec spec = config.semantics->partition_buffers(
      config, type_of(line.at("type")), line.at("subpartitions").get<std::int32_t>());
  expect_equal("required", line.at("required"), spec.required);
  expect_equal("max", line.at("max"), spec.max);
}

void replay_120(const Json& line) {
  const Json& kind = line.at("kind");
  if (kind == "gateSizing") return replay_gate_sizing(line);
  if (kind == "outputSizing") return replay_output_sizing(line);
  if (kind != "pools") throw MalformedCase("unknown kind: " + kind.dump());
  replay_pools(line, network_semantics_120());
}

const Registration kPools110("network/pools_f110.jsonl", &replay_110);
const Registration kPools120("network/pools.jsonl", &replay_120);

}  // namespace
}  // namespace tailrace::golden
