// Bytes: records, events and messages as they travel.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "engine/network/f110/event_serializer.hpp"
#include "engine/network/netty_message.hpp"
#include "engine/network/network_semantics.hpp"
#include "engine/network/record_codec.hpp"
#include "engine/network/record_deserializer.hpp"
#include "engine/state/java_hash.hpp"

namespace tailrace::engine {
namespace {

std::vector<int> ints(std::span<const std::byte> bytes) {
  std::vector<int> out;
  for (const std::byte byte : bytes) out.push_back(static_cast<int>(byte));
  return out;
}

std::vector<int> wire(const Record& record, RecordType type) {
  std::vector<std::byte> out;
  append_record(out, record, type);
  return ints(out);
}

TEST(RecordWireFormat, HasLengthTagTimestampAndValue) {
  EXPECT_EQ(wire({.text = "ab", .created = base::Time{258}}, RecordType::kString),
            (std::vector<int>{0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 'a', 'b'}));
}

TEST(RecordWireFormat, AppendsTheLongOfATuple) {
  EXPECT_EQ(wire({.text = "a", .number = -2, .created = {}}, RecordType::kStringLong),
            (std::vector<int>{0, 0, 0,   19,  0,   0,   0,   0,   0,   0,   0,  0,
                              0, 2, 'a', 255, 255, 255, 255, 255, 255, 255, 254}));
}

TEST(RecordWireFormat, WritesUtf16UnitsAsVariableLengthIntegers) {
  // U+00E9 is 0xE9, U+1F600 is D83D DE00: as varints E9 01, BD B0 03, 80 BC 03.
  EXPECT_EQ(wire({.text = "\xC3\xA9\xF0\x9F\x98\x80", .created = {}}, RecordType::kString),
            (std::vector<int>{0, 0, 0, 18,   0, 0,    0,    0, 0,    0,    0,
                              0, 0, 4, 0xE9, 1, 0xBD, 0xB0, 3, 0x80, 0xBC, 3}));
}

// A key must belong to the same key group at both ends, whatever bytes it has.
RC_GTEST_PROP(RecordWireFormat, KeepsTheJavaHashOfAnyBytes, ()) {
  const auto bytes = *rc::gen::container<std::string>(
      rc::gen::element('a', '\0', '\x80', '\xA0', '\xBF', '\xC0', '\xC3', '\xE0', '\xED', '\xEF',
                       '\xF0', '\x90', '\x9F', '\xF4', '\xF5', '\xFF', '\xB0'));
  std::vector<std::byte> out;
  append_record(out, {.text = bytes, .created = {}}, RecordType::kString);
  std::string scratch;
  const Record back =
      parse_record(std::span(out).subspan(kLengthBytes), RecordType::kString, scratch);
  RC_ASSERT(java_string_hash(back.text) == java_string_hash(std::string_view(bytes)));
}

TEST(RecordWireFormat, LongStringsHaveALengthOfSeveralBytes) {
  const std::string text(300, 'x');
  std::vector<std::byte> out;
  append_record(out, {.text = text, .created = {}}, RecordType::kString);
  EXPECT_EQ(out.size(), 4U + 1 + 8 + 2 + 300);
  EXPECT_EQ(static_cast<int>(out[13]), (301 & 127) | 128);
  EXPECT_EQ(static_cast<int>(out[14]), 301 >> 7);
}

TEST(EventWireFormat, HasFlinksSizesAndRoundTrips) {
  const CheckpointBarrier plain{7, 1234567890123, {}};
  const CheckpointBarrier savepoint{
      8, 5, {CheckpointType::SYNC_SAVEPOINT, "s3://bucket/savepoints/17"}};
  EXPECT_EQ(serialize_event(plain)->size(), 28U);
  EXPECT_EQ(serialize_event(savepoint)->size(), 28U + 25);
  EXPECT_EQ(serialize_event(CancelCheckpointMarker{9})->size(), 12U);
  EXPECT_EQ(serialize_event(EndOfPartitionEvent{})->size(), 4U);
  for (const RuntimeEvent& event : std::vector<RuntimeEvent>{
           plain, savepoint, CancelCheckpointMarker{1LL << 40}, EndOfPartitionEvent{}}) {
    EXPECT_EQ(parse_event(*serialize_event(event)), event);
  }
  EXPECT_EQ(ints(*serialize_event(CancelCheckpointMarker{258})),
            (std::vector<int>{0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 1, 2}));
}

TEST(MessageWireFormat, HasFlinksSizesAndRoundTrips) {
  WirePool pool;
  const WireFormat& wire = wire_format_110();
  const ResultPartitionId partition{3, 4, {5}};
  const auto request = wire.make_partition_request(pool, {partition, 6, 7, 2});
  EXPECT_EQ(request->size(), 65);
  EXPECT_EQ(wire.parse_partition_request(*request).partition, partition);
  EXPECT_EQ(wire.parse_partition_request(*request).subpartition, 6);
  EXPECT_EQ(wire.parse_partition_request(*request).receiver, 7U);
  EXPECT_EQ(wire.parse_partition_request(*request).credit, 2);
  const auto credit = wire.make_add_credit(pool, {partition, 9, 7});
  EXPECT_EQ(credit->size(), 61);
  EXPECT_EQ(wire.parse_add_credit(*credit).credit, 9);
  EXPECT_EQ(wire.parse_add_credit(*credit).receiver, 7U);
  const auto cancel = make_cancel_partition_request(pool, 7);
  EXPECT_EQ(cancel->size(), 25);
  EXPECT_EQ(parse_cancel_partition_request(*cancel), 7U);
  EXPECT_EQ(make_close_request(pool)->size(), 9);
  const NetworkItem event{{}, serialize_event(CheckpointBarrier{1, 2, {}}), DataType::kEventBuffer};
  const auto barrier = wire.make_buffer_response(pool, {7, 0, 11, 12, {}, {}}, event);
  EXPECT_EQ(barrier->size(), 67);
  const BufferResponse response = wire.parse_buffer_response(*barrier);
  EXPECT_EQ(response.sequence_number, 11);
  EXPECT_EQ(response.backlog, 12);
  EXPECT_FALSE(response.is_buffer());
  EXPECT_EQ(ints(response.payload), ints(*event.event));
  EXPECT_EQ(ints(barrier->bytes().first(9)),
            (std::vector<int>{0, 0, 0, 67, 0xBA, 0xDC, 0x0F, 0xFE, 0}));
}

TEST(MessageWireFormat, MessagesOf120HaveTheirSizesAndRoundTrip) {
  WirePool pool;
  const WireFormat& wire = wire_format_120();
  const ResultPartitionId partition{3, 4, {5}};
  const auto request = wire.make_partition_request(pool, {partition, 6, 7, 2});
  EXPECT_EQ(request->size(), 9 + 88);
  EXPECT_EQ(wire.parse_partition_request(*request).partition, partition);
  EXPECT_EQ(wire.parse_partition_request(*request).subpartition, 6);
  EXPECT_EQ(wire.parse_partition_request(*request).receiver, 7U);
  EXPECT_EQ(wire.parse_partition_request(*request).credit, 2);
  const auto credit = wire.make_add_credit(pool, {partition, 9, 7});
  EXPECT_EQ(credit->size(), 9 + 20);
  EXPECT_EQ(wire.parse_add_credit(*credit).credit, 9);
  EXPECT_EQ(wire.parse_add_credit(*credit).receiver, 7U);
  const auto resume = make_resume_consumption(pool, 7);
  EXPECT_EQ(resume->size(), 9 + 16);
  EXPECT_EQ(parse_resume_consumption(*resume), 7U);
  const auto backlog = make_backlog_announcement(pool, {3, 7});
  EXPECT_EQ(backlog->size(), 9 + 20);
  EXPECT_EQ(parse_backlog_announcement(*backlog).backlog, 3);
  EXPECT_EQ(parse_backlog_announcement(*backlog).receiver, 7U);
  const auto size = make_new_buffer_size(pool, {4096, 7});
  EXPECT_EQ(size->size(), 9 + 20);
  EXPECT_EQ(parse_new_buffer_size(*size).bytes, 4096);
  EXPECT_EQ(parse_new_buffer_size(*size).receiver, 7U);
}

class KeepsNothing final : public BufferRecycler {
 public:
  void recycle(NetworkBuffer&) override { ++recycled; }
  std::int32_t recycled = 0;
};

// A segment of 4 KiB with a number in each byte from `begin` on.
Buffer numbered(NetworkBuffer& segment, std::uint32_t begin, std::uint32_t end) {
  for (std::uint32_t i = begin; i < end; ++i)
    segment.data()[i] = static_cast<std::byte>(i * 7 % 251);
  return Buffer(segment, begin, end);
}

bool is_numbered(std::span<const std::byte> bytes, std::uint32_t begin) {
  for (std::uint32_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != static_cast<std::byte>((begin + i) * 7 % 251)) return false;
  }
  return true;
}

// A large buffer that nobody else reads changes hands without being copied: its memory does.
TEST(MessageWireFormat, ALargeBufferTravelsByExchangeOfItsMemory) {
  for (const WireFormat* wire : {&wire_format_110(), &wire_format_120()}) {
    for (const std::uint32_t begin : {0U, 100U}) {
      WirePool pool;
      KeepsNothing home;
      NetworkBuffer sent(4096);
      NetworkBuffer received(4096);
      for (int round = 0; round < 3; ++round) {
        sent.lend(home);
        received.lend(home);
        NetworkItem item{numbered(sent, begin, 3000), nullptr, DataType::kDataBuffer};
        const std::byte* const memory = sent.data();
        const auto message = wire->make_buffer_response(pool, {7, 0, 11, 12, {}, {}}, item);
        EXPECT_NE(sent.data(), memory);
        item = {};
        const BufferResponse response = wire->parse_buffer_response(*message);
        EXPECT_EQ(response.payload.size(), 3000 - begin);
        EXPECT_TRUE(is_numbered(response.payload, begin));
        const Buffer taken = take_payload(response, received);
        EXPECT_EQ(received.data(), memory);
        EXPECT_EQ(taken.size(), 3000 - begin);
        EXPECT_TRUE(is_numbered(taken.bytes(), begin));
      }
      EXPECT_EQ(home.recycled, 6);
    }
  }
}

TEST(MessageWireFormat, ABufferThatSomebodyElseReadsIsCopiedAndSoIsASmallOne) {
  WirePool pool;
  KeepsNothing home;
  NetworkBuffer sent(4096);
  NetworkBuffer received(4096);
  NetworkBuffer of_another_size(8192);
  sent.lend(home);
  received.lend(home);
  of_another_size.lend(home);
  const std::byte* const memory = sent.data();
  const Buffer other_reader = numbered(sent, 0, 3000);
  const NetworkItem shared{other_reader, nullptr, DataType::kDataBuffer};
  const auto message = wire_format_120().make_buffer_response(pool, {7, 0, 11, 12, {}, {}}, shared);
  EXPECT_EQ(sent.data(), memory);
  EXPECT_TRUE(is_numbered(other_reader.bytes(), 0));
  EXPECT_TRUE(is_numbered(
      take_payload(wire_format_120().parse_buffer_response(*message), received).bytes(), 0));

  NetworkBuffer small(4096);
  small.lend(home);
  const std::byte* const memory_of_small = small.data();
  const NetworkItem item{numbered(small, 10, 200), nullptr, DataType::kDataBuffer};
  const auto short_message =
      wire_format_120().make_buffer_response(pool, {7, 0, 12, 12, {}, {}}, item);
  EXPECT_EQ(small.data(), memory_of_small);
  EXPECT_TRUE(is_numbered(
      take_payload(wire_format_120().parse_buffer_response(*short_message), of_another_size)
          .bytes(),
      10));
}

// Segments of one size on one side and another on the other side: a copy, too.
TEST(MessageWireFormat, AnotherSegmentSizeAtTheReceiverMeansACopy) {
  WirePool pool;
  KeepsNothing home;
  NetworkBuffer sent(4096);
  NetworkBuffer received(8192);
  sent.lend(home);
  received.lend(home);
  const NetworkItem item{numbered(sent, 0, 4096), nullptr, DataType::kDataBuffer};
  const auto message = wire_format_110().make_buffer_response(pool, {7, 0, 11, 12, {}, {}}, item);
  const std::byte* const memory = received.data();
  const Buffer taken = take_payload(wire_format_110().parse_buffer_response(*message), received);
  EXPECT_EQ(received.data(), memory);
  EXPECT_TRUE(is_numbered(taken.bytes(), 0));
}

// What overtakes, blocks or is announced must do so behind the wire, too.
TEST(MessageWireFormat, TypesOf120SurviveTheWire) {
  WirePool pool;
  const WireFormat& wire = wire_format_120();
  for (const DataType type :
       {DataType::kEventBuffer, DataType::kPrioritizedEventBuffer,
        DataType::kAlignedCheckpointBarrier, DataType::kTimeoutableAlignedCheckpointBarrier,
        DataType::kRecoveryCompletion, DataType::kEndOfData, DataType::kEndOfPartition}) {
    const NetworkItem item{{}, network_semantics_120().serialize_event(EndOfData{}), type};
    const auto message = wire.make_buffer_response(pool, {7, 5, -3, 12, {}, {}}, item);
    EXPECT_EQ(message->size(), 9 + 34 + 5);
    const BufferResponse response = wire.parse_buffer_response(*message);
    EXPECT_EQ(response.receiver, 7U);
    EXPECT_EQ(response.subpartition, 5);
    EXPECT_EQ(response.sequence_number, -3);
    EXPECT_EQ(response.backlog, 12);
    EXPECT_EQ(response.type, type);
    EXPECT_EQ(ints(response.payload), ints(*item.event));
  }
}

TEST(MessageWireFormat, AMessageMayOutliveItsPool) {
  auto pool = std::make_unique<WirePool>();
  auto message = wire_format_110().make_partition_request(*pool, {{1, 2, {3}}, 4, 5, 6});
  pool.reset();
  EXPECT_EQ(wire_format_110().parse_partition_request(*message).credit, 6);
}

struct Home final : BufferRecycler {
  void recycle(NetworkBuffer&) override { ++returned; }
  int returned = 0;
};

// A barrier as its sender allocates it has unused bytes behind it; what a receiver makes has none.
TEST(WireFormat, WhatAReceiverMakesIsCutToItsUsedPart) {
  const NetworkSemantics& semantics = network_semantics_120();
  CheckpointBarrier barrier{1LL << 40, 17, {}};
  barrier.options.aligned_checkpoint_timeout = base::Duration::seconds(3);
  const EventAnnouncement announcement{barrier, -5};
  CheckpointBarrier savepoint{7, 17, {}};
  savepoint.options.type = CheckpointType::SAVEPOINT;
  EXPECT_EQ(semantics.serialize_event_at_receiver(barrier)->size(), 34U);
  EXPECT_EQ(semantics.serialize_event_at_receiver(savepoint)->size(), 35U);
  EXPECT_EQ(semantics.serialize_event_at_receiver(announcement)->size(), 42U);
  EXPECT_EQ(semantics.serialize_event_at_receiver(CancelCheckpointMarker{9})->size(), 12U);
  for (const RuntimeEvent& event :
       std::vector<RuntimeEvent>{barrier, savepoint, announcement, EndOfData{false}}) {
    EXPECT_EQ(semantics.parse_event(*semantics.serialize_event_at_receiver(event)), event);
    EXPECT_EQ(semantics.parse_event(*semantics.serialize_event(event)), event);
  }
}

// However the bytes are cut into buffers, the records come back, and every buffer goes home.
RC_GTEST_PROP(RecordDeserializer, PutsTogetherWhateverWasCut,
              (const std::vector<std::vector<std::uint8_t>>& texts, bool with_number)) {
  const RecordType type = with_number ? RecordType::kStringLong : RecordType::kString;
  std::vector<std::string> strings;
  std::vector<std::byte> bytes;
  for (const auto& text : texts) {
    std::string one;
    for (const std::uint8_t c : text) {
      // Some of two UTF-8 bytes.
      if (c < 128) {
        one += static_cast<char>(c);
      } else {
        one += static_cast<char>(0xc0 | c >> 6);
        one += static_cast<char>(0x80 | (c & 63));
      }
    }
    strings.push_back(one);
    append_record(bytes, {one, static_cast<std::int64_t>(one.size()) - 3, base::Time{5}}, type);
  }
  Home home;
  int given = 0;
  RecordDeserializer deserializer(type);
  std::size_t seen = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto size = std::min(*rc::gen::inRange<std::size_t>(1, 40), bytes.size() - at);
    NetworkBuffer segment(bytes.data() + at, static_cast<std::uint32_t>(size));
    segment.lend(home);
    RC_ASSERT(deserializer.buffer_consumed());
    deserializer.set_next_buffer(Buffer(segment, 0, static_cast<std::uint32_t>(size)));
    ++given;
    at += size;
    Record record;
    while (deserializer.next(record)) {
      RC_ASSERT(record.text == strings.at(seen));
      if (with_number) {
        RC_ASSERT(record.number == static_cast<std::int64_t>(strings[seen].size()) - 3);
      }
      RC_ASSERT(record.created.ns == 5);
      ++seen;
    }
    RC_ASSERT(home.returned == given);
  }
  RC_ASSERT(seen == strings.size());
  RC_ASSERT(deserializer.records_read() == static_cast<std::int64_t>(seen));
}

