#include "engine/task/operators/keyed_update.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/network/channel_selector.hpp"
#include "engine/state/checkpoint_stream_factory.hpp"
#include "engine/state/heap/heap_keyed_state_backend.hpp"
#include "engine/state/heap/heap_restore_operation.hpp"
#include "engine/state/key_group_assignment.hpp"
#include "engine/task/operators/keyed_count.hpp"
#include "engine/task/operators/record_key.hpp"
#include "tests/engine/barrier/counting_allocator.hpp"
#include "tests/engine/task/operator_fixture.hpp"

namespace tailrace::engine {
namespace {

constexpr std::int32_t kGroups = 128;
constexpr KeyGroupRange kAll{0, kGroups - 1};

// Where the records of a counted operator go.
class NoOutput final : public Output {
 public:
  void collect(const Record&) override {}
};

// An operator with a backend of its own.
struct Keyed {
  Keyed(const std::shared_ptr<const StreamOperatorFactory>& made_by, KeyGroupRange range,
        bool restored = false, Output* other_output = nullptr)
      : factory(made_by), backend(range, kGroups, made_by->key_serializer()) {
    context.keyed_state = &backend;
    context.output = other_output != nullptr ? other_output : &output;
    context.max_parallelism = kGroups;
    context.restored = restored;
    made = factory->create();
  }
  void open() { made->initialize_state(context); }
  void process(std::string_view text) { made->process({text, 0, Time{}}); }
  // Value by key, both as text.
  [[nodiscard]] std::map<std::string, std::string> contents() const {
    std::map<std::string, std::string> result;
    backend.visit([&](const std::string&, std::string_view key, const std::string& value) {
      result.emplace(backend.key_serializer().text(key), value);
    });
    return result;
  }
  [[nodiscard]] std::vector<std::byte> stream() {
    const auto future = backend.snapshot(1);
    while (future->step()) continue;
    return future->take_stream();
  }

