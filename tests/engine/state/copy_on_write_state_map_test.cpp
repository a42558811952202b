// CopyOnWriteStateMap: rows of spec state.md 2.2, 2.3 and properties under random operations.
#include "engine/state/heap/copy_on_write_state_map.hpp"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tailrace::engine {
namespace {

struct IntNamespace {
  int value = 0;
  friend bool operator==(const IntNamespace&, const IntNamespace&) = default;
};
using List = std::shared_ptr<std::vector<int>>;
using ListMap = CopyOnWriteStateMap<int, IntNamespace, List>;
using LongMap = CopyOnWriteStateMap<int, VoidNamespace, std::int64_t>;

std::uint32_t hash_of(int key) {
  return state_map_hash(key, 0);
}
void put(ListMap& map, int key, int value) {
  map.put(key, {}, hash_of(key), std::make_shared<std::vector<int>>(1, value));
}
const List* get(ListMap& map, int key) {
  return map.get(key, {}, hash_of(key));
}

TEST(CopyOnWriteStateMap, DoublesOnThe98thInsertAndMovesFourEntriesAnAccess) {
  ListMap map;
  for (int key = 0; key < 97; ++key) put(map, key, key);
  EXPECT_FALSE(map.rehashing());
  put(map, 97, 97);
  EXPECT_TRUE(map.rehashing());
  EXPECT_EQ(map.threshold(), 192);
  EXPECT_EQ(map.rehash_index(), 0);
  EXPECT_EQ(map.primary_size(), 98);
  get(map, 0);
  EXPECT_EQ(map.rehash_index(), 3);
  EXPECT_EQ(map.primary_size(), 93);
  EXPECT_EQ(map.incremental_size(), 5);
  for (int i = 0; i < 3; ++i) get(map, 0);
  EXPECT_EQ(map.rehash_index(), 13);
  EXPECT_EQ(map.primary_size(), 80);
  EXPECT_EQ(map.incremental_size(), 18);

  const auto snapshot = map.snapshot();
  EXPECT_EQ(snapshot.array_length(), 141);
  int reachable = 0;
  snapshot.for_each([&](const auto&) { ++reachable; });
  EXPECT_EQ(reachable, 98);
}

TEST(CopyOnWriteStateMap, RehashesStartAndFinishAtTheInsertsOfFlink) {
  ListMap map;
  const std::vector<std::pair<int, int>> expected = {
      {98, 124}, {194, 242}, {386, 485}, {770, 966}, {1538, 1930}};
  const std::vector<std::int64_t> steps = {26, 74, 173, 369, 761};
  std::vector<std::pair<int, int>> seen;
  std::vector<std::int64_t> seen_steps;
  bool rehashing = false;
  for (int key = 0; key < 2000; ++key) {
    put(map, key, key);
    if (map.rehashing() == rehashing) continue;
    rehashing = !rehashing;
    if (rehashing) {
      seen.emplace_back(key + 1, 0);
    } else {
      seen.back().second = key + 1;
      seen_steps.push_back(map.rehash_steps());
    }
  }
  EXPECT_EQ(seen, expected);
  EXPECT_EQ(seen_steps, steps);
}

// Keys 235, 267 and 286 share bucket 0: the chain is 286, 267, 235.
class SharedBucket : public ::testing::Test {
 protected:
  SharedBucket() {
    for (const int key : {235, 267, 286}) put(map_, key, key);
    snapshot_.emplace(map_.snapshot());
  }
  std::pair<std::int64_t, std::int64_t> copies() const {
    return {map_.entry_copies(), map_.state_copies()};
  }

