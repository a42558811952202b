// Buffer pools of both generations, and what gates and writers make of them.
#include "engine/network/local_buffer_pool.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "engine/network/channel_selector.hpp"
#include "engine/network/network_buffer_pool.hpp"
#include "engine/network/record_writer.hpp"
#include "tests/engine/network/test_world.hpp"

namespace tailrace::engine {
namespace {

using testing::TestProcess;
using testing::TestWorld;

constexpr std::int32_t kSegmentBytes = 64;

// A pool and what was taken from it, counted by its user.
struct User {
  struct Held {
    Buffer buffer;
    std::int32_t subpartition;
  };

  [[nodiscard]] std::int32_t held() const { return static_cast<std::int32_t>(taken.size()); }
  [[nodiscard]] bool has_full_subpartition() const {
    return std::any_of(counts.begin(), counts.end(), [this](std::int32_t count) {
      return count >= spec.max_buffers_per_channel;
    });
  }

  BufferPoolSpec spec;
  LocalBufferPool* pool = nullptr;
  std::vector<Held> taken;
  std::vector<std::int32_t> counts;
};

// Asks for everything that it is offered, at most `wants` times.
struct Waiter final : BufferListener {
  Answer notify_buffer_available(NetworkBuffer& segment) override {
    registered = false;
    if (wants == 0) return Answer::kNotUsed;
    --wants;
    user->taken.push_back({Buffer(segment, 0, 0), kUnknownSubpartition});
    return Answer::kUsedNoNeedMore;
  }
  void recycle(NetworkBuffer&) override {}  // it has no exclusive ones
  User* user = nullptr;
  int wants = 0;
  bool registered = false;
};

class Pools {
 public:
  Pools(std::int32_t total, const NetworkSemantics& semantics)
      : global(total, kSegmentBytes, semantics) {}
  ~Pools() { give_everything_back(); }

  void create(const BufferPoolSpec& spec) {
    LocalBufferPool* pool = global.create_buffer_pool(spec, nullptr);
    if (pool == nullptr) return;
    auto user = std::make_unique<User>();
    user->spec = spec;
    user->pool = pool;
    user->counts.resize(static_cast<std::size_t>(spec.subpartitions));
    users.push_back(std::move(user));
  }

  // Returns: whether there was one.
  static bool request(User& user, std::int32_t subpartition) {
    NetworkBuffer* segment = user.pool->request_buffer(subpartition);
    if (segment == nullptr) return false;
    if (subpartition >= 0) ++user.counts[static_cast<std::size_t>(subpartition)];
    user.taken.push_back({Buffer(*segment, 0, 0), subpartition});
    return true;
  }

  static void give_back(User& user, std::size_t index) {
    User::Held held = std::move(user.taken[index]);
    user.taken.erase(user.taken.begin() + static_cast<std::ptrdiff_t>(index));
    if (held.subpartition >= 0) --user.counts[static_cast<std::size_t>(held.subpartition)];
    held.buffer.reset();
  }

  void give_everything_back() {
    waiter.wants = 0;
    for (const auto& user : users) {
      if (user->pool != nullptr) std::exchange(user->pool, nullptr)->lazy_destroy();
      user->taken.clear();
    }
  }

