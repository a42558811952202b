// Replays golden/network/serialisation.jsonl, and the rows of table I about writing: record writers
// on a partition of 1.20, deserialisers, partitioners, sizes on the wire.
#include "tests/golden/writing_f120.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "engine/network/channel_selector.hpp"
#include "engine/network/network_buffer_pool.hpp"
#include "engine/network/record_codec.hpp"
#include "engine/network/record_deserializer.hpp"
#include "engine/network/record_writer.hpp"
#include "engine/state/key_group_assignment.hpp"
#include "tests/golden/subpartition_f120.hpp"

namespace tailrace::golden {
namespace {

using namespace network_f120;

// --- a writer and the readers of its partition ---------------------------------------------------

// As bytes_of, for records that are larger than any buffer.
std::uint32_t record_bytes_of(const Json& number) {
  const auto bytes = number.get<std::int64_t>();
  if (bytes < 0 || bytes > 64 << 20) throw MalformedCase("bytes: " + std::to_string(bytes));
  return static_cast<std::uint32_t>(bytes);
}

std::byte byte_of(std::int64_t record, std::size_t at) {
  return static_cast<std::byte>((static_cast<std::size_t>(record) * 31 + at * 7 + at / 251) & 0xff);
}

std::vector<std::byte> bytes_of_record(std::int64_t record, std::uint32_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = byte_of(record, i);
  return bytes;
}

class FixedSelector final : public ChannelSelector {
 public:
  explicit FixedSelector(bool broadcast) : broadcast_(broadcast) {}
  std::int32_t select(const Record&) override { return 0; }
  [[nodiscard]] bool is_broadcast() const override { return broadcast_; }

 private:
  bool broadcast_;
};

// Output data of a checkpoint is written at once.
class ForgetfulWriter final : public ChannelStateWriter {
 public:
  void add_output_data_future(CheckpointId, ResultSubpartitionInfo, std::int32_t,
                              std::shared_ptr<ChannelStateDataFuture> data) override {
    data->when_done([future = data.get()] { static_cast<void>(future->take_data()); });
  }
  void add_output_data(CheckpointId, ResultSubpartitionInfo, std::int32_t,
                       std::vector<Buffer>) override {}
  void start(CheckpointId, const CheckpointOptions&) override {}
  void add_input_data(CheckpointId, InputChannelInfo, std::int32_t, std::vector<Buffer>) override {}
  void finish_input(CheckpointId) override {}
  void finish_output(CheckpointId) override {}
  void abort(CheckpointId) override {}
  void close() override {}
};

class Reader final : public BufferAvailabilityListener {
 public:
  Reader(Json& out, std::int32_t number) : out_(out), number_(number) {}
  void notify_data_available() override { out_.push_back({{"e", "data"}, {"sub", number_}}); }
  void notify_priority_event(std::int32_t sequence_number) override {
    out_.push_back({{"e", "priority"}, {"sub", number_}, {"seq", sequence_number}});
  }

  // What the subpartition must hand out, in order.
  void expect(std::int64_t record, std::uint32_t bytes) { expected_.push_back({record, 0, bytes}); }
  // Returns: which bytes of which records these are. Throws Difference if they are not those.
  Json recognise(std::span<const std::byte> bytes) {
    Json records = Json::array();
    std::size_t at = 0;
    while (at < bytes.size()) {
      if (expected_.empty()) throw Difference("bytes", "none", "some");
      Part& part = expected_.front();
      const auto count = static_cast<std::uint32_t>(
          std::min<std::size_t>(part.end - part.begin, bytes.size() - at));
      for (std::uint32_t i = 0; i < count; ++i) {
        if (bytes[at + i] != byte_of(part.record, part.begin + i)) {
          throw Difference("bytes", "those of record " + std::to_string(part.record), "others");
        }
      }
      records.push_back({part.record, part.begin, part.begin + count});
      at += count;
      part.begin += count;
      if (part.begin == part.end) expected_.erase(expected_.begin());
    }
    return records;
  }

  std::unique_ptr<ResultSubpartitionView> view;