  std::shared_ptr<const StreamOperatorFactory> factory;
  HeapKeyedStateBackend backend;
  OperatorContext context;
  CollectedOutput output;
  std::unique_ptr<StreamOperator> made;
};

KeyedUpdateConfig numbers(std::int64_t bytes) {
  return {.input = RecordType::kNumberedString, .bytes_per_key = bytes, .preload = nullptr};
}

TEST(KeyedUpdate, ReplacesTheValueOfTheKeyAndHandsTheRecordOn) {
  Keyed keyed(make_keyed_update_factory(numbers(10)), kAll);
  keyed.open();
  for (const char* text : {"17 ...", "4 ....", "17 ...", "17 ..."}) keyed.process(text);
  EXPECT_EQ(keyed.output.texts(),
            (std::vector<std::string>{"17 ...", "4 ....", "17 ...", "17 ..."}));
  EXPECT_EQ(keyed.contents(), (std::map<std::string, std::string>{{"17", "00000000000000030000"},
                                                                  {"4", "00000000000000010000"}}));
}

TEST(KeyedUpdate, OfTextsGoesByTheText) {
  Keyed keyed(make_keyed_update_factory({.bytes_per_key = 1, .preload = nullptr}), kAll);
  keyed.open();
  for (const char* text : {"17 a", "17 b", "17 a"}) keyed.process(text);
  EXPECT_EQ(keyed.contents(), (std::map<std::string, std::string>{{"17 a", "02"}, {"17 b", "01"}}));
}

TEST(KeyedUpdate, CountsInAsManyBytesAsThereAre) {
  Keyed keyed(make_keyed_update_factory(numbers(1)), kAll);
  keyed.open();
  for (int i = 0; i < 257; ++i) keyed.process("5");
  EXPECT_EQ(keyed.contents().at("5"), "01");
  EXPECT_EQ(update_count(Bytes(1, std::byte{1})), 1u);
  Bytes value(20, std::byte{0});
  value[6] = std::byte{2};
  EXPECT_EQ(update_count(value), 512u);
}

TEST(KeyedUpdate, SpreadsItsShareOfTheRecordsEvenly) {
  KeyedUpdateConfig config = numbers(8);
  config.update_ppm = 300'000;
  Keyed keyed(make_keyed_update_factory(config), kAll);
  keyed.open();
  for (int i = 1; i <= 20; ++i) {
    keyed.process("1");
    const auto contents = keyed.contents();
    const auto found = contents.find("1");
    const int updates = found == contents.end() ? 0 : std::stoi(found->second, nullptr, 16);
    EXPECT_EQ(updates, i * 3 / 10) << i;
  }
  EXPECT_EQ(keyed.output.rows.size(), 20u);
}

TEST(KeyedUpdate, PreloadFillsTheKeysOfItsKeyGroups) {
  auto keys = std::make_shared<std::vector<std::int64_t>>();
  for (std::int64_t key = 0; key < 1000; ++key) keys->push_back(key);
  KeyedUpdateConfig config = numbers(3);
  config.preload = keys;
  std::size_t all = 0;
  for (std::int32_t subtask = 0; subtask < 3; ++subtask) {
    const KeyGroupRange range = compute_key_group_range_for_operator_index(kGroups, 3, subtask);
    Keyed keyed(make_keyed_update_factory(config), range);
    keyed.open();
    for (const auto& [key, value] : keyed.contents()) {
      EXPECT_EQ(value, "000000");
      EXPECT_TRUE(range.contains(assign_to_key_group(java_long_hash(std::stoll(key)), kGroups)));
      ++all;
    }
  }
  EXPECT_EQ(all, 1000u);
  Keyed restored(make_keyed_update_factory(config), kAll, true);
  restored.open();
  EXPECT_TRUE(restored.contents().empty());
}

// As measured: 400 bytes, 10 for each key group, and for each key its value and 13 more. Here there
// are 64 of 128 key groups.
TEST(KeyedUpdate, ASnapshotHasTheSizeThatFlinksHas) {
  const KeyGroupRange half = compute_key_group_range_for_operator_index(kGroups, 2, 0);
  auto keys = std::make_shared<std::vector<std::int64_t>>();
  for (std::int64_t key = 0; key < 3000; ++key) keys->push_back(key);
  KeyedUpdateConfig config = numbers(1000);
  config.preload = keys;
  Keyed keyed(make_keyed_update_factory(config), half);
  keyed.open();
  const auto entries = static_cast<std::size_t>(keyed.backend.entry_count());
  EXPECT_GT(entries, 1000u);
  EXPECT_EQ(keyed.stream().size(), 400 + 10 * 64 + entries * (1000 + 4 + 8 + 1));
}

TEST(KeyedUpdate, IsRestoredFromItsStream) {
  Keyed before(make_keyed_update_factory(numbers(9)), kAll);
  before.open();
  for (const char* text : {"17", "4", "17"}) before.process(text);
  const auto future = before.backend.snapshot(1);
  while (future->step()) continue;
  const auto stream = std::make_shared<const StreamStateHandle>(
      ByteStreamStateHandle{"state", future->take_stream()});
  OperatorSubtaskState state;
  future->finish(stream, state);

  Keyed after(make_keyed_update_factory(numbers(9)), kAll, true);
  const auto& bytes = std::get<ByteStreamStateHandle>(*stream).bytes;
  const auto restored = HeapRestoreOperation::restore(
      after.backend, state.managed_keyed,
      {FetchedStream(std::make_shared<const std::vector<std::byte>>(bytes))});
  ASSERT_TRUE(restored.ok()) << restored.error();
  after.open();
  after.process("17");
  EXPECT_EQ(after.contents(), (std::map<std::string, std::string>{{"17", "000000000000000300"},
                                                                  {"4", "000000000000000100"}}));
}

TEST(KeyedUpdate, AllocatesNothingForARecordOfAKnownKey) {
  NoOutput nowhere;
  Keyed keyed(make_keyed_update_factory(numbers(1000)), kAll, false, &nowhere);
  keyed.open();
  const std::vector<std::string> texts = {"17 ....", "4 .....", "1234567890 .."};
  for (const std::string& text : texts) keyed.process(text);
  const std::size_t before = test::allocation_count();
  for (int i = 0; i < 1000; ++i) {
    for (const std::string& text : texts) keyed.process(text);
  }
  EXPECT_EQ(test::allocation_count(), before);
}

TEST(KeyedCount, OfNumberedRecordsGoesByTheNumber) {
  Keyed keyed(make_keyed_count_factory(RecordType::kNumberedString), kAll);
  keyed.open();
  for (const char* text : {"17 a", "17 b", "4"}) keyed.process(text);
  EXPECT_EQ(keyed.contents(), (std::map<std::string, std::string>{{"17", "2"}, {"4", "1"}}));
  EXPECT_EQ(keyed.output.rows[1].text, "17 b");
  EXPECT_EQ(keyed.output.rows[1].number, 2);
}

// The number decides, as a Java long, and whatever stands behind it does not.
TEST(NumberedRecords, GoWhereTheirKeyGroupIs) {
  ChannelSelectorConfig config;
  config.kind = PartitionerKind::kHash;
  config.channels = 3;
  config.max_parallelism = kGroups;
  config.type = RecordType::kNumberedString;
  const auto selector = make_channel_selector(config);
  // Key groups 0, 37, 74, 111, 20 and 57 of 128, computed elsewhere.
  const std::vector<std::pair<std::string, std::int32_t>> rows = {
      {"312", 0}, {"73 ...", 0}, {"203 :", 1}, {"635 x", 2}, {"29", 0}, {"76 .", 1}};
  for (const auto& [text, channel] : rows) {
    EXPECT_EQ(selector->select({text, 0, Time{}}), channel) << text;
  }
  // A long hashes with both of its halves: 2^32 as 1.
  for (std::int64_t key = 0; key < 1000; ++key) {
    const std::string low = std::to_string(key);
    const std::string high = std::to_string(key << 32);
    EXPECT_EQ(selector->select({high, 0, Time{}}), selector->select({low, 0, Time{}}));
  }
  config.type = RecordType::kString;
  const auto by_text = make_channel_selector(config);
  int differ = 0;
  for (int key = 0; key < 1000; ++key) {
    const std::string text = std::to_string(key);
    differ += by_text->select({text, 0, Time{}}) != selector->select({text, 0, Time{}});
  }
  EXPECT_GT(differ, 500);
}

TEST(NumberedRecords, BeginWithTheirNumber) {
  EXPECT_EQ(leading_number("0"), 0);
  EXPECT_EQ(leading_number("00012 34"), 12);
  EXPECT_EQ(leading_number("9223372036854775807."), 9223372036854775807);
}

}  // namespace
}  // namespace tailrace::engine
