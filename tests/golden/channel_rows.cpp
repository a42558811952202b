#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "engine/network/channel_state_persister.hpp"
#include "engine/network/f120/remote_input_channel.hpp"
#include "engine/network/prioritized_deque.hpp"
#include "tests/golden/flow_bench.hpp"
#include "tests/golden/flow_rows.hpp"

namespace tailrace::golden {
namespace {

using namespace engine;

constexpr CheckpointId kBarrier = 2;

// Counts what is written.
class CountingWriter final : public ChannelStateWriter {
 public:
  void start(CheckpointId, const CheckpointOptions&) override {}
  void add_input_data(CheckpointId, InputChannelInfo, std::int32_t,
                      std::vector<Buffer> data) override {
    written += data.size();
  }
  void add_output_data(CheckpointId, ResultSubpartitionInfo, std::int32_t,
                       std::vector<Buffer>) override {}
  void add_output_data_future(CheckpointId, ResultSubpartitionInfo, std::int32_t,
                              std::shared_ptr<ChannelStateDataFuture>) override {}
  void finish_input(CheckpointId) override {}
  void finish_output(CheckpointId) override {}
  void abort(CheckpointId) override {}
  void close() override {}

  std::size_t written = 0;
};

// A channel that data with their own numbers arrive at.
class ChannelBench {
 public:
  explicit ChannelBench(std::int32_t first = 0) : bench_(network_semantics_120(), 1, 20, 8) {
    bench_.gate->request_partitions();
    bench_.sequence[0] = first;
    channel().set_expected_sequence_number(first);
  }

  [[nodiscard]] RemoteInputChannel120& channel() {
    return dynamic_cast<RemoteInputChannel120&>(bench_.channel(0));
  }
  [[nodiscard]] SingleInputGate& gate() { return *bench_.gate; }
  [[nodiscard]] ReceiverBench& receiver() { return bench_; }
  void data() { bench_.data(0, 0); }
  void barrier(const std::string& kind) { bench_.event(0, kind, kBarrier); }
  // Two data, a barrier, two data.
  void arrive(const std::string& kind) {
    data();
    data();
    barrier(kind);
    data();
    data();
  }
  std::optional<InputChannel::BufferAndAvailability> poll() { return channel().get_next_buffer(); }
  // The numbers of what an unaligned checkpoint would keep now, from `first` on.
  [[nodiscard]] Json known(std::int32_t first = 0) {
    Json numbers = Json::array();
    for (const Buffer& buffer : channel().inflight_buffers()) {
      numbers.push_back(number_of(buffer, first));
    }
    return numbers;
  }
  static std::int32_t number_of(const Buffer& buffer, std::int32_t first) {
    std::uint32_t number = 0;
    std::memcpy(&number, buffer.bytes().data(), sizeof number);
    return static_cast<std::int32_t>(number - static_cast<std::uint32_t>(first));
  }