 private:
  struct Part {
    std::int64_t record;
    std::uint32_t begin;
    std::uint32_t end;
  };
  Json& out_;
  std::int32_t number_;
  std::vector<Part> expected_;
};

struct WriterSetUp {
  std::uint32_t segment_bytes = 0;
  std::int32_t subpartitions = 1;
  std::int32_t pool_size = 1;
  std::int32_t max_buffers_per_channel = std::numeric_limits<std::int32_t>::max();
  std::int32_t overdraft = 0;
  bool broadcast = false;
  bool flush_always = false;
};

class WriterReplay {
 public:
  explicit WriterReplay(const WriterSetUp& set_up)
      : set_up_(set_up),
        global_(2 * (set_up.pool_size + set_up.overdraft),
                static_cast<std::int32_t>(set_up.segment_bytes), network_semantics_120()),
        pool_(make_pool()),
        partition_(descriptor(), pool_, network_semantics_120()),
        writer_(partition_, RecordType::kString, std::make_unique<FixedSelector>(set_up.broadcast),
                set_up.flush_always ? Duration{0} : Duration{-1}, Ports{}) {
    partition_.set_channel_state_writer(channel_state_);
    for (std::int32_t i = 0; i < set_up.subpartitions; ++i) {
      readers_.push_back(std::make_unique<Reader>(out, i));
      readers_.back()->view = partition_.subpartition(i).create_read_view(*readers_.back());
    }
  }
  ~WriterReplay() {
    writer_.close();
    readers_.clear();
  }

  void emit(std::int64_t record, std::uint32_t bytes, std::int32_t subpartition, bool direct) {
    reader(subpartition).expect(record, bytes);
    if (direct) {
      writer_.buffers().write(bytes_of_record(record, bytes), subpartition);
      partition_.publish();
    } else {
      writer_.emit_serialized(bytes_of_record(record, bytes), subpartition);
      writer_.publish();
    }
  }
  void broadcast_emit(std::int64_t record, std::uint32_t bytes) {
    for (const auto& one : readers_) one->expect(record, bytes);
    writer_.broadcast_emit_serialized(bytes_of_record(record, bytes));
    writer_.publish();
  }
  Json poll(std::int32_t subpartition) {
    const std::optional<BufferAndBacklog> next = reader(subpartition).view->get_next_buffer();
    if (!next) return nullptr;
    Json result = {{"type", name_of(next->item.type)},
                   {"bytes", next->item.size()},
                   {"seq", next->sequence_number},
                   {"backlog", next->backlog},
                   {"next", name_of(next->next)}};
    if (next->item.is_buffer()) {
      result["records"] = reader(subpartition).recognise(next->item.buffer.bytes());
    }
    return result;
  }
  Reader& reader(std::int32_t subpartition) {
    if (subpartition < 0 || subpartition >= set_up_.subpartitions) {
      throw MalformedCase("no such subpartition");
    }
    return *readers_[static_cast<std::size_t>(subpartition)];
  }

  // State as the recordings have it; once after each step, because a segment that was out of sight
  // in between is another buffer.
  void describe(Json& got) {
    std::map<const NetworkBuffer*, std::int64_t> seen;
    const auto number_of = [this, &seen](const NetworkBuffer& segment) {
      const auto known = numbers_.find(&segment);
      const auto [entry, added] =
          seen.emplace(&segment, known == numbers_.end() ? next_number_ : known->second);
      if (added && known == numbers_.end()) ++next_number_;
      return entry->second;
    };
    const auto open = [this, &number_of](std::int32_t lane) -> Json {
      const BufferWriter::OpenBuffer buffer = writer_.buffers().open_buffer(lane);
      if (!buffer.is_open) return nullptr;
      return {number_of(*buffer.segment), buffer.capacity};
    };
    got["queues"] = Json::array();
    got["open"] = Json::array();
    for (std::int32_t i = 0; i < set_up_.subpartitions; ++i) {
      got["queues"].push_back(queue_of(partition_.subpartition(i), number_of));
      got["open"].push_back(open(i));
    }
    got["openBroadcast"] = open(writer_.buffers().shared_lane());
    got["pool"] = {pool_.requested(), pool_.free_segments(), pool_.is_available() ? 1 : 0};
    got["written"] = {writer_.buffers().buffers_out(), writer_.buffers().bytes_out()};
    numbers_ = std::move(seen);
  }

  [[nodiscard]] RecordWriter& writer() { return writer_; }
  [[nodiscard]] ResultPartition& partition() { return partition_; }
  [[nodiscard]] LocalBufferPool& pool() { return pool_; }

  Json out = Json::array();

