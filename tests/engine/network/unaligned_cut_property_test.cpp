// Whole stacks with barriers that overtake, may time out or wait for each other: what a checkpoint
// keeps of every channel is exactly what lies between the two snapshots, and can be read back.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "engine/barrier/checkpoint_listener.hpp"
#include "engine/barrier/checkpointed_inputs.hpp"
#include "engine/barrier/inputs_checkpoint_initializer.hpp"
#include "engine/generation.hpp"
#include "engine/network/channel_state_writer.hpp"
#include "engine/network/network_semantics.hpp"
#include "engine/network/record_deserializer.hpp"
#include "engine/network/record_writer.hpp"
#include "engine/scheduling/deployment.hpp"
#include "tests/engine/network/test_world.hpp"

namespace tailrace::engine {
namespace {

using testing::TestProcess;
using testing::TestWorld;

using Bytes = std::vector<std::byte>;

// Keeps the bytes of one task's channels.
class Capture final : public ChannelStateWriter {
 public:
  void start(CheckpointId, const CheckpointOptions&) override {}
  void add_input_data(CheckpointId id, InputChannelInfo channel, std::int32_t,
                      std::vector<Buffer> data) override {
    append(input[{id, channel}], data);
  }
  void add_output_data(CheckpointId id, ResultSubpartitionInfo, std::int32_t,
                       std::vector<Buffer> data) override {
    append(output[id], data);
  }
  void add_output_data_future(CheckpointId id, ResultSubpartitionInfo, std::int32_t,
                              std::shared_ptr<ChannelStateDataFuture> data) override {
    data->when_done([this, id, data = data.get()] {
      if (data->state() == ChannelStateDataFuture::State::kFailed) {
        failed.insert(id);
      } else {
        append(output[id], data->take_data());
      }
    });
    futures_.push_back(std::move(data));
  }
  void finish_input(CheckpointId) override {}
  void finish_output(CheckpointId) override {}
  void abort(CheckpointId) override {}
  void close() override {}

  std::map<std::pair<CheckpointId, InputChannelInfo>, Bytes> input;
  std::map<CheckpointId, Bytes> output;
  std::set<CheckpointId> failed;

 private:
  static void append(Bytes& to, const std::vector<Buffer>& data) {
    for (const Buffer& buffer : data) {
      to.insert(to.end(), buffer.bytes().begin(), buffer.bytes().end());
    }
  }
  std::vector<std::shared_ptr<ChannelStateDataFuture>> futures_;
};

class ToFirst final : public ChannelSelector {
 public:
  std::int32_t select(const Record&) override { return 0; }
};

ResultPartitionId cut_partition_id(std::size_t producer) {
  return {0, static_cast<std::int32_t>(producer), {100 + producer}};
}

// Sends records with numbers for text, and barriers when it is told.
class BarrierProducer {
 public:
  BarrierProducer(TestProcess& process, std::size_t index)
      : process_(process),
        partition_(process.network().create_partition(
            {cut_partition_id(index), 1, PartitionerKind::kHash, RecordType::kStringLong})),
        writer_(*partition_, RecordType::kStringLong, std::make_unique<ToFirst>(),
                Duration::millis(3), process.ports()) {
    partition_->set_channel_state_writer(capture);
    partition_->finish_read_recovered_state();
  }

  void emit(std::size_t padding) {
    if (!writer_.is_available()) return;
    const std::string text = std::to_string(records++) + std::string(padding, '.');
    writer_.emit({text, 0, {}});
    writer_.publish();
  }
  // Returns: false while it is stuck inside a record.
  bool emit_barrier(const CheckpointBarrier& barrier) {
    if (writer_.is_blocked()) return false;
    records_before[barrier.id] = records;
    writer_.broadcast_event(barrier, barrier.options.is_unaligned());
    if (barrier.options.is_timeoutable()) {
      process_.schedule(
          barrier.options.aligned_checkpoint_timeout,
          lifeline_.bind([this, id = barrier.id] { writer_.aligned_barrier_timeout(id); }));
    }
    return true;
  }
  void flush() { writer_.flush_all(); }

