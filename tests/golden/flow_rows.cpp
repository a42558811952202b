#include "tests/golden/flow_rows.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/assert.hpp"
#include "tests/golden/flow_bench.hpp"

namespace tailrace::golden {
namespace {

using namespace engine;

// "take0:X" is the word `take` of channel 0 with the name X.
struct FlowWord {
  explicit FlowWord(const std::string& text) {
    const std::size_t colon = text.find(':');
    name = text.substr(0, colon);
    if (colon != std::string::npos) argument = text.substr(colon + 1);
    if (!name.empty() && '0' <= name.back() && name.back() <= '9') {
      channel = static_cast<std::size_t>(name.back() - '0');
      name.pop_back();
    }
  }
  [[nodiscard]] std::int32_t number() const {
    try {
      return std::stoi(argument);
    } catch (const std::logic_error&) {
      throw MalformedCase("not a number: " + argument);
    }
  }

  std::string name;
  std::size_t channel = 0;
  std::string argument;
};

class FlowScript {
 public:
  FlowScript(std::int32_t channels, std::int32_t exclusive, std::int32_t floating,
             const NetworkSemantics& semantics)
      : bench_(semantics, channels, exclusive < 0 ? 0 : exclusive, floating) {
    // Two exclusive buffers of the first channel and none of the second, but none handed out.
    if (exclusive < 0) {
      RemoteInputChannel& first = bench_.channel(0);
      if (!bench_.global.reserve_unpooled(2, nullptr)) throw MalformedCase("no buffers");
      for (int i = 0; i < 2; ++i) {
        first.assign_exclusive_segment(*bench_.global.request_memory_segment());
      }
      for (int i = 0; i < 2; ++i) outside_.emplace_back(*first.request_buffer(), 0, 0);
    }
    bench_.gate->request_partitions();
    bench_.set_writable(false);
  }
  ~FlowScript() {
    named_.clear();
    outside_.clear();
  }

  void run(const Json& step, const std::string& where) {
    Json got = Json::object();
    perform(FlowWord(step.at("op")), got);
    std::int32_t listeners = 0;
    got["channels"] = Json::array();
    for (std::size_t i = 0; i < bench_.sequence.size(); ++i) {
      const RemoteInputChannel& one = bench_.channel(i);
      listeners += one.is_waiting_for_floating() ? 1 : 0;
      got["channels"].push_back({{"avail", one.available_buffers()},
                                 {"req", one.required_buffers()},
                                 {"unannounced", one.unannounced_credit()},
                                 {"waiting", one.is_waiting_for_floating()},
                                 {"floating", one.floating_available()},
                                 {"inUse", one.buffers_in_use()}});
    }
    // In 1.20 what may still be fetched counts as free.
    const LocalBufferPool& pool = *bench_.gate->buffer_pool();
    const std::int32_t fetchable =
        bench_.semantics.subpartition_numbers_items ? pool.size() - pool.requested() : 0;
    got["pool"] = pool.free_segments() + fetchable;
    got["listeners"] = listeners;
    for (const auto& [name, value] : got.items()) expect_equal(where + name, step.at(name), value);
  }

 private:
  void perform(const FlowWord& word, Json& got) {
    RemoteInputChannel& channel = bench_.channel(word.channel);
    if (word.name == "hold" || word.name == "take") {
      NetworkBuffer* segment = word.name == "hold" ? bench_.gate->buffer_pool()->request_buffer()
                                                   : channel.request_buffer();
      got["got"] = segment != nullptr;
      if (segment != nullptr) named_[word.argument] = Buffer(*segment, 0, 0);
    } else if (word.name == "rec") {
      if (!named_.contains(word.argument)) throw MalformedCase("nothing is called that");
      named_.erase(word.argument);
    } else if (word.name == "bl") {
      channel.on_sender_backlog(word.number());
    } else if (word.name == "msg") {
      // An event takes no buffer.
      bench_.event(word.channel, "cancel", 1, word.number());
    } else if (word.name == "data") {
      bench_.data(word.channel, word.number());
    } else if (word.name == "barrier") {
      bench_.event(word.channel, "aligned", 1);
    } else if (word.name == "resume") {
      bench_.gate->resume_consumption(static_cast<ChannelIndex>(word.channel));
    } else if (word.name == "poll") {
      static_cast<void>(channel.get_next_buffer());
    } else if (word.name == "announce") {
      got["credit"] = channel.take_unannounced_credit();
    } else {
      throw MalformedCase("unknown word: " + word.name);
    }
  }