 private:
  LocalBufferPool& make_pool() {
    BufferPoolSpec spec;
    spec.required = set_up_.pool_size;
    spec.max = set_up_.pool_size;
    spec.subpartitions = set_up_.subpartitions;
    spec.max_buffers_per_channel = set_up_.max_buffers_per_channel;
    spec.max_overdraft_buffers = set_up_.overdraft;
    std::string error;
    LocalBufferPool* pool = global_.create_buffer_pool(spec, &error);
    if (pool == nullptr) throw MalformedCase(error);
    return *pool;
  }
  [[nodiscard]] ResultPartitionDescriptor descriptor() const {
    ResultPartitionDescriptor descriptor;
    descriptor.subpartitions = set_up_.subpartitions;
    return descriptor;
  }

  WriterSetUp set_up_;
  NetworkBufferPool global_;
  LocalBufferPool& pool_;
  ForgetfulWriter channel_state_;
  ResultPartition partition_;
  RecordWriter writer_;
  std::vector<std::unique_ptr<Reader>> readers_;
  std::map<const NetworkBuffer*, std::int64_t> numbers_;  // of the buffers in sight
  std::int64_t next_number_ = 0;
};

void run(WriterReplay& replay, const Json& step, Json& got) {
  const std::string op = step.at("op");
  const auto sub = [&step] { return step.at("sub").get<std::int32_t>(); };
  if (op == "emit") {
    replay.emit(step.at("record"), record_bytes_of(step.at("bytes")), sub(),
                step.value("direct", false));
  } else if (op == "broadcastEmit") {
    replay.broadcast_emit(step.at("record"), record_bytes_of(step.at("bytes")));
  } else if (op == "event") {
    const RecordedEvent recorded = event_of(step.at("kind"), step.at("cp"));
    replay.writer().broadcast_event(recorded.event, recorded.priority);
  } else if (op == "endofdata") {
    replay.writer().broadcast_event(EndOfData{});
  } else if (op == "finish") {
    replay.writer().broadcast_event(EndOfPartitionEvent{});
  } else if (op == "flush") {
    replay.partition().flush(sub());
  } else if (op == "flushall") {
    replay.writer().flush_all();
  } else if (op == "size") {
    replay.reader(sub()).view->notify_new_buffer_size(step.at("bytes"));
  } else if (op == "timeout") {
    replay.writer().aligned_barrier_timeout(step.at("cp"));
  } else if (op == "resume") {
    replay.reader(sub()).view->resume_consumption();
  } else if (op == "poll") {
    got["result"] = replay.poll(sub());
  } else {
    throw MalformedCase("unknown step: " + op);
  }
  replay.describe(got);
}

void replay_writer(const Json& line) {
  WriterSetUp set_up;
  set_up.segment_bytes = bytes_of(line.at("segment"));
  set_up.subpartitions = channels_of(line.at("subpartitions"));
  set_up.pool_size = channels_of(line.at("pool").at("size"));
  set_up.max_buffers_per_channel = line.at("pool").at("perChannel");
  set_up.overdraft = line.at("pool").at("overdraft");
  set_up.broadcast = line.at("writer") == "broadcast";
  set_up.flush_always = line.at("flushAlways");
  WriterReplay replay(set_up);
  std::size_t number = 0;
  for (const Json& step : line.at("steps")) {
    const std::string where = step_name(number++, step);
    replay.out = Json::array();
    Json got = Json::object();
    run(replay, step, got);
    got["out"] = replay.out;
    for (const auto& [name, value] : got.items()) expect_equal(where + name, step.at(name), value);
  }
}

// --- deserialisers -------------------------------------------------------------------------------

class Unpooled final : public BufferRecycler {
 public:
  explicit Unpooled(std::span<const std::byte> bytes)
      : data_(bytes.begin(), bytes.end()),
        segment_(data_.data(), static_cast<std::uint32_t>(data_.size())) {
    segment_.lend(*this);
  }
  Buffer buffer() { return Buffer(segment_, 0, segment_.capacity()); }
  void recycle(NetworkBuffer&) override {}

