// What random scripts do to the queues of a producer: no byte is lost, doubled or out of order, and
// what a barrier cuts off is whole.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "engine/network/buffer_writer.hpp"
#include "engine/network/network_buffer_pool.hpp"
#include "engine/network/prioritized_deque.hpp"
#include "engine/network/result_partition.hpp"

namespace tailrace::engine {
namespace {

std::byte byte_at(std::int64_t position) {
  return static_cast<std::byte>((position * 37 + position / 256) & 0xff);
}

bool is_stream(std::span<const std::byte> bytes, std::int64_t from) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != byte_at(from + static_cast<std::int64_t>(i))) return false;
  }
  return true;
}

// Keeps what is persisted of one partition, by checkpoint and subpartition.
class KeepingWriter final : public ChannelStateWriter {
 public:
  void add_output_data(CheckpointId id, ResultSubpartitionInfo subpartition, std::int32_t,
                       std::vector<Buffer> data) override {
    keep({id, subpartition.subpartition}, data);
  }
  void add_output_data_future(CheckpointId id, ResultSubpartitionInfo subpartition, std::int32_t,
                              std::shared_ptr<ChannelStateDataFuture> data) override {
    data->when_done([this, id, subpartition, future = data.get()] {
      if (future->state() == ChannelStateDataFuture::State::kCompleted) {
        keep({id, subpartition.subpartition}, future->take_data());
      }
    });
  }
  void start(CheckpointId, const CheckpointOptions&) override {}
  void add_input_data(CheckpointId, InputChannelInfo, std::int32_t, std::vector<Buffer>) override {}
  void finish_input(CheckpointId) override {}
  void finish_output(CheckpointId) override {}
  void abort(CheckpointId) override {}
  void close() override {}

  std::map<std::pair<CheckpointId, std::int32_t>, std::vector<std::byte>> kept;

 private:
  void keep(std::pair<CheckpointId, std::int32_t> key, const std::vector<Buffer>& data) {
    std::vector<std::byte>& bytes = kept[key];
    for (const Buffer& buffer : data) {
      bytes.insert(bytes.end(), buffer.bytes().begin(), buffer.bytes().end());
    }
  }
};

// A producer with its readers, all of them driven from here.
class Producer final {
 public:
  struct Channel final : BufferAvailabilityListener {
    void notify_data_available() override { ++signals; }
    void notify_priority_event(std::int32_t) override { ++signals; }
    std::unique_ptr<ResultSubpartitionView> view;
    std::int64_t written = 0;
    std::int64_t read = 0;
    std::int32_t signals = 0;
    std::map<CheckpointId, std::int64_t> sent;  // before the barrier was emitted
    bool ended = false;
  };

  explicit Producer(std::int32_t subpartitions, std::int32_t segment_bytes = 32,
                    std::int32_t pool_size = 400)
      : global_(pool_size, segment_bytes, network_semantics_120()),
        partition_(descriptor_of(subpartitions), pool_of(subpartitions, pool_size),
                   network_semantics_120()),
        buffers_(partition_) {
    partition_.set_channel_state_writer(channel_state_);
    for (std::int32_t i = 0; i < subpartitions; ++i) {
      channels_.push_back(std::make_unique<Channel>());
      channels_.back()->view = partition_.subpartition(i).create_read_view(*channels_.back());
    }
  }