 private:
  ReceiverBench bench_;
};

void replay_l1(const Json& line) {
  ChannelBench bench;
  bench.arrive("unaligned");
  Json order = Json::array();
  while (const auto next = bench.poll()) order.push_back(next->sequence_number);
  expect_equal("order", line.at("order"), order);
}

void replay_l2(const Json& line) {
  ChannelBench bench;
  bench.arrive("unaligned");
  expect_equal("before", line.at("before"), bench.known());
  static_cast<void>(bench.poll());
  static_cast<void>(bench.poll());
  expect_equal("after", line.at("after"), bench.known());
}

void replay_l3(const Json& line) {
  for (const Json& one : line.at("cases")) {
    const std::int32_t first = one.at("first");
    ChannelBench bench(first);
    for (int i = 0; i < 4; ++i) bench.data();
    expect_equal("from " + std::to_string(first), one.at("known"), bench.known(first));
  }
}

void replay_l4(const Json& line) {
  for (const Json& one : line.at("cases")) {
    const std::int32_t first = one.at("first");
    ChannelBench bench(first);
    bench.arrive("unaligned");
    expect_equal("from " + std::to_string(first), one.at("known"), bench.known(first));
  }
}

std::string flink_name_of(DataType type) {
  switch (type) {
    case DataType::kPrioritizedEventBuffer:
      return "PRIORITIZED_EVENT_BUFFER";
    case DataType::kTimeoutableAlignedCheckpointBarrier:
      return "TIMEOUTABLE_ALIGNED_CHECKPOINT_BARRIER";
    default:
      return flow_f120::name_of(type);
  }
}

void replay_l5(const Json& line) {
  ChannelBench bench;
  bench.arrive("timeoutable");
  const auto numbered = [](const InputChannel::BufferAndAvailability& next) {
    return std::to_string(next.sequence_number) + " " + flink_name_of(next.item.type);
  };
  const auto first = bench.poll();
  expect_equal("first", line.at("first"),
               numbered(*first) + (has_priority(first->next) ? " priority" : "") +
                   (first->more_available ? " more" : ""));
  Json then = Json::array();
  for (int i = 0; i < 2; ++i) then.push_back(bench.poll()->sequence_number);
  expect_equal("then", line.at("then"), then);
  expect_equal("barrier", line.at("barrier"), numbered(*bench.poll()));
  expect_equal("last", line.at("last"), Json::array({bench.poll()->sequence_number}));
}

void replay_l6(const Json& line) {
  ChannelBench bench;
  bench.arrive("timeoutable");
  expect_equal("before", line.at("before"), bench.known());
  static_cast<void>(bench.poll());
  expect_equal("afterAnnouncement", line.at("afterAnnouncement"), bench.known());
  static_cast<void>(bench.poll());
  expect_equal("afterFirst", line.at("afterFirst"), bench.known());
}

void replay_l7(const Json& line) {
  ChannelBench bench;
  bench.barrier("timeoutable");
  SingleInputGate& gate = bench.gate();
  expect_equal("afterArrival", line.at("afterArrival"), gate.is_priority_event_available());
  static_cast<void>(gate.poll_next());
  expect_equal("afterPoll", line.at("afterPoll"), gate.is_priority_event_available());
  gate.convert_to_priority_event(0, 0);
  expect_equal("afterConversion", line.at("afterConversion"), gate.is_priority_event_available());
  expect_equal("barrierHasPriority", line.at("barrierHasPriority"), gate.poll_next()->has_priority);
}

void replay_l8(const Json& line) {
  ChannelBench bench;
  bench.data();
  bench.receiver().sequence[0] = 29;
  bench.data();
  // One of twenty is still in the queue.
  expect_equal("wrongRecycled", line.at("wrongRecycled"),
               bench.channel().exclusive_available() + bench.channel().queued_buffers() == 20);
  static_cast<void>(bench.gate().poll_next());
  expect_equal("poll", line.at("poll"), bench.gate().has_failed() ? "error" : "an item");
  bench.receiver().gate.reset();
  expect_equal("firstRecycledAfterRelease", line.at("firstRecycledAfterRelease"),
               bench.receiver().global.outstanding_segments() == 0);
}

void replay_l9(const Json& line) {
  ChannelBench bench;
  std::string signals;
  const auto note = [&signals](const char* signal) {
    signals += (signals.empty() ? "" : " ") + std::string(signal);
  };
  bench.gate().set_availability_listener([&note] { note("data"); });
  bench.gate().set_priority_listener([&note] { note("priority"); });
  bench.barrier("aligned");
  expect_equal("afterNormal", line.at("afterNormal"), signals);
  bench.receiver().event(0, "unaligned", kBarrier + 1);
  expect_equal("afterPriority", line.at("afterPriority"), signals);
}

// Words of the persister: B1 barrier, S1 start, S1+ with a known buffer, X1 stop, d data.
void replay_persister(const Json& line) {
  CountingWriter writer;
  flow_f120::WrittenSegments segments;
  ChannelStatePersister persister;
  const ChannelStateTarget target{&writer, {0, 0}};
  const auto buffer = [&segments] { return Buffer(segments.make(8, 16, true), 0, 8); };
  for (const Json& step : line.at("steps")) {
    const auto& word = step.at("op").get_ref<const std::string&>();
    const std::string where = word + ": ";
    CheckpointId id = 0;
    if (word.size() > 1) {
      std::istringstream number(word.substr(1));
      if (!(number >> id)) throw MalformedCase("unknown word: " + word);
    }
    switch (word.empty() ? ' ' : word[0]) {
      case 'B':
        expect_equal(where + "counts", step.at("counts"), persister.check_for_barrier(id));
        break;
      case 'S': {
        std::vector<Buffer> known;
        if (word.back() == '+') known.push_back(buffer());
        const auto failure = persister.start_persisting(id, std::move(known), target);
        expect_equal(where + "exception", step.value("exception", Json()),
                     failure ? Json(to_string(*failure)) : Json());
        break;
      }
      case 'X':
        persister.stop_persisting(id);
        break;
      case 'd':
        persister.maybe_persist({buffer(), nullptr}, target);
        break;
      default:
        throw MalformedCase("unknown word: " + word);
    }
    expect_equal(where + "written", step.at("written"), writer.written);
    expect_equal(where + "received", step.at("received"), persister.has_barrier_received());
  }
}

template <typename T>
std::string joined(const PrioritizedDeque<T>& deque) {
  std::ostringstream out;
  for (std::size_t i = 0; i < deque.size(); ++i) out << (i == 0 ? "" : " ") << deque[i];
  return out.str();
}

void replay_l14(const Json& line) {
  PrioritizedDeque<int> direct;
  PrioritizedDeque<int> by_add;
  for (const int i : {0, 1, 2, 3}) {
    direct.add(i);
    by_add.add(i);
  }
  direct.prioritize(3);
  by_add.add(3, true, true);
  expect_equal("direct", line.at("direct"), joined(direct));
  expect_equal("byAdd", line.at("byAdd"), joined(by_add));
  expect_equal("priority", line.at("priority"), direct.num_priority_elements());
}

void replay_l15(const Json& line) {
  PrioritizedDeque<int> deque;
  for (const int i : {0, 1, 2, 1, 3}) deque.add(i);
  const auto is_one = [](int i) { return i == 1; };
  const auto remove = [&deque, &is_one]() -> std::string {
    return deque.get_and_remove(is_one) ? joined(deque) : "error";
  };
  for (const char* member : {"first", "second", "third"}) {
    expect_equal(member, line.at(member), remove());
  }
}

void replay_l16(const Json& line) {
  PrioritizedDeque<char> deque;
  deque.add('a');
  deque.add('b');
  deque.add_priority_element('p');
  deque.add_priority_element('q');
  expect_equal("items", line.at("items"), joined(deque));
  expect_equal("priority", line.at("priority"), deque.num_priority_elements());
  static_cast<void>(deque.poll());
  expect_equal("priorityAfterPoll", line.at("priorityAfterPoll"), deque.num_priority_elements());
  deque.add_priority_element('r');
  expect_equal("later", line.at("later"), joined(deque));
}

using ReplayChannel = void (*)(const Json& line);

ReplayChannel channel_replay_of(const std::string& id) {
  static const std::map<std::string, ReplayChannel> kRows{
      {"L1", &replay_l1},         {"L2", &replay_l2}, {"L3", &replay_l3},   {"L4", &replay_l4},
      {"L4.borders", &replay_l4}, {"L5", &replay_l5}, {"L6", &replay_l6},   {"L7", &replay_l7},
      {"L8", &replay_l8},         {"L9", &replay_l9}, {"L14", &replay_l14}, {"L15", &replay_l15},
      {"L16", &replay_l16},
  };
  const auto found = kRows.find(id);
  return found == kRows.end() ? nullptr : found->second;
}

}  // namespace

bool is_channel_row(const Json& line) {
  if (line.contains("meta")) return false;
  const auto& id = line.at("id").get_ref<const std::string&>();
  if (!id.starts_with("L")) return false;
  return line.contains("steps") || channel_replay_of(id) != nullptr;
}

void replay_channel_row(const Json& line) {
  const ReplayChannel replay = channel_replay_of(line.at("id"));
  if (replay != nullptr) {
    replay(line);
  } else if (line.contains("steps")) {
    replay_persister(line);
  } else {
    throw MalformedCase("unknown row: " + line.at("id").get<std::string>());
  }
}

}  // namespace tailrace::golden