  ReceiverBench bench_;
  std::map<std::string, Buffer> named_;
  std::vector<Buffer> outside_;
};

void replay_script(const Json& line, const NetworkSemantics& semantics) {
  std::istringstream set_up(line.at("setUp").get<std::string>());
  std::int32_t channels = 0;
  std::int32_t exclusive = 0;
  std::int32_t floating = 0;
  if (!(set_up >> channels >> exclusive >> floating) || channels < 1 || channels > 10) {
    throw MalformedCase("setUp: " + set_up.str());
  }
  FlowScript script(channels, exclusive, floating, semantics);
  std::size_t number = 0;
  for (const Json& step : line.at("steps")) {
    script.run(step, flow_f120::step_name(number++, step));
  }
}

std::string unannounced(const ReceiverBench& bench) {
  return std::to_string(bench.channel(0).unannounced_credit()) + " " +
         std::to_string(bench.channel(1).unannounced_credit());
}

void replay_j12(const Json& line, const NetworkSemantics& semantics) {
  ReceiverBench bench(semantics, 2, 2, 6);
  bench.gate->request_partitions();
  expect_equal("sent", line.at("sent"), bench.sink.take());
}

// Then data with a backlog of 1 on both channels.
void replay_j13_j14(const Json& line, const NetworkSemantics& semantics) {
  ReceiverBench bench(semantics, 2, 2, 6);
  bench.gate->request_partitions();
  static_cast<void>(bench.sink.take());
  bench.set_writable(false);
  bench.data(0, 1);
  bench.data(1, 1);
  const std::string first = unannounced(bench);
  bench.set_writable(true);
  const std::string sent = bench.sink.take();
  if (line.at("id") == "J13") {
    expect_equal("unannounced", line.at("unannounced"), first);
    expect_equal("sent", line.at("sent"), sent);
    return;
  }
  bench.set_writable(false);
  bench.data(0, 1);
  if (line.at("id") == "J14.pileUp") {
    expect_equal("first", line.at("first"), bench.channel(0).unannounced_credit());
    bench.data(0, 1);
    expect_equal("unannounced", line.at("unannounced"),
                 std::to_string(bench.channel(0).unannounced_credit()));
    bench.set_writable(true);
    expect_equal("sent", line.at("sent"), bench.sink.take());
    return;
  }
  expect_equal("whileBlocked", line.at("whileBlocked"), bench.sink.take());
  expect_equal("unannounced", line.at("unannounced"), unannounced(bench));
  bench.set_writable(true);
  expect_equal("sent", line.at("sent"), bench.sink.take());
}

void replay_j15_message(const Json& line, const NetworkSemantics& semantics) {
  ReceiverBench bench(semantics, 1, 2, 8);
  bench.gate->request_partitions();
  const RemoteInputChannel& channel = bench.channel(0);
  std::string found;
  for (const std::int32_t backlog : {5, 12}) {
    bench.client.receive(*make_backlog_announcement(bench.wire, {backlog, channel.id()}));
    found += (found.empty() ? "" : " ") + std::to_string(channel.available_buffers()) + " " +
             std::to_string(channel.required_buffers()) + " " +
             std::to_string(channel.floating_available());
  }
  expect_equal("found", line.at("found"), found);
}

// A message that finds no buffer fails its channel and nothing else.
void replay_j16(const Json& line, const NetworkSemantics& semantics) {
  ReceiverBench bench(semantics, 2, 1, 1);
  bench.gate->request_partitions();
  std::vector<Buffer> taken;
  while (NetworkBuffer* segment = bench.channel(0).request_buffer()) {
    taken.emplace_back(*segment, 0, 0);
  }
  bench.data(0, 0);
  bench.data(1, 0);
  const bool other_has_data = bench.channel(1).queued_buffers() == 1;
  expect_equal("buffer", line.at("buffer"), bench.channel(0).queued_buffers() == 1);
  expect_equal("channel1", line.at("channel1"), other_has_data ? "ok" : "error");
  const bool open = !bench.sink.take().empty();
  expect_equal("open", line.at("open"), open);
  static_cast<void>(bench.gate->poll_next());
  expect_equal("channel0", line.at("channel0"), bench.gate->has_failed() ? "error" : "ok");
}

// 1.10: such a message closes the connection, which fails channels of other gates, too.
void replay_no_buffer(const Json& line, const NetworkSemantics& semantics) {
  ReceiverBench bench(semantics, 1, 1, 1);
  bench.gate->request_partitions();
  InputGateDescriptor descriptor;
  descriptor.channels.push_back({{0, 1, {1}}, 1, {2}});
  SingleInputGate other(descriptor,
                        SingleInputGate::Environment{bench.ports, bench.config, bench.global, bench,
                                                     bench.partitions, bench.next_channel_id},
                        [](const std::string&) {});
  other.request_partitions();
  std::vector<Buffer> taken;
  while (NetworkBuffer* segment = bench.channel(0).request_buffer()) {
    taken.emplace_back(*segment, 0, 0);
  }
  bench.data(0, 0);
  // Errors of channels show when their gates are polled.
  static_cast<void>(bench.gate->poll_next());
  static_cast<void>(other.poll_next());
  const auto state = [](bool failed) { return std::string(failed ? "error" : "ok"); };
  expect_equal("found", line.at("found"),
               "channel " + state(bench.gate->has_failed()) + ", other channel " +
                   state(other.has_failed()) + ", connection " +
                   (bench.sink.is_closed ? "closed" : "ok"));
}

void replay_j20(const Json& line, const NetworkSemantics& semantics) {
  SenderBench bench(semantics, 0);
  bench.add_reader();
  bench.set_writable(false);
  for (std::uint32_t bytes = 1; bytes <= 10; ++bytes) bench.data(bytes);
  bench.flush();
  for (int i = 0; i < 5; ++i) bench.subpartition.notify_data_available();
  const auto state = [&bench] {
    return std::string(bench.reader().is_queued ? "queued" : "not queued");
  };
  std::string found = state() + ", credit " + std::to_string(bench.reader().credit) + ";";
  static_cast<void>(bench.sink.take());
  for (int i = 0; i < 3; ++i) {
    bench.queue.add_credit(1, 1);
    found += " queued " + std::to_string(bench.queue.queued_readers().size()) + " credit " +
             std::to_string(bench.reader().credit);
  }
  bench.set_writable(true);
  found += "; " + bench.sink.take() + "; credit " + std::to_string(bench.reader().credit) + " " +
           state() + ", buffers left " + std::to_string(bench.subpartition.queue().size());
  expect_equal("found", line.at("found"), found);
}

void replay_j21(const Json& line, const NetworkSemantics& semantics) {
  SenderBench bench(semantics, 0);
  bench.add_reader();
  bench.set_writable(false);
  bench.event("cancel");
  std::string found = std::string(bench.reader().is_queued ? "queued" : "not queued") +
                      ", credit " + std::to_string(bench.reader().credit) + "; ";
  bench.set_writable(true);
  found += bench.sink.take() + "; credit " + std::to_string(bench.reader().credit) +
           (bench.reader().is_queued ? " queued" : " not queued");
  expect_equal("found", line.at("found"), found);
}

void replay_j22(const Json& line, const NetworkSemantics& semantics) {
  SenderBench bench(semantics, 2);
  bench.add_reader();
  bench.set_writable(false);
  bench.event("aligned");
  bench.data(9);
  bench.flush();
  bench.set_writable(true);
  std::string found = bench.sink.take() + "; left " +
                      std::to_string(bench.subpartition.queue().size()) +
                      (bench.subpartition.is_available() ? " available; " : " not available; ");
  bench.queue.resume_consumption(1);
  found += bench.sink.take() + "; left " + std::to_string(bench.subpartition.queue().size());
  expect_equal("found", line.at("found"), found);
}

void replay_j23(const Json& line, const NetworkSemantics& semantics) {
  SenderBench bench(semantics, 0);
  bench.add_reader();
  bench.data(5);
  bench.data(6);
  std::string found = bench.sink.take() + "; after a third buffer and flush: ";
  bench.data(7);
  bench.flush();
  found += bench.sink.take() + "; credit 2: ";
  bench.queue.add_credit(1, 2);
  found += bench.sink.take();
  const std::size_t announcement = found.rfind(", announce");
  if (announcement != std::string::npos) found.resize(announcement);
  found += "; credit " + std::to_string(bench.reader().credit);
  expect_equal("found", line.at("found"), found);
}

// Resume with and without buffers of the receiver's own.
void replay_j24(const Json& line, const NetworkSemantics& semantics) {
  SenderBench two(semantics, 2);
  two.add_reader();
  std::string found = "initial 2: " + std::to_string(two.reader().credit);
  two.event("aligned");
  two.queue.resume_consumption(1);
  found += " -> " + std::to_string(two.reader().credit);
  two.queue.add_credit(1, 2);
  found += " +2 = " + std::to_string(two.reader().credit);
  SenderBench none(semantics, 0);
  none.add_reader();
  none.queue.add_credit(1, 2);
  found += " initial 0: " + std::to_string(none.reader().credit);
  none.event("aligned");
  none.queue.resume_consumption(1);
  found += " -> " + std::to_string(none.reader().credit);
  expect_equal("found", line.at("found"), found);
}

// The reader is tried; whether it announces its backlog then. Whatever it has credit for leaves
// afterwards.
bool announces_backlog(SenderBench& bench, std::int32_t credit,
                       const std::function<void()>& try_it) {
  bench.set_writable(false);
  static_cast<void>(bench.sink.take());
  try_it();
  expect_equal("credit", credit, bench.reader().credit);
  const bool announces = bench.sink.take().find("announce") != std::string::npos;
  bench.set_writable(true);
  return announces;
}

// There are always more buffers than credit.
void replay_j25(const Json& line, const NetworkSemantics& semantics) {
  std::ostringstream found;
  found << std::boolalpha;
  SenderBench two(semantics, 2);
  SenderBench none(semantics, 0);
  for (std::uint32_t bytes = 1; bytes <= 5; ++bytes) {
    two.data(bytes);
    none.data(bytes);
  }
  found << announces_backlog(two, 2, [&two] { two.add_reader(); }) << ' '
        << announces_backlog(two, 0, [&two] { two.queue.add_credit(1, 0); }) << ", "
        << announces_backlog(none, 0, [&none] { none.add_reader(); }) << ' '
        << announces_backlog(none, 2, [&none] { none.queue.add_credit(1, 2); }) << ' '
        << announces_backlog(none, 0, [&none] { none.queue.add_credit(1, 0); });
  expect_equal("found", line.at("found"), found.str());
}

// Names items: data by its size, priority events "#", other events "e".
class NameSink final : public MessageSink {
 public:
  explicit NameSink(const WireFormat& wire) : wire_(wire) {}
  void send(WireMessageHandle message, bool flow_controlled) override {
    const BufferResponse one = wire_.parse_buffer_response(*message);
    names_ += names_.empty() ? "" : " ";
    if (one.is_buffer()) {
      names_ += std::to_string(one.payload.size());
    } else {
      names_ += has_priority(one.type) ? "#" : "e";
    }
    if (flow_controlled && on_written) on_written();
  }
  [[nodiscard]] bool is_writable() const override { return writable; }
  [[nodiscard]] std::string take() { return std::exchange(names_, {}); }

