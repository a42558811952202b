// The aligner of 1.10, the aligned handler of 1.20 and a naive reading of the same channels agree on
// which records belong to which checkpoint.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "engine/barrier/checkpointed_inputs.hpp"
#include "engine/generation.hpp"
#include "engine/network/network_semantics.hpp"
#include "engine/scheduling/deployment.hpp"
#include "tests/engine/barrier/scripted_input.hpp"

namespace tailrace::engine::test {
namespace {

// What one sender puts into its channel: records, and for every checkpoint its barrier or its
// cancel marker, in the order of the ids.
struct Sent {
  enum class Kind : std::uint8_t { kRecord, kBarrier, kCancel, kEnd } kind = Kind::kRecord;
  std::int64_t number = 0;  // of the record in its channel, or the checkpoint's id
};
using Channel = std::vector<Sent>;

// A graph: the channels of every gate of one task.
struct Graph {
  std::vector<std::int32_t> gates;  // numbers of channels
  std::vector<Channel> channels;    // of all gates
};

// Records by channel that were read before the snapshot of a checkpoint.
using Cut = std::vector<std::int64_t>;
using Cuts = std::map<CheckpointId, Cut>;

// Reads every channel to its barriers, checkpoint after checkpoint. A checkpoint is complete if
// every channel that has not ended before has its barrier, and at least one has it.
Cuts naive_cuts(const Graph& graph, CheckpointId checkpoints) {
  Cuts cuts;
  for (CheckpointId id = 1; id <= checkpoints; ++id) {
    Cut cut;
    bool complete = true;
    bool any = false;
    for (const Channel& channel : graph.channels) {
      std::int64_t records = 0;
      bool found = false;
      for (const Sent& sent : channel) {
        if (sent.kind == Sent::Kind::kRecord) {
          ++records;
        } else if (sent.kind == Sent::Kind::kBarrier && sent.number == id) {
          found = any = true;
          break;
        } else if (sent.kind == Sent::Kind::kCancel && sent.number == id) {
          complete = false;
          break;
        } else if (sent.kind == Sent::Kind::kEnd) {
          found = true;
          break;
        }
      }
      complete = complete && found;
      cut.push_back(records);
    }
    if (complete && any) cuts[id] = cut;
  }
  return cuts;
}

// A gate over senders that stop behind their barriers until they are resumed, if `stops`.
class SendersGate final : public InputGate {
 public:
  SendersGate(std::int32_t channels, bool stops)
      : queues_(static_cast<std::size_t>(channels)),
        blocked_(static_cast<std::size_t>(channels)),
        stops_(stops) {}

  void send(ChannelIndex channel, std::variant<Buffer, RuntimeEvent> item) {
    queues_[static_cast<std::size_t>(channel)].push_back(std::move(item));
  }
  [[nodiscard]] std::int32_t channel_count() const override {
    return static_cast<std::int32_t>(queues_.size());
  }
  // Round robin from the channel behind the last one.
  std::optional<BufferOrEvent> poll_next() override {
    for (std::size_t i = 0; i < queues_.size(); ++i) {
      const std::size_t index = (next_ + i) % queues_.size();
      if (queues_[index].empty() || blocked_[index] != 0) continue;
      next_ = index + 1;
      BufferOrEvent polled;
      polled.channel = static_cast<ChannelIndex>(index);
      polled.item = std::move(queues_[index].front());
      queues_[index].pop_front();
      if (!polled.is_buffer()) {
        if (stops_ && std::holds_alternative<CheckpointBarrier>(polled.event())) {
          blocked_[index] = 1;
        }
        if (std::holds_alternative<EndOfPartitionEvent>(polled.event())) ++ended_;
      }
      return polled;
    }
    return std::nullopt;
  }
  [[nodiscard]] bool is_finished() const override { return ended_ == channel_count(); }
  [[nodiscard]] bool is_available() const override {
    for (std::size_t i = 0; i < queues_.size(); ++i) {
      if (!queues_[i].empty() && blocked_[i] == 0) return true;
    }
    return is_finished();
  }
  void set_availability_listener(base::InplaceFunction<void()>) override {}
  void resume_consumption(ChannelIndex channel) override {
    RC_ASSERT(std::exchange(blocked_[static_cast<std::size_t>(channel)], std::uint8_t{0}) == 1);
  }