 private:
  std::vector<std::byte> data_;
  NetworkBuffer segment_;
};

void replay_deserialiser(const Json& line) {
  std::vector<std::byte> stream;
  std::int64_t record = 0;
  for (const Json& payload : line.at("payloads")) {
    const std::uint32_t size = record_bytes_of(payload);
    const std::size_t at = stream.size();
    const std::vector<std::byte> bytes = bytes_of_record(record++, size);
    stream.resize(at + kLengthBytes);
    put_int32(stream.data() + at, size);
    stream.insert(stream.end(), bytes.begin(), bytes.end());
  }
  std::vector<std::unique_ptr<Unpooled>> buffers;  // outlive the deserialiser's references
  RecordDeserializer deserializer(RecordType::kString);
  std::size_t arrived = 0;
  const auto expect_held = [&](const std::string& where, const Json& size) {
    expect_equal(where, size, deserializer.unconsumed_size());
    std::vector<std::byte> held;
    deserializer.append_unconsumed(held);
    const std::span<const std::byte> all(stream.data(), arrived);
    const bool is_the_end =
        held.size() <= arrived &&
        std::equal(held.begin(), held.end(), all.subspan(arrived - held.size()).begin());
    expect_equal(where + ", the last of what has arrived", true, is_the_end);
    expect_equal(where + ", counted", arrived - held.size(), deserializer.bytes_read());
  };
  std::int64_t next_record = 0;
  std::size_t number = 0;
  for (const Json& step : line.at("buffers")) {
    const std::string where = "buffer " + std::to_string(number++) + ": ";
    const std::uint32_t size = record_bytes_of(step.at("bytes"));
    if (stream.size() - arrived < size) throw MalformedCase("more bytes than the records have");
    buffers.push_back(std::make_unique<Unpooled>(std::span(stream).subspan(arrived, size)));
    arrived += size;
    deserializer.set_next_buffer(buffers.back()->buffer());
    expect_held(where + "unconsumedBefore", step.at("unconsumedBefore"));
    for (const Json& call : step.at("calls")) {
      std::span<const std::byte> payload;
      const bool found = deserializer.next_payload(payload);
      expect_equal(where + "record", call.at(0), found ? Json(next_record) : Json());
      if (found) {
        const std::vector<std::byte> bytes = bytes_of_record(
            next_record,
            record_bytes_of(line.at("payloads").at(static_cast<std::size_t>(next_record))));
        const bool same = std::equal(payload.begin(), payload.end(), bytes.begin(), bytes.end());
        expect_equal(where + "payload", true, same);
        ++next_record;
      }
      expect_equal(where + "consumed", call.at(1), deserializer.buffer_consumed() ? 1 : 0);
      expect_held(where + "held", call.at(2));
    }
  }
}

// --- partitioners --------------------------------------------------------------------------------

// Java's Random for a shuffle, the recorded draw for the start of a round robin.
class RecordedDraws final : public RandomDraws {
 public:
  explicit RecordedDraws(const Json& line)
      : drawn_(line.value("drawn", std::int64_t{-1})),
        state_((line.at("seed").is_null() ? 0 : line.at("seed").get<std::uint64_t>()) ^
               0x5DEECE66DULL) {}

  std::int64_t uniform(std::string_view, std::int64_t first, std::int64_t last) override {
    if (drawn_ >= 0) return first + drawn_;
    const auto bound = static_cast<std::int32_t>(last - first + 1);
    if ((bound & -bound) == bound) {
      return first + ((static_cast<std::int64_t>(bound) * next(31)) >> 31);
    }
    for (;;) {
      const std::int32_t bits = next(31);
      const std::int32_t value = bits % bound;
      if (static_cast<std::int64_t>(bits) - value + (bound - 1) <=
          std::numeric_limits<std::int32_t>::max()) {
        return first + value;
      }
    }
  }

 private:
  std::int32_t next(int bits) {
    state_ = (state_ * 0x5DEECE66DULL + 0xBULL) & ((1ULL << 48) - 1);
    return static_cast<std::int32_t>(state_ >> (48 - bits));
  }