  base::InplaceFunction<void()> on_written;
  bool writable = true;

 private:
  const WireFormat& wire_;
  std::string names_;
};

// Three readers on one connection. All have four buffers, the second an event behind them and credit
// for two; what is a priority event of the third overtakes its own buffers alone.
void replay_round_robin(const Json& line, const NetworkSemantics& semantics) {
  constexpr std::int32_t kCredit[] = {4, 2, 4};
  flow_f120::WrittenSegments segments;
  WirePool wire;
  NameSink sink(semantics.wire);
  std::vector<std::unique_ptr<PipelinedSubpartition>> subpartitions;
  PartitionRequestQueue queue(sink, wire, semantics);
  sink.on_written = [&queue] { queue.on_written(); };
  sink.writable = false;
  const auto add = [&subpartitions](std::size_t reader, BufferConsumer item) {
    PipelinedSubpartition& one = *subpartitions[reader];
    if (one.add(std::move(item))) one.notify_data_available();
  };
  for (std::size_t reader = 0; reader < 3; ++reader) {
    subpartitions.push_back(
        std::make_unique<PipelinedSubpartition>(nullptr, semantics, ResultSubpartitionInfo{}, 2));
    queue.add_reader(reader + 1, kCredit[reader], *subpartitions[reader],
                     static_cast<std::int32_t>(reader));
    for (std::size_t i = 0; i < 4; ++i) {
      const auto bytes = static_cast<std::uint32_t>(10 * (reader + 1) + i);
      add(reader, BufferConsumer(segments.make(bytes, 64, true)));
    }
  }
  add(1, flow_f120::consumer_of(flow_f120::event_of("cancel", 1)));
  add(2, flow_f120::consumer_of(flow_f120::event_of("unaligned", 2)));
  // Else the last finished buffer would wait for something behind it.
  for (const auto& one : subpartitions) {
    if (one->flush()) one->notify_data_available();
  }
  sink.writable = true;
  queue.on_written();
  std::string found = sink.take() + "; then credit 1 for the second:";
  // One at a time, as long as something comes.
  while (!subpartitions[1]->queue().empty()) {
    queue.add_credit(2, 1);
    const std::string sent = sink.take();
    if (sent.empty()) break;
    found += " " + sent;
  }
  expect_equal("found", line.at("found"), found);
}

void replay_reader_created(const Json& line, const NetworkSemantics& semantics) {
  SenderBench bench(semantics, 2);
  bench.data(4);
  bench.flush();
  bench.add_reader();
  const std::string found = bench.sink.take() + "; credit " + std::to_string(bench.reader().credit);
  expect_equal("found", line.at("found"), found);
}

void replay_j33(const Json& line, const NetworkSemantics& semantics) {
  ReceiverBench bench(semantics, 2, 2, 8);
  bench.gate->request_partitions();
  bench.data(0, 0);
  bench.data(1, 0);
  bench.data(0, 0);
  for (const std::size_t channel : {0U, 1U}) {
    bench.event(channel, "endofdata", 0);
    bench.event(channel, "eop", 0);
  }
  std::string order;
  std::string finished;
  while (const auto next = bench.gate->poll_next()) {
    order += (order.empty() ? "" : " ") + std::to_string(next->channel);
    finished += bench.gate->is_finished() ? '1' : '0';
  }
  expect_equal("order", line.at("order"), order);
  expect_equal("finishedAfter", line.at("finishedAfter"), finished);
}

using ReplayFlow = void (*)(const Json& line, const NetworkSemantics& semantics);

ReplayFlow replay_of(const std::string& id) {
  static const std::map<std::string, ReplayFlow> kRows{
      {"J12", &replay_j12},
      {"J13", &replay_j13_j14},
      {"J14", &replay_j13_j14},
      {"J14.pileUp", &replay_j13_j14},
      {"J15.message", &replay_j15_message},
      {"J16", &replay_j16},
      {"J.noBuffer", &replay_no_buffer},
      {"J20", &replay_j20},
      {"J21", &replay_j21},
      {"J22", &replay_j22},
      {"J23", &replay_j23},
      {"J24", &replay_j24},
      {"J25", &replay_j25},
      {"J.roundRobin", &replay_round_robin},
      {"J.readerCreated", &replay_reader_created},
      {"J33", &replay_j33},
  };
  const auto found = kRows.find(id);
  return found == kRows.end() ? nullptr : found->second;
}

}  // namespace

bool is_flow_row(const Json& line) {
  if (line.contains("meta")) return false;
  return line.contains("setUp") || replay_of(line.at("id")) != nullptr;
}

void replay_flow_row(const Json& line, const NetworkSemantics& semantics) {
  if (line.contains("setUp")) return replay_script(line, semantics);
  const ReplayFlow replay = replay_of(line.at("id"));
  if (replay == nullptr) throw MalformedCase("unknown row: " + line.at("id").get<std::string>());
  replay(line, semantics);
}

}  // namespace tailrace::golden