 private:
  std::vector<std::deque<std::variant<Buffer, RuntimeEvent>>> queues_;
  std::vector<std::uint8_t> blocked_;
  bool stops_;
  std::size_t next_ = 0;
  std::int32_t ended_ = 0;
};

// A task of one generation that notes its snapshots.
class Reader final : public CheckpointListener {
 public:
  Reader(Generation generation, const Graph& graph) {
    const bool stops = network_semantics(generation).announces_end_of_channel_state;
    std::vector<InputToCheckpoint> inputs;
    for (const std::int32_t channels : graph.gates) {
      for (ChannelIndex channel = 0; channel < channels; ++channel) {
        channel_of_.push_back({gates_.size(), channel});
      }
      first_.push_back(static_cast<std::int32_t>(channel_of_.size()) - channels);
      gates_.push_back(std::make_unique<SendersGate>(channels, stops));
      inputs.push_back({gates_.back().get()});
    }
    read_.resize(channel_of_.size());
    CheckpointedInputsOptions options{};
    options.mode = CheckpointingMode::EXACTLY_ONCE;
    inputs_ = make_checkpointed_inputs(generation, inputs, options, *this, clock_);
  }

  void send(std::size_t channel, const Sent& sent) {
    const auto [gate, index] = channel_of_[channel];
    switch (sent.kind) {
      case Sent::Kind::kRecord:
        return gates_[gate]->send(index, buffers_.make(sent.number));
      case Sent::Kind::kBarrier:
        return gates_[gate]->send(index, RuntimeEvent(CheckpointBarrier{sent.number, 0, {}}));
      case Sent::Kind::kCancel:
        return gates_[gate]->send(index, RuntimeEvent(CancelCheckpointMarker{sent.number}));
      case Sent::Kind::kEnd:
        return gates_[gate]->send(index, RuntimeEvent(EndOfPartitionEvent{}));
    }
  }

  // Returns: whether there was anything.
  bool poll(std::size_t gate) {
    const auto item = inputs_->input(static_cast<std::int32_t>(gate)).poll_next();
    if (!item) return false;
    if (!item->is_buffer()) return true;
    const auto channel = static_cast<std::size_t>(first_[gate] + item->channel);
    RC_ASSERT(NumberedBuffers::number_of(std::get<Buffer>(item->item)) == read_[channel]++);
    return true;
  }
  void poll_all() {
    // A poll that gives nothing may have swallowed a barrier, and so released another gate.
    std::size_t notes = 0;
    bool something = true;
    while (std::exchange(something, false) || notes != cuts.size() + aborted.size()) {
      notes = cuts.size() + aborted.size();
      for (std::size_t gate = 0; gate < gates_.size(); ++gate) {
        while (poll(gate)) something = true;
      }
    }
  }

  void trigger_checkpoint_on_barrier(const CheckpointMetaData& meta, const CheckpointOptions&,
                                     const AlignmentMetrics&) override {
    RC_ASSERT(cuts.emplace(meta.id, read_).second);
    RC_ASSERT(!aborted.contains(meta.id));
  }
  void abort_checkpoint_on_barrier(CheckpointId id, CheckpointFailureReason) override {
    RC_ASSERT(aborted.insert(id).second);
    RC_ASSERT(!cuts.contains(id));
  }

  [[nodiscard]] const Cut& read() const { return read_; }

  Cuts cuts;
  std::set<CheckpointId> aborted;