  Capture capture;
  std::int64_t records = 0;
  std::map<CheckpointId, std::int64_t> records_before;  // sent before the barrier

 private:
  TestProcess& process_;
  std::unique_ptr<ResultPartition> partition_;
  RecordWriter writer_;
  base::Lifeline lifeline_;
};

// Reads record by record; a priority event is handled between two of them.
class BarrierConsumer final : public CheckpointListener, public InputsCheckpointInitializer {
 public:
  // `gates`: the producers of each gate.
  BarrierConsumer(TestProcess& process, const std::vector<std::vector<std::size_t>>& gates,
                  const std::vector<ProcessId>& homes) {
    std::vector<InputToCheckpoint> inputs;
    for (std::size_t gate = 0; gate < gates.size(); ++gate) {
      InputGateDescriptor descriptor;
      descriptor.type = RecordType::kStringLong;
      first_.push_back(readers_.size());
      for (const std::size_t producer : gates[gate]) {
        descriptor.channels.push_back({cut_partition_id(producer), 0, homes[producer]});
        infos.push_back({static_cast<std::int32_t>(gate),
                         static_cast<std::int32_t>(descriptor.channels.size()) - 1});
        readers_.emplace_back(RecordType::kStringLong);
      }
      gates_.push_back(process.network().create_gate(
          descriptor, [](const std::string& reason) { RC_FAIL(reason); }));
      gates_.back()->set_channel_state_writer(capture, static_cast<std::int32_t>(gate));
      inputs.push_back({gates_.back().get()});
    }
    records.resize(readers_.size());
    CheckpointedInputsOptions options{};
    options.mode = CheckpointingMode::EXACTLY_ONCE;
    options.unaligned = true;
    options.initializer = this;
    options.mailbox_timers = &process;
    inputs_ = make_checkpointed_inputs(Generation::kFlink120, inputs, options, *this, process);
    for (const auto& gate : gates_) gate->request_partitions();
  }
  ~BarrierConsumer() { inputs_->close(); }

  // One record, or one item of a gate. Returns: whether there was anything.
  bool read() {
    for (std::size_t gate = 0; gate < gates_.size(); ++gate) {
      while (gates_[gate]->is_priority_event_available() && poll(gate)) {
      }
    }
    if (current_ != nullptr) {
      Record record;
      if (current_->next(record)) {
        const auto channel = static_cast<std::size_t>(current_ - readers_.data());
        RC_ASSERT(std::stoll(std::string(record.text)) == records[channel]++);
        return true;
      }
      current_ = nullptr;
    }
    for (std::size_t i = 0; i < gates_.size(); ++i) {
      next_gate_ = (next_gate_ + 1) % gates_.size();
      if (poll(next_gate_)) return true;
    }
    return false;
  }

  std::optional<CheckpointFailureReason> init_inputs_checkpoint(
      CheckpointId id, const CheckpointOptions& options) override {
    if (!options.is_unaligned()) return std::nullopt;
    for (std::size_t channel = 0; channel < readers_.size(); ++channel) {
      readers_[channel].append_unconsumed(capture.input[{id, infos[channel]}]);
    }
    return std::nullopt;
  }
  void trigger_checkpoint_on_barrier(const CheckpointMetaData& meta, const CheckpointOptions&,
                                     const AlignmentMetrics&) override {
    RC_ASSERT(snapshots.emplace(meta.id, records).second);
  }
  void abort_checkpoint_on_barrier(CheckpointId id, CheckpointFailureReason) override {
    aborted.insert(id);
  }

  Capture capture;
  std::vector<InputChannelInfo> infos;
  std::vector<std::int64_t> records;  // read, by channel
  std::map<CheckpointId, std::vector<std::int64_t>> snapshots;
  std::set<CheckpointId> aborted;

