// The state of one key group next to the standard library: insert, update, get, iterate, snapshot.
//
// A million random 8-byte keys with 16-byte values. Ours and the reference run in one process; only
// the ratio of the two means anything.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <benchmark/benchmark.h>

#include "engine/state/heap/copy_on_write_state_map.hpp"
#include "engine/state/heap/heap_keyed_state_backend.hpp"
#include "engine/state/java_hash.hpp"

namespace tailrace::engine {
namespace {

constexpr std::size_t kCount = 1'000'000;

using Value = std::array<std::int64_t, 2>;
using Map = CopyOnWriteStateMap<std::int64_t, VoidNamespace, Value>;
using Reference = std::unordered_map<std::int64_t, Value>;

const std::vector<std::int64_t>& keys() {
  static const std::vector<std::int64_t> kKeys = [] {
    std::vector<std::int64_t> result;
    std::uint64_t state = 42;
    for (std::size_t i = 0; i < kCount; ++i) {
      std::uint64_t z = state += 0x9e3779b97f4a7c15ULL;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
      result.push_back(static_cast<std::int64_t>(z ^ (z >> 31)));
    }
    return result;
  }();
  return kKeys;
}

// The same keys in another order, so that access does not follow the order of insertion.
const std::vector<std::int64_t>& shuffled_keys() {
  static const std::vector<std::int64_t> kKeys = [] {
    std::vector<std::int64_t> result = keys();
    std::uint64_t state = 7;
    for (std::size_t i = result.size() - 1; i > 0; --i) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      std::swap(result[i], result[(state >> 33) % (i + 1)]);
    }
    return result;
  }();
  return kKeys;
}

std::uint32_t hash_of(std::int64_t key) {
  return state_map_hash(java_long_hash(key), VoidNamespace::kHash);
}

void fill(Map& map) {
  for (const std::int64_t key : keys()) map.put(key, {}, hash_of(key), {key, 1});
}
void fill(Reference& map) {
  for (const std::int64_t key : keys()) map[key] = {key, 1};
}
template <typename M>
M& filled() {
  static M* const kMap = [] {
    auto* map = new M;
    fill(*map);
    return map;
  }();
  return *kMap;
}

void set_entries(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kCount));
}

template <typename M>
void insert(benchmark::State& state) {
  for (auto _ : state) {
    auto map = std::make_unique<M>();
    fill(*map);
    benchmark::DoNotOptimize(map.get());
    state.PauseTiming();
    map.reset();
    state.ResumeTiming();
  }
  set_entries(state);
}

void update_ours(benchmark::State& state) {
  Map& map = filled<Map>();
  for (auto _ : state) {
    for (const std::int64_t key : shuffled_keys()) map.put(key, {}, hash_of(key), {key, 2});
  }
  set_entries(state);
}
void update_reference(benchmark::State& state) {
  auto& map = filled<Reference>();
  for (auto _ : state) {
    for (const std::int64_t key : shuffled_keys()) map[key] = {key, 2};
  }
  set_entries(state);
}

double cpu_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Both miss the caches at every key, so what else runs on the machine counts for more than they do.
// They take turns every few milliseconds: what slows one down slows the other down.
void update_in_turns(benchmark::State& state) {
  constexpr std::size_t kBlock = kCount / 64;
  static_assert(kCount % kBlock == 0);
  Map& ours = filled<Map>();
  auto& reference = filled<Reference>();
  const std::vector<std::int64_t>& order = shuffled_keys();
  double ours_seconds = 0;
  double reference_seconds = 0;
  for (auto _ : state) {
    for (std::size_t begin = 0; begin < kCount; begin += kBlock) {
      const std::span<const std::int64_t> block(&order[begin], kBlock);
      const double start = cpu_seconds();
      for (const std::int64_t key : block) ours.put(key, {}, hash_of(key), {key, 2});
      const double middle = cpu_seconds();
      for (const std::int64_t key : block) reference[key] = {key, 2};
      ours_seconds += middle - start;
      reference_seconds += cpu_seconds() - middle;
    }
  }
  const auto items = static_cast<double>(state.iterations()) * static_cast<double>(kCount);
  state.counters["ours"] = items / ours_seconds;
  state.counters["reference"] = items / reference_seconds;
  state.counters["ratio"] = reference_seconds / ours_seconds;
}

void get_ours(benchmark::State& state) {
  Map& map = filled<Map>();
  for (auto _ : state) {
    std::int64_t sum = 0;
    for (const std::int64_t key : shuffled_keys()) sum += (*map.get(key, {}, hash_of(key)))[0];
    benchmark::DoNotOptimize(sum);
  }
  set_entries(state);
}
void get_reference(benchmark::State& state) {
  auto& map = filled<Reference>();
  for (auto _ : state) {
    std::int64_t sum = 0;
    for (const std::int64_t key : shuffled_keys()) sum += map.find(key)->second[0];
    benchmark::DoNotOptimize(sum);
  }
  set_entries(state);
}

// Read, modify, write by one lookup, while a snapshot is out: every first touch copies.
void update_under_snapshot_ours(benchmark::State& state) {
  Map& map = filled<Map>();
  for (auto _ : state) {
    auto snapshot = map.snapshot();
    for (const std::int64_t key : shuffled_keys()) {
      map.transform(key, {}, hash_of(key), [](const Value* old) {
        return Value{(*old)[0], (*old)[1] + 1};
      });
    }
  }
  set_entries(state);
}

