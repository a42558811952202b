// What a record costs on its way from one task to the next: selected by its key, written into
// buffers, read from them again. Next to it the plain copying of the same bytes.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "engine/network/local_buffer_pool.hpp"
#include "engine/network/record_deserializer.hpp"
#include "engine/network/record_writer.hpp"

namespace tailrace::engine {
namespace {

constexpr std::int32_t kSegments = 64;
constexpr std::int32_t kSegmentBytes = 32 * 1024;
constexpr std::int32_t kChannels = 4;

const std::vector<std::string>& words() {
  static const std::vector<std::string> kWords = [] {
    std::vector<std::string> result;
    for (std::size_t i = 0; i < 4096; ++i) {
      std::string word(1 + i % 11, 'w');
      word[0] = static_cast<char>('a' + i % 26);
      word.back() = static_cast<char>('a' + i / 26 % 26);
      result.push_back(std::move(word));
    }
    return result;
  }();
  return kWords;
}

void set_items(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(words().size()));
}

void emit_ours(benchmark::State& state) {
  NetworkBufferPool global(kSegments, kSegmentBytes);
  std::string error;
  ResultPartitionDescriptor descriptor;
  descriptor.subpartitions = kChannels;
  ResultPartition partition(descriptor, *global.create_buffer_pool(kChannels, kSegments, &error));
  ChannelSelectorConfig selector;
  selector.kind = PartitionerKind::kHash;
  selector.channels = kChannels;
  // No flush timer and no waiting for segments: the ports are never asked.
  RecordWriter writer(partition, RecordType::kString, make_channel_selector(selector), Duration{-1},
                      Ports{});
  std::vector<RecordDeserializer> readers(kChannels, RecordDeserializer(RecordType::kString));
  std::int64_t read = 0;
  for (auto _ : state) {
    for (const std::string& word : words()) writer.emit({word, 0, Time{}});
    writer.flush_all();
    for (std::int32_t channel = 0; channel < kChannels; ++channel) {
      RecordDeserializer& reader = readers[static_cast<std::size_t>(channel)];
      while (auto item = partition.subpartition(channel).poll_buffer()) {
        reader.set_next_buffer(std::move(item->item.buffer));
        Record record;
        while (reader.next(record)) {
          benchmark::DoNotOptimize(record.text.data());
          ++read;
        }
      }
    }
  }
  if (read != state.iterations() * static_cast<std::int64_t>(words().size())) {
    state.SkipWithError("records are missing");
  }
  set_items(state);
}

void emit_reference(benchmark::State& state) {
  std::vector<char> buffer(kSegmentBytes);
  for (auto _ : state) {
    std::size_t at = 0;
    for (const std::string& word : words()) {
      if (at + word.size() > buffer.size()) at = 0;
      std::memcpy(buffer.data() + at, word.data(), word.size());
      at += word.size();
      benchmark::ClobberMemory();
    }
    benchmark::DoNotOptimize(buffer.data());
  }
  set_items(state);
}

BENCHMARK(emit_ours)->Name("records/emit/ours");
BENCHMARK(emit_reference)->Name("records/emit/memcpy");

}  // namespace
}  // namespace tailrace::engine