  NetworkBufferPool global;
  std::vector<std::unique_ptr<User>> users;
  Waiter waiter;
};

// `dealt_out`: no size was set by hand.
void check(const Pools& pools, const NetworkSemantics& semantics, bool dealt_out) {
  std::int32_t out = 0;
  std::int32_t sizes = 0;
  for (const auto& user : pools.users) {
    out += user->held();
    if (user->pool == nullptr) continue;
    const LocalBufferPool& pool = *user->pool;
    out += pool.free_segments();
    sizes += pool.size();
    RC_ASSERT(pool.requested() == user->held() + pool.free_segments());
    RC_ASSERT(pool.required() <= pool.size() && pool.size() <= pool.max());
    // What is too much is with somebody else.
    if (pool.excess_segments() > 0) RC_ASSERT(pool.free_segments() == 0);
    if (&semantics == &network_semantics_120()) {
      RC_ASSERT(pool.is_available() ==
                (pool.free_segments() > 0 && !user->has_full_subpartition()));
      // One is held in advance, if there is any.
      if (pool.free_segments() == 0 && pool.requested() < pool.size()) {
        RC_ASSERT(pools.global.available_segments() == 0);
      }
    }
  }
  RC_ASSERT(pools.global.outstanding_segments() == out);
  if (dealt_out) RC_ASSERT(sizes <= pools.global.total_segments());
}

void play(const NetworkSemantics& semantics) {
  const bool is_120 = &semantics == &network_semantics_120();
  Pools pools(*rc::gen::inRange(6, 24), semantics);
  const bool by_hand = *rc::gen::arbitrary<bool>();
  bool dealt_out = true;
  const int steps = *rc::gen::inRange(1, 200);
  for (int i = 0; i < steps; ++i) {
    const int action = *rc::gen::inRange(0, 16);
    if (action == 0 || pools.users.empty()) {
      BufferPoolSpec spec;
      spec.required = *rc::gen::inRange(is_120 ? 1 : 0, 5);
      spec.max = std::max(1, spec.required) + *rc::gen::inRange(0, 8);
      if (is_120) {
        spec.subpartitions = *rc::gen::inRange(0, 4);
        spec.max_buffers_per_channel = *rc::gen::inRange(1, 5);
        spec.max_overdraft_buffers = *rc::gen::inRange(0, 4);
      }
      pools.create(spec);
      check(pools, semantics, dealt_out);
      continue;
    }
    User& user = *pools.users[*rc::gen::inRange(std::size_t{0}, pools.users.size())];
    if (action == 1) {
      if (user.pool != nullptr) std::exchange(user.pool, nullptr)->lazy_destroy();
      if (pools.waiter.user == &user) pools.waiter.registered = false;
    } else if (action == 2 && by_hand && user.pool != nullptr) {
      dealt_out = false;
      user.pool->set_num_buffers(user.pool->required() + *rc::gen::inRange(0, 8));
    } else if (action == 3 && user.pool != nullptr && user.spec.subpartitions == 0 &&
               !pools.waiter.registered) {
      pools.waiter.user = &user;
      pools.waiter.wants = *rc::gen::inRange(0, 3);
      pools.waiter.registered = user.pool->add_buffer_listener(pools.waiter);
    } else if (action < 10 && user.pool != nullptr) {
      const std::int32_t to = user.spec.subpartitions == 0
                                  ? kUnknownSubpartition
                                  : *rc::gen::inRange(-1, user.spec.subpartitions);
      const std::int32_t before = user.pool->requested();
      const bool fetched = Pools::request(user, to) && user.pool->requested() > before;
      // Only a request takes overdraft, and never more than is allowed.
      if (fetched) {
        RC_ASSERT(user.pool->requested() <= user.pool->size() + user.spec.max_overdraft_buffers);
      }
    } else if (!user.taken.empty()) {
      Pools::give_back(user, *rc::gen::inRange(std::size_t{0}, user.taken.size()));
    }
    check(pools, semantics, dealt_out);
  }
  pools.give_everything_back();
  RC_ASSERT(pools.global.outstanding_segments() == 0);
}

RC_GTEST_PROP(LocalBufferPool110Test, EverySegmentIsSomewhereAndComesHome, ()) {
  play(network_semantics_110());
}

RC_GTEST_PROP(LocalBufferPool120Test, EverySegmentIsSomewhereAndComesHome, ()) {
  play(network_semantics_120());
}

NetworkConfig config_120() {
  NetworkConfig config;
  config.semantics = &network_semantics_120();
  return config;
}

InputGateDescriptor one_remote_channel(ProcessId producer) {
  InputGateDescriptor descriptor;
  descriptor.channels.resize(1);
  descriptor.channels[0].producer = producer;
  return descriptor;
}

// How many segments a gate with one remote channel holds when it is set up, and why it fails.
struct GateAtSetUp {
  explicit GateAtSetUp(const NetworkConfig& config) {
    TestWorld world(config);
    TestProcess& left = world.start_process();
    TestProcess& right = world.start_process();
    {
      const auto gate =
          right.network().create_gate(one_remote_channel(left.ports().self),
                                      [this](const std::string& reason) { failure = reason; });
      held = right.network().outstanding_segments();
      world.run_for(Duration::seconds(1));
    }
    EXPECT_EQ(right.network().outstanding_segments(), 0);
  }
  std::int32_t held = 0;
  std::string failure;
};

TEST(GateBuffers, OneFloatingSegmentIsReservedIn120) {
  EXPECT_EQ(GateAtSetUp(NetworkConfig{}).held, 2);
  EXPECT_EQ(GateAtSetUp(config_120()).held, 3);
}

TEST(GateBuffers, AGateThatMayRequireLittleHasFewerExclusiveSegments) {
  NetworkConfig config = config_120();
  config.required_buffers_per_gate_max = 2;
  EXPECT_EQ(GateAtSetUp(config).held, 2);
  config.required_buffers_per_gate_max = 1;
  EXPECT_EQ(GateAtSetUp(config).held, 1);
}

TEST(GateBuffers, WithoutFloatingSegmentsEachGenerationFailsInItsWords) {
  NetworkConfig config;
  config.floating_per_gate = 0;
  EXPECT_EQ(GateAtSetUp(config).failure,
            "Maximum number of memory segments (0) should be larger than 0.");
  config.semantics = &network_semantics_120();
  EXPECT_EQ(GateAtSetUp(config).failure, "Wrong number of floating buffers.");
  // Those that are not exclusive float.
  config.required_buffers_per_gate_max = 1;
  EXPECT_EQ(GateAtSetUp(config).failure, "");
}

TEST(PartitionBuffers, FewerThanTheGuaranteeAreAnErrorIn110Only) {
  NetworkConfig config;
  config.exclusive_per_channel = 1;
  config.floating_per_gate = 0;
  ResultPartitionDescriptor descriptor;
  descriptor.subpartitions = 1;
  std::string error;
  {
    TestWorld world(config);
    EXPECT_EQ(world.start_process().network().create_partition(descriptor, &error), nullptr);
    EXPECT_EQ(error,
              "Maximum number of memory segments (1) should not be smaller than minimum (2).");
  }
  config.semantics = &network_semantics_120();
  TestWorld world(config);
  EXPECT_NE(world.start_process().network().create_partition(descriptor, &error), nullptr);
}

// A writer of 1.20 that goes on although its output is unavailable gets overdraft, then blocks inside
// the record.
TEST(Overdraft, LetsAWriterFinishItsRecord) {
  NetworkConfig config = config_120();
  config.segment_bytes = 1024;
  TestWorld world(config);
  TestProcess& process = world.start_process();
  ResultPartitionDescriptor descriptor;
  descriptor.subpartitions = 1;
  const auto partition = process.network().create_partition(descriptor);
  RecordWriter writer(*partition, RecordType::kString, make_channel_selector({}),
                      Duration::millis(-1), process.ports());
  const std::string almost_a_segment(1000, 'x');
  while (writer.is_available()) writer.emit({almost_a_segment, 0, {}});
  // 2 exclusive and 8 floating ones: no more than max-buffers-per-channel either.
  EXPECT_EQ(partition->buffer_pool().requested(), 10);
  EXPECT_FALSE(writer.is_blocked());
  for (int i = 0; i < 4; ++i) writer.emit({almost_a_segment, 0, {}});
  EXPECT_FALSE(writer.is_blocked());
  EXPECT_GT(partition->buffer_pool().excess_segments(), 0);
  writer.emit({std::string(4000, 'x'), 0, {}});
  EXPECT_TRUE(writer.is_blocked());
  EXPECT_EQ(partition->buffer_pool().excess_segments(), 5);
}

}  // namespace
}  // namespace tailrace::engine