  // To one subpartition, or to all through the shared buffer.
  void write(std::int32_t lane, std::size_t size) {
    std::int64_t from = 0;
    for_each_of(lane, [&from](Channel& channel) { from = channel.written; });
    std::vector<std::byte> record(size);
    for (std::size_t i = 0; i < size; ++i) {
      record[i] = byte_at(from + static_cast<std::int64_t>(i));
    }
    for_each_of(lane,
                [size](Channel& channel) { channel.written += static_cast<std::int64_t>(size); });
    buffers_.write(record, lane);
    partition_.publish();
  }
  void emit_barrier(CheckpointId id, AlignmentType alignment, bool timeoutable) {
    CheckpointBarrier barrier{id, 0, {}};
    barrier.options.alignment = alignment;
    if (timeoutable) barrier.options.aligned_checkpoint_timeout = base::Duration::millis(1);
    buffers_.finish_all();
    partition_.broadcast_event(barrier, alignment == AlignmentType::UNALIGNED);
    partition_.publish();
    for (std::size_t i = 0; i < channels_.size(); ++i) {
      channels_[i]->sent[id] = channels_[i]->written;
      const SubpartitionCut& cut = partition_.subpartition(static_cast<std::int32_t>(i)).last_cut();
      RC_ASSERT(cut.checkpoint == id && cut.sent == channels_[i]->written);
    }
  }
  // Returns: whether there was anything.
  bool poll(std::int32_t index) {
    Channel& channel = *channels_[static_cast<std::size_t>(index)];
    const std::optional<BufferAndBacklog> next = channel.view->get_next_buffer();
    if (!next) return false;
    if (next->item.is_buffer()) {
      RC_ASSERT(is_stream(next->item.buffer.bytes(), channel.read));
      channel.read += next->item.size();
      return true;
    }
    const RuntimeEvent event = network_semantics_120().parse_event(*next->item.event);
    if (std::holds_alternative<EndOfPartitionEvent>(event)) channel.ended = true;
    if (const auto* barrier = std::get_if<CheckpointBarrier>(&event)) {
      const std::vector<std::byte>& kept = channel_state_.kept[{barrier->id, index}];
      RC_ASSERT(is_stream(kept, channel.read));
      ChannelCut cut;
      cut.sent = channel.sent.at(barrier->id);
      cut.consumed = channel.read;
      cut.output_state = static_cast<std::int64_t>(kept.size());
      RC_ASSERT(check_channel_cut(cut) == std::nullopt);
    }
    if (is_blocking_upstream(next->item.type)) channel.view->resume_consumption();
    return true;
  }
  // Everything that was written has been read, and every segment is home.
  void finish() {
    std::int32_t rounds = 0;
    while (buffers_.is_blocked()) {
      drain();
      buffers_.resume();
      RC_ASSERT(++rounds < 1000);
    }
    buffers_.finish_all();
    partition_.finish();
    drain();
    for (const auto& channel : channels_) {
      RC_ASSERT(channel->read == channel->written);
      RC_ASSERT(channel->ended);
    }
    buffers_.close();
    for (const auto& channel : channels_) channel->view.reset();
    partition_.release();
    RC_ASSERT(global_.outstanding_segments() == 0);
  }
  void drain() {
    partition_.flush_all();
    for (std::int32_t i = 0; i < partition_.subpartition_count(); ++i) {
      while (poll(i)) {
      }
    }
  }

  [[nodiscard]] ResultPartition& partition() { return partition_; }
  [[nodiscard]] BufferWriter& buffers() { return buffers_; }

 private:
  static ResultPartitionDescriptor descriptor_of(std::int32_t subpartitions) {
    ResultPartitionDescriptor descriptor;
    descriptor.subpartitions = subpartitions;
    return descriptor;
  }
  LocalBufferPool& pool_of(std::int32_t subpartitions, std::int32_t size) {
    BufferPoolSpec spec;
    spec.required = size;
    spec.max = size;
    spec.subpartitions = subpartitions;
    std::string error;
    LocalBufferPool* pool = global_.create_buffer_pool(spec, &error);
    RC_ASSERT(pool != nullptr);
    return *pool;
  }
  template <typename F>
  void for_each_of(std::int32_t lane, const F& run) {
    for (std::size_t i = 0; i < channels_.size(); ++i) {
      const auto index = static_cast<std::int32_t>(i);
      if (lane == index || lane == buffers_.shared_lane()) run(*channels_[i]);
    }
  }