 private:
  bool poll(std::size_t gate) {
    auto item = inputs_->input(static_cast<std::int32_t>(gate)).poll_next();
    if (!item) return false;
    if (!item->is_buffer()) return true;
    RC_ASSERT(current_ == nullptr);
    current_ = &readers_[first_[gate] + static_cast<std::size_t>(item->channel)];
    current_->set_next_buffer(std::move(std::get<Buffer>(item->item)));
    return true;
  }

  std::vector<RecordDeserializer> readers_;
  std::vector<std::size_t> first_;
  std::vector<std::unique_ptr<SingleInputGate>> gates_;
  std::unique_ptr<CheckpointedInputs> inputs_;
  RecordDeserializer* current_ = nullptr;
  std::size_t next_gate_ = 0;
};

// Bytes on loan, in pieces.
class Pieces final : public BufferRecycler {
 public:
  void recycle(NetworkBuffer&) override {}
  Buffer make(Bytes& bytes, std::size_t at, std::size_t size) {
    segments_.push_back(
        std::make_unique<NetworkBuffer>(bytes.data() + at, static_cast<std::uint32_t>(size)));
    segments_.back()->lend(*this);
    return Buffer(*segments_.back(), 0, static_cast<std::uint32_t>(size));
  }

 private:
  std::vector<std::unique_ptr<NetworkBuffer>> segments_;
};

// Reads what was kept as a restored task does. Returns: the numbers of the records.
std::vector<std::int64_t> read_back(Bytes bytes, std::size_t piece) {
  Pieces pieces;
  RecordDeserializer reader(RecordType::kStringLong);
  std::vector<std::int64_t> numbers;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    reader.set_next_buffer(pieces.make(bytes, at, std::min(piece, bytes.size() - at)));
    Record record;
    while (reader.next(record)) numbers.push_back(std::stoll(std::string(record.text)));
  }
  RC_ASSERT(!reader.has_partial_record());
  return numbers;
}

// Of the whole range also in early cases, which RapidCheck keeps small.
template <typename T>
T draw(T low, T high) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<T>(low, high));
}

CheckpointOptions draw_options() {
  CheckpointOptions options;
  switch (draw(0, 5)) {
    case 0:
      break;  // aligned
    case 1:
      options.aligned_checkpoint_timeout = Duration::millis(draw(1, 4));
      break;
    case 2:
      options.aligned_checkpoint_timeout = Duration::millis(20);
      break;
    default:
      options.alignment = AlignmentType::UNALIGNED;
  }
  return options;
}