  ListMap map_;
  std::optional<ListMap::Snapshot> snapshot_;
};

TEST_F(SharedBucket, GetCopiesTheChainUpToTheEntryAndItsState) {
  get(map_, 267);
  EXPECT_EQ(copies(), std::pair(std::int64_t{2}, std::int64_t{1}));
}
TEST_F(SharedBucket, RemovingTheHeadCopiesNothing) {
  map_.remove(286, IntNamespace{}, hash_of(286));
  EXPECT_EQ(copies(), std::pair(std::int64_t{0}, std::int64_t{0}));
}
TEST_F(SharedBucket, RemovingTheTailCopiesItsPredecessors) {
  map_.remove(235, IntNamespace{}, hash_of(235));
  EXPECT_EQ(copies(), std::pair(std::int64_t{2}, std::int64_t{0}));
}
TEST_F(SharedBucket, PuttingTheTailCopiesTheChainButNoState) {
  put(map_, 235, 1);
  EXPECT_EQ(copies(), std::pair(std::int64_t{3}, std::int64_t{0}));
}
TEST_F(SharedBucket, NothingIsCopiedAfterTheRelease) {
  snapshot_->release();
  snapshot_->release();
  get(map_, 235);
  EXPECT_EQ(copies(), std::pair(std::int64_t{0}, std::int64_t{0}));
}
TEST_F(SharedBucket, ReplacedEntriesStayUntilTheRelease) {
  put(map_, 235, 1);
  EXPECT_EQ(map_.retired_count(), 3U);
  snapshot_->release();
  EXPECT_EQ(map_.retired_count(), 0U);
}

TEST(CopyOnWriteStateMap, ReleasingTheNewestSnapshotLeavesTheOlderOneProtected) {
  ListMap map;
  put(map, 1, 10);
  auto older = map.snapshot();
  auto newer = map.snapshot();
  newer.release();
  EXPECT_EQ(map.required_version(), older.version());
  (*get(map, 1))->front() = 20;
  older.for_each([](const auto& entry) { EXPECT_EQ(entry.state->front(), 10); });
}

TEST(CopyOnWriteStateMap, ACapacityOfZeroGrowsWithTheFirstInsert) {
  ListMap map(0);
  EXPECT_EQ(map.primary_capacity(), 2);
  EXPECT_EQ(map.threshold(), -1);
  put(map, 1, 1);
  EXPECT_EQ(map.incremental_capacity(), 4);
  EXPECT_NE(get(map, 1), nullptr);
  for (int key = 2; key < 100; ++key) put(map, key, key);
  for (int key = 1; key < 100; ++key) EXPECT_NE(get(map, key), nullptr) << key;
}

TEST(CopyOnWriteStateMap, FindsAStringByAViewOfIt) {
  CopyOnWriteStateMap<std::string, VoidNamespace, std::int64_t> map;
  map.put(std::string_view("a word that is too long to be kept in place"), {}, 7, 1);
  EXPECT_NE(map.get(std::string_view("a word that is too long to be kept in place"), {}, 7),
            nullptr);
  EXPECT_EQ(map.get(std::string_view("another"), {}, 7), nullptr);
}

// The map against std::map, with snapshots outstanding, few keys so that chains and copies happen.
template <typename Map, typename Make, typename Read>
void compare_with_reference(Make make, Read read) {
  using Reference = std::map<int, int>;
  struct Taken {
    typename Map::Snapshot snapshot;
    Reference contents;
    typename Map::Snapshot::Cursor cursor;
    Reference walked;  // the snapshot is read in pieces, while the map goes on
  };
  Map map(*rc::gen::element<std::int64_t>(1, 4, 16, 128));
  Reference reference;
  std::vector<Taken> taken;
  const int key_count = *rc::gen::element(8, 40, 400);
  const int steps = *rc::gen::inRange(0, 1500);
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  std::uint64_t state = seed;
  const auto next = [&state](int bound) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<int>((state >> 33) % static_cast<std::uint64_t>(bound));
  };
  for (int step = 0; step < steps; ++step) {
    const int key = next(key_count);
    const std::uint32_t hash = hash_of(key);
    const auto present = reference.find(key);
    switch (next(12)) {
      case 0:
      case 1:
      case 2:
      case 3:
        map.put(key, {}, hash, make(step));
        reference[key] = step;
        break;
      case 4: {
        const auto* found = map.get(key, {}, hash);
        RC_ASSERT((found != nullptr) == (present != reference.end()));
        if (found != nullptr) RC_ASSERT(read(*found) == present->second);
        break;
      }
      case 5:
        map.transform(key, {}, hash,
                      [&](const auto* old) { return make((old == nullptr ? 0 : read(*old)) + 1); });
        reference[key] = (present == reference.end() ? 0 : present->second) + 1;
        break;
      case 6:
      case 7:
        RC_ASSERT(map.remove(key, {}, hash) == (present != reference.end()));
        reference.erase(key);
        break;
      case 8: {
        const auto old = map.remove_and_get_old(key, {}, hash);
        RC_ASSERT(old.has_value() == (present != reference.end()));
        if (old.has_value()) RC_ASSERT(read(*old) == present->second);
        reference.erase(key);
        break;
      }
      case 9: {
        const auto old = map.put_and_get_old(key, {}, hash, make(step));
        RC_ASSERT(old.has_value() == (present != reference.end()));
        if (old.has_value()) RC_ASSERT(read(*old) == present->second);
        reference[key] = step;
        break;
      }
      case 10:
        if (taken.size() < 4 && next(5) == 0) taken.push_back({map.snapshot(), reference, {}, {}});
        break;
      default:
        if (taken.empty()) break;
        const std::size_t which = static_cast<std::size_t>(next(static_cast<int>(taken.size())));
        Taken& one = taken[which];
        const std::int64_t count =
            one.snapshot.visit(one.cursor, 5, [&](const typename Map::Entry& entry) {
              RC_ASSERT(one.walked.emplace(entry.key, read(entry.state)).second);
            });
        if (count < 5) {  // walked to the end: compare and give back, in any order of age
          RC_ASSERT(one.walked == one.contents);
          taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(which));
        }
    }
    RC_ASSERT(map.size() == static_cast<std::int64_t>(reference.size()));
  }
  for (const Taken& one : taken) {
    Reference seen;
    one.snapshot.for_each([&](const auto& entry) { seen[entry.key] = read(entry.state); });
    RC_ASSERT(seen == one.contents);
    RC_ASSERT(one.snapshot.size() == static_cast<std::int64_t>(seen.size()));
  }
  Reference contents;
  map.for_each([&](const auto& entry) { contents[entry.key] = read(entry.state); });
  RC_ASSERT(contents == reference);
  taken.clear();
  RC_ASSERT(map.retired_count() == 0U);
}

RC_GTEST_PROP(CopyOnWriteStateMap, EqualsAnOrderedMapWhileSnapshotsOfSharedStateAreOut, ()) {
  compare_with_reference<ListMap>(
      [](int value) { return std::make_shared<std::vector<int>>(1, value); },
      [](const List& list) { return list->front(); });
}

RC_GTEST_PROP(CopyOnWriteStateMap, EqualsAnOrderedMapWhileSnapshotsOfPlainStateAreOut, ()) {
  compare_with_reference<LongMap>([](int value) { return std::int64_t{value}; },
                                  [](std::int64_t value) { return static_cast<int>(value); });
}

}  // namespace
}  // namespace tailrace::engine