  NetworkBufferPool global_;
  KeepingWriter channel_state_;
  ResultPartition partition_;
  BufferWriter buffers_;
  std::vector<std::unique_ptr<Channel>> channels_;
};

RC_GTEST_PROP(PrioritizedDeque, IsTwoFifosOneBehindTheOther,
              (const std::vector<std::pair<std::uint8_t, std::uint8_t>>& script)) {
  PrioritizedDeque<int> deque;
  std::deque<int> priority;
  std::deque<int> rest;
  int next = 0;
  for (const auto& [what, argument] : script) {
    switch (what % 5) {
      case 0:
        deque.add(next);
        rest.push_back(next++);
        break;
      case 1:
        deque.add_priority_element(next);
        priority.push_back(next++);
        break;
      case 2:
        if (deque.empty()) break;
        RC_ASSERT(deque.front() == (priority.empty() ? rest : priority).front());
        deque.poll();
        (priority.empty() ? rest : priority).pop_front();
        break;
      case 3: {
        if (rest.empty()) break;
        const auto at = static_cast<std::ptrdiff_t>(argument % rest.size());
        const int element = rest[static_cast<std::size_t>(at)];
        deque.prioritize(element);
        deque.prioritize(element);  // it is there already
        rest.erase(rest.begin() + at);
        priority.push_back(element);
        break;
      }
      default: {
        const int wanted = argument % 16;
        const std::optional<int> got =
            deque.get_and_remove([wanted](int element) { return element == wanted; });
        const bool had = std::erase(priority, wanted) + std::erase(rest, wanted) > 0;
        RC_ASSERT(got.has_value() == had);
      }
    }
    RC_ASSERT(deque.num_priority_elements() == priority.size());
    RC_ASSERT(deque.size() == priority.size() + rest.size());
    for (std::size_t i = 0; i < deque.size(); ++i) {
      RC_ASSERT(deque[i] == (i < priority.size() ? priority[i] : rest[i - priority.size()]));
    }
  }
}

// Aligned, unaligned and timed out barriers between records of all sizes.
RC_GTEST_PROP(Subpartition, LosesAndDoublesNoByteWhateverOvertakes,
              (const std::vector<std::pair<std::uint8_t, std::uint8_t>>& script)) {
  constexpr std::int32_t kSubpartitions = 3;
  Producer producer(kSubpartitions);
  CheckpointId id = 0;
  for (const auto& [what, argument] : script) {
    const std::int32_t one = argument % kSubpartitions;
    switch (what % 9) {
      case 0:
      case 1:
        if (!producer.buffers().is_blocked()) producer.write(one, 4 + argument % 100);
        break;
      case 2:
      case 3:
        producer.poll(one);
        break;
      case 4:
        producer.partition().flush(one);
        break;
      case 5:
        producer.emit_barrier(++id, AlignmentType::UNALIGNED, false);
        break;
      case 6:
        producer.emit_barrier(++id, AlignmentType::ALIGNED, true);
        break;
      case 7:
        producer.partition().aligned_barrier_timeout(id - argument % 2);
        break;
      default:
        if (argument % 2 == 0) {
          producer.emit_barrier(++id, AlignmentType::ALIGNED, false);
        } else {
          producer.partition().abort_checkpoint(id);
        }
    }
  }
  producer.finish();
}

// Buffers of all sizes, own and shared, from a pool that runs dry.
RC_GTEST_PROP(BufferWriter, WritesEveryByteInOrderWhateverSizesAreAskedFor,
              (const std::vector<std::pair<std::uint8_t, std::uint8_t>>& script)) {
  constexpr std::int32_t kSubpartitions = 2;
  const bool shared = *rc::gen::arbitrary<bool>();
  Producer producer(kSubpartitions, 64, *rc::gen::inRange(2, 6));
  for (const auto& [what, argument] : script) {
    const std::int32_t one = argument % kSubpartitions;
    switch (what % 6) {
      case 0:
      case 1:
      case 2:
        producer.write(shared ? producer.buffers().shared_lane() : one, 4 + argument % 200);
        break;
      case 3:
        producer.poll(one);
        if (producer.buffers().is_blocked()) producer.buffers().resume();
        break;
      case 4:
        producer.partition().subpartition(one).set_buffer_size(argument);
        break;
      default:
        producer.partition().flush_all();
    }
  }
  producer.finish();
}