  std::int64_t drawn_;
  std::uint64_t state_;
};

PartitionerKind kind_of(const std::string& name) {
  static const std::map<std::string, PartitionerKind> kKinds = {
      {"forward", PartitionerKind::kForward},     {"rebalance", PartitionerKind::kRebalance},
      {"rescale", PartitionerKind::kRescale},     {"shuffle", PartitionerKind::kShuffle},
      {"hash", PartitionerKind::kHash},           {"hashString", PartitionerKind::kHash},
      {"broadcast", PartitionerKind::kBroadcast}, {"global", PartitionerKind::kGlobal}};
  const auto found = kKinds.find(name);
  if (found == kKinds.end()) throw MalformedCase("unknown partitioner: " + name);
  return found->second;
}

void replay_partitioner(const Json& line) {
  RecordedDraws draws(line);
  ChannelSelectorConfig config;
  config.kind = kind_of(line.at("partitioner"));
  config.channels = channels_of(line.at("channels"));
  config.max_parallelism = line.value("maxParallelism", 128);
  config.random = &draws;
  const std::unique_ptr<ChannelSelector> selector = make_channel_selector(config);
  expect_equal("isBroadcast", line.at("isBroadcast"), selector->is_broadcast());
  if (selector->is_broadcast()) return;  // which is never asked
  Json selected = Json::array();
  for (std::size_t i = 0; i < line.at("selected").size(); ++i) {
    Record record;
    std::string key;
    if (line.contains("keys") && line.at("keys").at(i).is_number()) {
      // An Integer is its own hash; the engine's records have strings for keys.
      selected.push_back(compute_operator_index_for_key_group(
          config.max_parallelism, config.channels,
          assign_to_key_group(line.at("keys").at(i).get<std::int32_t>(), config.max_parallelism)));
      continue;
    }
    if (line.contains("keys")) key = line.at("keys").at(i).get<std::string>();
    record.text = key;
    selected.push_back(selector->select(record));
  }
  expect_equal("selected", line.at("selected"), selected);
}

// --- sizes ---------------------------------------------------------------------------------------

RecordedEvent sized_event(const std::string& kind) {
  const auto located = [](std::string_view type, std::size_t bytes) {
    RecordedEvent recorded = event_of(std::string(type), 1);
    std::get<CheckpointBarrier>(recorded.event).options.target_location = std::string(bytes, 'x');
    return recorded;
  };
  if (kind == "alignedAtReference") return located("aligned", 17);
  if (kind == "savepointAtReference") return located("savepoint", 40);
  return event_of(kind, 1);
}

void replay_event_sizes(const Json& line) {
  const NetworkSemantics& semantics = network_semantics_120();
  for (const Json& one : line.at("events")) {
    const std::string kind = one.at("kind");
    const std::string where = kind + ": ";
    DataType type = DataType::kPrioritizedEventBuffer;
    if (kind == "announcement") {
      const EventAnnouncement announcement{{1, 0, {}}, 0};
      type = semantics.data_type_of(announcement, true);
      // Made by its receiver alone: it is never as long as a sender would make it.
      expect_equal(where + "bytesAtReceiver", one.at("bytesAtReceiver"),
                   f120::serialize_event_at_receiver(announcement)->size());
    } else {
      const RecordedEvent recorded = sized_event(kind);
      type = semantics.data_type_of(recorded.event, recorded.priority);
      expect_equal(where + "bytes", one.at("bytes"),
                   semantics.serialize_event(recorded.event)->size());
      expect_equal(where + "bytesAtReceiver", one.at("bytesAtReceiver"),
                   f120::serialize_event_at_receiver(recorded.event)->size());
    }
    expect_equal(where + "type", one.at("type"), name_of(type));
    expect_equal(where + "data", one.at("data"), is_buffer(type));
    expect_equal(where + "blocks", one.at("blocks"), is_blocking_upstream(type));
    expect_equal(where + "priority", one.at("priority"), has_priority(type));
    expect_equal(where + "announced", one.at("announced"), requires_announcement(type));
  }
}

void replay_element_sizes(const Json& line) {
  for (const Json& one : line.at("elements")) {
    const std::string kind = one.at("kind");
    std::size_t bytes = 0;
    if (kind == "record" || kind == "recordWithTimestamp") {
      const std::size_t value = bytes_of(one.at("valueBytes"));
      bytes = record_bytes(value, kind == "recordWithTimestamp");
      if (kind == "recordWithTimestamp" && value > 0 && value <= 0x80) {
        const std::string text(value - 1, 'x');  // its length takes the first byte
        Record record;
        record.text = text;
        std::vector<std::byte> wire;
        append_record(wire, record, RecordType::kString);
        expect_equal("a string of " + std::to_string(value) + " bytes", one.at("bytes"),
                     wire.size());
      }
    } else if (kind == "watermark") {
      bytes = kWatermarkBytes;
    } else if (kind.starts_with("watermarkStatus")) {
      bytes = kWatermarkStatusBytes;
    } else if (kind == "latencyMarker") {
      bytes = kLatencyMarkerBytes;
    } else {
      throw MalformedCase("unknown element: " + kind);
    }
    expect_equal(kind, one.at("bytes"), bytes);
  }
}

void replay_case(const Json& line) {
  const std::string kind = line.at("kind");
  if (kind == "writer") return replay_writer(line);
  if (kind == "deserialiser") return replay_deserialiser(line);
  if (kind == "partitioner") return replay_partitioner(line);
  if (kind == "eventSizes") return replay_event_sizes(line);
  if (kind == "elementSizes") return replay_element_sizes(line);
  throw MalformedCase("unknown kind: " + kind);
}

const Registration kSerialisation("network/serialisation.jsonl", &replay_case);

// --- rows ----------------------------------------------------------------------------------------

class WritingRow {
 public:
  explicit WritingRow(const Json& line) : replay_(set_up_of(line)) {}