RC_GTEST_PROP(UnalignedCut, StateAndChannelStateAndLaterRecordsAreTheInput, ()) {
  NetworkConfig config;
  config.semantics = &network_semantics_120();
  config.segment_bytes = *rc::gen::element(64, 128, 1024);
  config.network_memory_bytes = std::int64_t{config.segment_bytes} * 400;
  config.exclusive_per_channel = draw(0, 3);
  config.floating_per_gate = draw(1, 9);
  TestWorld world(config);
  TestProcess& left = world.start_process();
  TestProcess& right = world.start_process();

  const auto channels = draw<std::size_t>(1, 7);
  std::vector<std::unique_ptr<BarrierProducer>> producers;
  std::vector<ProcessId> homes;
  std::vector<std::vector<std::size_t>> gates(channels > 1 ? draw<std::size_t>(1, 3) : 1);
  for (std::size_t i = 0; i < channels; ++i) {
    TestProcess& home = *rc::gen::element(&left, &left, &right) == &left ? left : right;
    homes.push_back(home.ports().self);
    producers.push_back(std::make_unique<BarrierProducer>(home, i));
    gates[i % gates.size()].push_back(i);
  }
  std::vector<std::size_t> producer_of;
  for (const auto& gate : gates) producer_of.insert(producer_of.end(), gate.begin(), gate.end());
  BarrierConsumer consumer(right, gates, homes);

  std::vector<CheckpointBarrier> barriers;
  std::vector<std::size_t> emitted(channels);  // barriers, by producer
  const auto emit_next_barrier = [&](std::size_t i) {
    if (emitted[i] < barriers.size() && producers[i]->emit_barrier(barriers[emitted[i]])) {
      ++emitted[i];
    }
  };
  const auto pending = [&] {
    return !barriers.empty() && std::any_of(emitted.begin(), emitted.end(), [&](std::size_t count) {
      return count < barriers.size();
    });
  };

  const auto steps = draw(20, 150);
  for (int step = 0; step < steps; ++step) {
    const auto producer = draw<std::size_t>(0, channels);
    switch (draw(0, 8)) {
      case 0:
      case 1:
        for (int n = draw(1, 12); n > 0; --n) {
          producers[producer]->emit(draw<std::size_t>(0, 200));
        }
        break;
      case 2:
        world.run_for(Duration::micros(*rc::gen::element(50, 150, 500, 5000)));
        break;
      case 3:
      case 4:
        for (int n = draw(1, 8); n > 0; --n) consumer.read();
        break;
      case 5:
        producers[producer]->flush();
        break;
      case 6:
        emit_next_barrier(producer);
        break;
      default:
        // Seldom while one is under way: a coordinator does so after one has expired.
        if (pending() && draw(0, 8) > 0) break;
        barriers.push_back({static_cast<CheckpointId>(barriers.size()) + 1,
                            world.now().ns / 1'000'000, draw_options()});
    }
  }
  // Everybody comes to rest.
  for (int round = 0; round < 2000; ++round) {
    for (std::size_t i = 0; i < channels; ++i) emit_next_barrier(i);
    bool something = false;
    while (consumer.read()) something = true;
    world.run_for(Duration::millis(1));
    if (round > 40 && !something && !pending()) break;
  }
  std::vector<std::int64_t> sent;
  for (const std::size_t i : producer_of) sent.push_back(producers[i]->records);
  RC_ASSERT(consumer.records == sent);

  std::int64_t held = 0;
  std::int64_t complete = 0;
  const auto piece = *rc::gen::element<std::size_t>(1, 7, 64, 100'000);
  for (const CheckpointBarrier& barrier : barriers) {
    const CheckpointId id = barrier.id;
    const auto snapshot = consumer.snapshots.find(id);
    if (snapshot == consumer.snapshots.end()) {
      RC_ASSERT(id < barriers.back().id);  // subsumed
      continue;
    }
    // A producer gives up what waits in its queue when the next checkpoint may wait there, too.
    const bool given_up = std::any_of(producers.begin(), producers.end(), [id](const auto& one) {
      return one->capture.failed.contains(id);
    });
    RC_ASSERT(!given_up || id < barriers.back().id);
    if (given_up || consumer.aborted.contains(id)) continue;
    ++complete;
    for (std::size_t channel = 0; channel < producer_of.size(); ++channel) {
      BarrierProducer& producer = *producers[producer_of[channel]];
      Bytes kept = consumer.capture.input[{id, consumer.infos[channel]}];
      const Bytes& overtaken = producer.capture.output[id];
      kept.insert(kept.end(), overtaken.begin(), overtaken.end());
      held += static_cast<std::int64_t>(kept.size());
      std::vector<std::int64_t> expected;
      for (std::int64_t n = snapshot->second[channel]; n < producer.records_before[id]; ++n) {
        expected.push_back(n);
      }
      RC_ASSERT(read_back(std::move(kept), piece) == expected);
    }
  }
  RC_TAG(std::string(complete > 0 ? "complete" : "none") + (held > 0 ? ", held" : ""));
}

}  // namespace
}  // namespace tailrace::engine