TEST(RecordDeserializer, GivesTheBufferBackWithItsLastRecordBeforeThatIsUsed) {
  std::vector<std::byte> bytes;
  append_record(bytes, {.text = "first", .created = {}}, RecordType::kString);
  append_record(bytes, {.text = "second", .created = {}}, RecordType::kString);
  Home home;
  NetworkBuffer segment(bytes.data(), static_cast<std::uint32_t>(bytes.size()));
  segment.lend(home);
  RecordDeserializer deserializer(RecordType::kString);
  deserializer.set_next_buffer(Buffer(segment, 0, segment.capacity()));
  Record record;
  ASSERT_TRUE(deserializer.next(record));
  EXPECT_EQ(home.returned, 0);
  ASSERT_TRUE(deserializer.next(record));
  EXPECT_EQ(home.returned, 1);
  std::fill(bytes.begin(), bytes.end(), std::byte{0});
  EXPECT_EQ(record.text, "second");
  EXPECT_FALSE(deserializer.next(record));
}

// Sizes: golden/network/serialisation.jsonl.
TEST(WireFormat, EventsOf120HaveTheirSizesAndComeBack) {
  CheckpointBarrier aligned{1LL << 40, 17, {}};
  CheckpointBarrier timeoutable = aligned;
  timeoutable.options.aligned_checkpoint_timeout = base::Duration::seconds(3);
  CheckpointBarrier savepoint = aligned;
  savepoint.options.type = CheckpointType::SAVEPOINT_TERMINATE;
  savepoint.options.format = SavepointFormatType::NATIVE;
  savepoint.options.target_location = std::string(40, 'p');
  CheckpointBarrier at_least_once = aligned;
  at_least_once.options.alignment = AlignmentType::AT_LEAST_ONCE;
  struct Case {
    RuntimeEvent event;
    std::size_t bytes;
    bool blocks;
  };
  const NetworkSemantics& semantics = network_semantics_120();
  for (const Case& one : std::vector<Case>{{aligned, 38, true},
                                           {timeoutable, 38, true},
                                           {savepoint, 78, true},
                                           {at_least_once, 38, false},
                                           {CancelCheckpointMarker{9}, 12, false},
                                           {EndOfData{true}, 5, false},
                                           {EndOfData{false}, 5, false},
                                           {EndOfChannelState{}, 4, true},
                                           {EndOfPartitionEvent{}, 4, false}}) {
    const EventBytes bytes = semantics.serialize_event(one.event);
    EXPECT_EQ(bytes->size(), one.bytes);
    EXPECT_EQ(semantics.parse_event(*bytes), one.event);
    EXPECT_EQ(is_blocking_upstream(semantics.data_type_of(one.event, false)), one.blocks);
    EXPECT_EQ(network_semantics_110().data_type_of(one.event, false), DataType::kEventBuffer);
  }
}

}  // namespace
}  // namespace tailrace::engine