TEST(ResultPartition, DoesNotLetBarriersOvertakeWhereDataInFlightCouldNotBeRestored) {
  NetworkBufferPool global(4, 32, network_semantics_120());
  BufferPoolSpec spec;
  spec.required = 4;
  spec.max = 4;
  spec.subpartitions = 1;
  std::string error;
  LocalBufferPool* pool = global.create_buffer_pool(spec, &error);
  ASSERT_NE(pool, nullptr) << error;
  ResultPartitionDescriptor descriptor;
  descriptor.supports_unaligned_checkpoints = false;
  ResultPartition partition(descriptor, *pool, network_semantics_120());
  CheckpointBarrier barrier{1, 0, {}};
  barrier.options.alignment = AlignmentType::UNALIGNED;
  partition.broadcast_event(CancelCheckpointMarker{0});
  partition.broadcast_event(barrier, true);
  const auto& queue = partition.subpartition(0).queue();
  ASSERT_EQ(queue.size(), 2U);
  EXPECT_EQ(queue.num_priority_elements(), 0U);
  EXPECT_EQ(queue.back().type(), DataType::kAlignedCheckpointBarrier);
  const RuntimeEvent sent = network_semantics_120().parse_event(*queue.back().event());
  EXPECT_EQ(std::get<CheckpointBarrier>(sent).options.alignment, AlignmentType::FORCED_ALIGNED);
}

TEST(ChannelCut, HoldsWhenEveryByteIsKeptOnce) {
  EXPECT_EQ(check_channel_cut({.sent = 10, .consumed = 4, .output_state = 3, .input_state = 3}),
            std::nullopt);
  EXPECT_EQ(check_channel_cut({}), std::nullopt);
}

TEST(ChannelCut, SaysWhatIsLostAndWhatIsThereTwice) {
  const auto lost =
      check_channel_cut({.sent = 10, .consumed = 4, .output_state = 3, .input_state = 2});
  ASSERT_TRUE(lost.has_value());
  EXPECT_NE(lost->find("lost"), std::string::npos) << *lost;
  const auto twice =
      check_channel_cut({.sent = 10, .consumed = 4, .output_state = 4, .input_state = 3});
  ASSERT_TRUE(twice.has_value());
  EXPECT_NE(twice->find("twice"), std::string::npos) << *twice;
  EXPECT_TRUE(check_channel_cut({.sent = -1, .consumed = -1}).has_value());
}

TEST(CheckpointOptions, ForcedAlignmentIsReversible) {
  CheckpointOptions timeoutable;
  timeoutable.aligned_checkpoint_timeout = base::Duration::millis(10);
  CheckpointOptions unaligned;
  unaligned.alignment = AlignmentType::UNALIGNED;
  for (const CheckpointOptions& options : {timeoutable, unaligned}) {
    const CheckpointOptions forced = options.with_unaligned_unsupported();
    EXPECT_EQ(forced.alignment, AlignmentType::FORCED_ALIGNED);
    EXPECT_TRUE(forced.needs_alignment());
    EXPECT_FALSE(forced.is_timeoutable());
    EXPECT_EQ(forced.with_unaligned_supported(), options);
  }
  const CheckpointOptions aligned;
  EXPECT_EQ(aligned.with_unaligned_unsupported(), aligned);
  EXPECT_EQ(aligned.with_unaligned_supported(), aligned);
}

}  // namespace
}  // namespace tailrace::engine