  void run(const Json& step, const std::string& where) {
    const std::string word = step.at("op");
    const Json found = perform(word);
    if (!found.is_null()) expect_equal(where + "found", step.at("found"), found);
    const BufferWriter::OpenBuffer open = replay_.writer().buffers().open_buffer(0);
    const PipelinedSubpartition& subpartition = replay_.partition().subpartition(0);
    expect_equal(where + "openCapacity", step.at("openCapacity"), open.capacity);
    expect_equal(where + "openBytes", step.at("openBytes"),
                 open.is_open ? open.segment->written() : 0);
    expect_equal(where + "n", step.at("n"), replay_.out.size());
    expect_equal(where + "q", step.at("q"), subpartition.queue().size());
    expect_equal(where + "bl", step.at("bl"), subpartition.buffers_in_backlog());
    expect_equal(where + "poolAvailable", step.at("poolAvailable"), replay_.pool().is_available());
  }

 private:
  static WriterSetUp set_up_of(const Json& line) {
    WriterSetUp set_up;
    set_up.segment_bytes = bytes_of(line.at("segment"));
    set_up.pool_size = channels_of(line.at("poolSize"));
    return set_up;
  }
  static std::int32_t number_in(std::string_view digits) {
    std::int32_t number = 0;
    const auto [stop, error] = std::from_chars(digits.begin(), digits.end(), number);
    if (error != std::errc{} || stop != digits.end()) {
      throw MalformedCase("no number: " + std::string(digits));
    }
    return number;
  }

  // Returns: what was asked for, or null.
  Json perform(const std::string& word) {
    const BufferWriter::OpenBuffer open = replay_.writer().buffers().open_buffer(0);
    if (word == "cap") return open.capacity;
    if (word == "w") return open.is_open ? open.segment->written() : 0;
    if (word == "n") return replay_.out.size();
    if (word == "q") return replay_.partition().subpartition(0).queue().size();
    if (word == "bl") return replay_.partition().subpartition(0).buffers_in_backlog();
    if (word == "av") return last_.at("next") == "none" ? 0 : 1;
    if (word == "ev") return last_.at("next") == "none" || last_.at("next") == "data" ? 0 : 1;
    if (word == "p") {
      Json polled = replay_.poll(0);
      if (polled.is_null()) return "-";
      last_ = std::move(polled);
      return last_.at("type") == "data" ? last_.at("bytes").dump() : "e";
    }
    if (word == "F") {
      replay_.writer().flush_all();
    } else if (word == "e") {
      replay_.writer().broadcast_event(CancelCheckpointMarker{1});
    } else if (word.starts_with("size")) {
      replay_.reader(0).view->notify_new_buffer_size(number_in(std::string_view(word).substr(4)));
    } else if (word.starts_with("r")) {
      replay_.emit(records_++, bytes_of(number_in(std::string_view(word).substr(1))), 0, false);
    } else {
      throw MalformedCase("unknown word: " + word);
    }
    return nullptr;
  }

  WriterReplay replay_;
  Json last_;
  std::int64_t records_ = 0;
};

}  // namespace

void replay_writing_row(const Json& line) {
  WritingRow row(line);
  std::size_t number = 0;
  for (const Json& step : line.at("steps")) row.run(step, step_name(number++, step));
}

}  // namespace tailrace::golden
