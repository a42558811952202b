// Replays golden/network/pools_f110.jsonl: buffer pools, step by step.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/network/local_buffer_pool.hpp"
#include "engine/network/network_buffer_pool.hpp"
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

struct PoolReplay {
  // Takes as many segments as it was told to.
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
    PoolReplay* replay = nullptr;
    std::int64_t id = 0;
    std::int64_t wants = 0;
  };

  explicit PoolReplay(const Json& line) : global(segments_of(line.at("total")), 64) {
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
  ~PoolReplay() {
    for (auto& [id, listener] : listeners) listener.wants = 0;
    tickets.clear();
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
    NetworkBuffer* segment = pool_at(blocked_pool).request_buffer();
    if (segment == nullptr) return;
    blocked = false;
    out.push_back({{"e", "blockedGot"}, {"pool", blocked_pool}, {"ticket", issue(*segment)}});
  }

  void run(const Json& step, Json& got) {
    const std::string op = step.at("op");
    const auto id = step.value("pool", std::int64_t{-1});
    if (op == "create") {
      creating = id;
      std::string error;
      LocalBufferPool* pool =
          global.create_buffer_pool(step.at("required"), step.at("max"), &error);
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
    } else if (op == "req") {
      if (pools[id] == nullptr) {
        got["exception"] = true;
        return;
      }
      NetworkBuffer* segment = pools[id]->request_buffer();
      got["got"] = segment == nullptr ? Json(nullptr) : Json(issue(*segment));
    } else if (op == "block") {
      static_cast<void>(pool_at(id));
      blocked = true;
      blocked_pool = id;
      try_blocked();
    } else if (op == "recycle") {
      tickets.at(step.at("ticket").get<std::size_t>()).reset();
    } else if (op == "listen") {
      Listener& listener = listeners[step.at("listener").get<std::int64_t>()];
      listener.replay = this;
      listener.id = step.at("listener");
      listener.wants = step.at("wants");
      got["registered"] = pool_at(id).add_buffer_listener(listener);
    } else if (op == "unpooled") {
      const bool reserved = global.reserve_unpooled(2, nullptr);
      got["exception"] = !reserved;
      if (!reserved) return;
      std::vector<NetworkBuffer*> segments;
      while (segments.size() < 2) {
        NetworkBuffer* segment = global.request_memory_segment();
        if (segment == nullptr) break;
        segments.push_back(segment);
      }
      if (segments.size() < 2) {
        // Guaranteed, but held by pools that must shrink first: Flink's wait ran out.
        for (NetworkBuffer* one : segments) global.return_segment(*one);
        global.release_unpooled(2);
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
      for (std::int32_t i = 0; i < count; ++i) {
        global.return_segment(*segments.back());
        segments.pop_back();
      }
      global.release_unpooled(count);
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
};

void replay_pools(const Json& line) {
  if (line.at("kind") != "pools") throw MalformedCase("unknown kind: " + line.at("kind").dump());
  PoolReplay replay(line);
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
      const Json row = {pool->size(), pool->requested(), pool->free_segments(),
                        pool->is_available() ? 1 : 0};
      expect_equal(where + "pool " + std::to_string(id),
                   step.at("pools").at(static_cast<std::size_t>(id)), row);
    }
  }
}

const Registration kPools("network/pools_f110.jsonl", &replay_pools);

}  // namespace
}  // namespace tailrace::golden