// Iterates and copies keys and values into a flat buffer.
void iterate_ours(benchmark::State& state) {
  Map& map = filled<Map>();
  std::vector<std::int64_t> flat(3 * kCount);
  for (auto _ : state) {
    const auto snapshot = map.snapshot();
    std::int64_t* out = flat.data();
    snapshot.for_each([&out](const Map::Entry& entry) {
      out[0] = entry.key;
      out[1] = entry.state[0];
      out[2] = entry.state[1];
      out += 3;
    });
    benchmark::DoNotOptimize(flat.data());
    benchmark::ClobberMemory();
  }
  set_entries(state);
}
void iterate_reference(benchmark::State& state) {
  auto& map = filled<Reference>();
  std::vector<std::int64_t> flat(3 * kCount);
  for (auto _ : state) {
    std::int64_t* out = flat.data();
    for (const auto& [key, value] : map) {
      out[0] = key;
      out[1] = value[0];
      out[2] = value[1];
      out += 3;
    }
    benchmark::DoNotOptimize(flat.data());
    benchmark::ClobberMemory();
  }
  set_entries(state);
}

// A whole snapshot of a backend of 128 key groups with 200,000 words: taken, written, released.
void snapshot_bytes_ours(benchmark::State& state) {
  HeapKeyedStateBackend backend({0, 127}, 128);
  auto count = backend.get_value_state<std::int64_t>("count");
  for (int i = 0; i < 200'000; ++i) {
    std::string word = "w";
    word += std::to_string(i * 7919LL);
    backend.set_current_key(word);
    count.update(i);
  }
  std::int64_t bytes = 0;
  for (auto _ : state) {
    const auto future = backend.snapshot(1);
    while (future->step().has_value()) {
    }
    const auto stream = future->take_stream();
    bytes += static_cast<std::int64_t>(stream.size());
    benchmark::DoNotOptimize(stream.data());
  }
  state.SetBytesProcessed(bytes);
}
void snapshot_bytes_reference(benchmark::State& state) {
  const std::vector<std::byte> source(4'000'000, std::byte{1});
  std::int64_t bytes = 0;
  for (auto _ : state) {
    std::vector<std::byte> target(source.size());
    std::memcpy(target.data(), source.data(), source.size());
    bytes += static_cast<std::int64_t>(target.size());
    benchmark::DoNotOptimize(target.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(bytes);
}

// Words through a backend as a counting operator does it.
void count_words_ours(benchmark::State& state) {
  HeapKeyedStateBackend backend({0, 127}, 128);
  auto count = backend.get_value_state<std::int64_t>("count");
  std::vector<std::string> words;
  for (int i = 0; i < 20'000; ++i) {
    words.push_back("w");
    words.back() += std::to_string(i * 7919LL);
  }
  for (auto _ : state) {
    for (const std::string& word : words) {
      backend.set_current_key(word);
      benchmark::DoNotOptimize(
          count.transform([](const std::int64_t* old) { return old == nullptr ? 1 : *old + 1; }));
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(words.size()));
}
void count_words_reference(benchmark::State& state) {
  std::unordered_map<std::string, std::int64_t> counts;
  std::vector<std::string> words;
  for (int i = 0; i < 20'000; ++i) {
    words.push_back("w");
    words.back() += std::to_string(i * 7919LL);
  }
  for (auto _ : state) {
    for (const std::string& word : words) benchmark::DoNotOptimize(++counts[word]);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(words.size()));
}

BENCHMARK(insert<Map>)->Name("state/insert/ours")->Unit(benchmark::kMillisecond);
BENCHMARK(insert<Reference>)->Name("state/insert/reference")->Unit(benchmark::kMillisecond);
BENCHMARK(update_ours)->Name("state/update/ours")->Unit(benchmark::kMillisecond);
BENCHMARK(update_reference)->Name("state/update/reference")->Unit(benchmark::kMillisecond);
BENCHMARK(update_in_turns)
    ->Name("state/update/in_turns")
    ->Unit(benchmark::kMillisecond)
    ->MinTime(0.5);
BENCHMARK(get_ours)->Name("state/get/ours")->Unit(benchmark::kMillisecond);
BENCHMARK(get_reference)->Name("state/get/reference")->Unit(benchmark::kMillisecond);
BENCHMARK(iterate_ours)->Name("state/iterate_snapshot/ours")->Unit(benchmark::kMillisecond);
BENCHMARK(iterate_reference)
    ->Name("state/iterate_snapshot/reference")
    ->Unit(benchmark::kMillisecond);
BENCHMARK(snapshot_bytes_ours)->Name("state/snapshot_bytes/ours")->Unit(benchmark::kMillisecond);
BENCHMARK(snapshot_bytes_reference)
    ->Name("state/snapshot_bytes/reference")
    ->Unit(benchmark::kMillisecond);
BENCHMARK(count_words_ours)->Name("state/count_words/ours")->Unit(benchmark::kMillisecond);
BENCHMARK(count_words_reference)
    ->Name("state/count_words/reference")
    ->Unit(benchmark::kMillisecond);
BENCHMARK(update_under_snapshot_ours)
    ->Name("state/update_under_snapshot/ours")
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tailrace::engine