 private:
  ManualClock clock_;
  NumberedBuffers buffers_;
  std::vector<std::unique_ptr<SendersGate>> gates_;
  std::vector<std::pair<std::size_t, ChannelIndex>> channel_of_;
  std::vector<std::int32_t> first_;  // channel of each gate
  std::unique_ptr<CheckpointedInputs> inputs_;
  Cut read_;
};

struct Script {
  Graph graph;
  CheckpointId checkpoints = 0;
  // Channels in the order in which their items arrive; -1 - g polls gate g once.
  std::vector<std::int32_t> order;
};

void showValue(const Script& script, std::ostream& out) {
  out << "gates";
  for (const std::int32_t gate : script.graph.gates) out << ' ' << gate;
  for (const Channel& channel : script.graph.channels) {
    out << "\n ";
    for (const Sent& sent : channel) {
      out << ' ' << "b#xE"[static_cast<int>(sent.kind)];
      if (sent.kind != Sent::Kind::kEnd) out << sent.number;
    }
  }
  out << "\norder";
  for (const std::int32_t one : script.order) out << ' ' << one;
}

// `ends`: channels may end before the last checkpoint.
rc::Gen<Script> scripts(bool ends) {
  return rc::gen::exec([ends] {
    Script script;
    std::int32_t channels = 0;
    const auto gates = *rc::gen::inRange(1, 4);
    for (int gate = 0; gate < gates; ++gate) {
      const auto size = *rc::gen::inRange(1, 6 - channels - (gates - gate - 1) + 1);
      script.graph.gates.push_back(size);
      channels += size;
    }
    script.checkpoints = *rc::gen::inRange(1, 5);
    for (std::int32_t i = 0; i < channels; ++i) {
      Channel& channel = script.graph.channels.emplace_back();
      std::int64_t record = 0;
      const auto records = [&] {
        for (auto n = *rc::gen::inRange(0, 4); n > 0; --n) {
          channel.push_back({Sent::Kind::kRecord, record++});
        }
      };
      bool ended = false;
      for (CheckpointId id = 1; id <= script.checkpoints && !ended; ++id) {
        records();
        const auto what = *rc::gen::inRange(0, 12);
        if (what == 0 && ends) {
          ended = true;
        } else {
          channel.push_back({what == 1 ? Sent::Kind::kCancel : Sent::Kind::kBarrier, id});
        }
      }
      if (!ended) records();
      channel.push_back({Sent::Kind::kEnd, 0});
      script.order.insert(script.order.end(), channel.size(), i);
    }
    for (auto polls = *rc::gen::inRange(0, 40); polls > 0; --polls) {
      script.order.push_back(-1 - *rc::gen::inRange(0, gates));
    }
    // Shuffled by drawn places, so that a failure shrinks towards channel after channel.
    for (std::size_t i = script.order.size(); i > 1; --i) {
      std::swap(script.order[i - 1], script.order[*rc::gen::inRange<std::size_t>(0, i)]);
    }
    return script;
  });
}

// `ends_last`: a channel ends when everything else has been read; in 1.10 its end would abort what
// is aligning.
void play(const Script& script, Reader& reader, bool ends_last) {
  std::vector<std::size_t> next(script.graph.channels.size());
  for (const std::int32_t one : script.order) {
    if (one < 0) {
      reader.poll(static_cast<std::size_t>(-1 - one));
      continue;
    }
    const auto channel = static_cast<std::size_t>(one);
    const Sent& sent = script.graph.channels[channel][next[channel]++];
    if (!ends_last || sent.kind != Sent::Kind::kEnd) reader.send(channel, sent);
  }
  reader.poll_all();
  if (!ends_last) return;
  for (std::size_t channel = 0; channel < next.size(); ++channel) {
    reader.send(channel, {Sent::Kind::kEnd, 0});
  }
  reader.poll_all();
}

Cut all_records(const Graph& graph) {
  Cut all;
  for (const Channel& channel : graph.channels) {
    all.push_back(std::count_if(channel.begin(), channel.end(),
                                [](const Sent& sent) { return sent.kind == Sent::Kind::kRecord; }));
  }
  return all;
}

RC_GTEST_PROP(ThreeReaders, AgreeOnWhichRecordsBelongToWhichCheckpoint, ()) {
  const Script script = *scripts(false);
  const Cuts expected = naive_cuts(script.graph, script.checkpoints);
  std::set<CheckpointId> aborted;
  for (CheckpointId id = 1; id <= script.checkpoints; ++id) {
    if (!expected.contains(id)) aborted.insert(id);
  }
  for (const Generation generation : {Generation::kFlink110, Generation::kFlink120}) {
    Reader reader(generation, script.graph);
    play(script, reader, true);
    RC_ASSERT(reader.cuts == expected);
    RC_ASSERT(reader.aborted == aborted);
    RC_ASSERT(reader.read() == all_records(script.graph));
  }
  RC_TAG(expected.size());
}

// A channel that has ended holds nothing back: in 1.20 its end counts as a barrier.
RC_GTEST_PROP(ThreeReaders, ChannelsThatEndCountAsBarriersIn120, ()) {
  const Script script = *scripts(true);
  Reader reader(Generation::kFlink120, script.graph);
  play(script, reader, false);
  RC_ASSERT(reader.cuts == naive_cuts(script.graph, script.checkpoints));
  RC_ASSERT(reader.read() == all_records(script.graph));
}

}  // namespace
}  // namespace tailrace::engine::test
