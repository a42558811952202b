// The writer of buffers in flight, which subtasks of a job share (spec barriers.md 5.6).
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/network/big_endian.hpp"
#include "engine/network/unpooled_segment.hpp"
#include "engine/task/f120/channel_state_writer_impl.hpp"
#include "engine/task/f120/sequential_channel_state_reader.hpp"

namespace tailrace::engine {
namespace {

using f120::ChannelStateWriterImpl;
using f120::SequentialChannelStateReader;

// A store to which a byte takes a microsecond, and that keeps what it is given.
class World final : public Timers, public BlobStore {
 public:
  World() {
    ports.timers = this;
    ports.blobs = this;
  }
  TimerId schedule(Duration delay, Callback callback) override {
    events_.emplace(std::pair{now + delay, ++last_}, std::move(callback));
    return TimerId{last_};
  }
  void cancel(TimerId) override {}
  void put(std::string path, std::vector<std::byte> bytes,
           base::InplaceFunction<void(PutStatus)> done) override {
    put_rest(std::move(path), std::move(bytes), 0, std::move(done));
  }
  bool write_ahead(std::int64_t bytes, base::InplaceFunction<void(PutStatus)> done) override {
    answer(bytes, std::move(done));
    return true;
  }
  void put_rest(std::string path, std::vector<std::byte> bytes, std::int64_t ahead,
                base::InplaceFunction<void(PutStatus)> done) override {
    const auto left = static_cast<std::int64_t>(bytes.size()) - ahead;
    if (works) files[path] = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    answer(left, std::move(done));
  }
  void get(const std::string&, base::InplaceFunction<void(Blob)>) override { FAIL(); }
  void get_range(const std::string& path, std::int64_t offset, std::int64_t length,
                 base::InplaceFunction<void(Blob)> done) override {
    const auto found = files.find(path);
    Blob part;
    if (found != files.end()) {
      const auto begin = found->second->begin() + offset;
      part = std::make_shared<const std::vector<std::byte>>(begin, begin + length);
    }
    schedule({}, [part, done = std::make_unique<base::InplaceFunction<void(Blob)>>(
                            std::move(done))] { (*done)(part); });
  }
  void remove(const std::string& path) override { files.erase(path); }
  void remove_directory(const std::string&) override {}

  void run_until(Duration end) {
    while (!events_.empty() && events_.begin()->first.first <= Time{} + end) {
      auto node = events_.extract(events_.begin());
      now = node.key().first;
      node.mapped()();
    }
    now = Time{} + end;
  }
  void run() { run_until(Duration::seconds(1000)); }

  Ports ports;
  Time now;
  bool works = true;
  std::map<std::string, Blob> files;

 private:
  void answer(std::int64_t bytes, base::InplaceFunction<void(PutStatus)> done) {
    const PutStatus status = works ? PutStatus::kStored : PutStatus::kFailed;
    schedule(Duration{bytes * 1000},
             [status, done = std::make_unique<base::InplaceFunction<void(PutStatus)>>(
                          std::move(done))] { (*done)(status); });
  }

  std::uint64_t last_ = 0;
  std::map<std::pair<Time, std::uint64_t>, Callback> events_;
};

// Segments, and how many of them are home.
class Pool final : public BufferRecycler {
 public:
  Buffer buffer(std::size_t size, char fill) {
    auto& bytes = memory_.emplace_back(
        std::make_unique<std::vector<std::byte>>(size, static_cast<std::byte>(fill)));
    auto& segment = segments_.emplace_back(
        std::make_unique<NetworkBuffer>(bytes->data(), static_cast<std::uint32_t>(size)));
    segment->lend(*this);
    ++out;
    return Buffer(*segment, 0, static_cast<std::uint32_t>(size));
  }
  std::vector<Buffer> buffers(std::size_t size, char fill) {
    std::vector<Buffer> result;
    result.push_back(buffer(size, fill));
    return result;
  }
  void recycle(NetworkBuffer&) override { --out; }

  int out = 0;

 private:
  std::vector<std::unique_ptr<std::vector<std::byte>>> memory_;
  std::vector<std::unique_ptr<NetworkBuffer>> segments_;
};

class ChannelState : public ::testing::Test {
 protected:
  static constexpr std::int64_t kInline = 100;

  std::unique_ptr<ChannelStateWriterImpl> writer(std::int32_t subtask, std::int32_t most = 5) {
    const f120::ChannelStateSubtask self{0, subtask};
    return std::make_unique<ChannelStateWriterImpl>(
        self, factory.get_or_create(self, most, streams),
        [this](std::string cause) { failures.push_back(std::move(cause)); });
  }
  static CheckpointOptions unaligned() {
    CheckpointOptions options;
    options.alignment = AlignmentType::UNALIGNED;
    return options;
  }
  static std::shared_ptr<ChannelStateWriteResult> begin(ChannelStateWriterImpl& writer,
                                                        CheckpointId id) {
    writer.start(id, unaligned());
    return writer.take_write_result(id);
  }
  static void finish(ChannelStateWriterImpl& writer, CheckpointId id) {
    writer.finish_input(id);
    writer.finish_output(id);
  }

  Pool pool;
  World world;
  std::vector<std::string> failures;
  FsCheckpointStreamFactory streams{world.ports, "job", kInline, "v0-s0-a0", true};
  f120::ChannelStateWriteRequestExecutorFactory factory{world.ports};
};

TEST_F(ChannelState, ResultsOfAllSubtasksCompleteTogetherWhenTheSlowestHasFinished) {
  auto first = writer(0);
  auto second = writer(1);
  const auto one = begin(*first, 7);
  first->add_input_data(7, {0, 2}, -1, pool.buffers(5000, 'a'));
  finish(*first, 7);
  world.run_until(Duration::seconds(1));
  EXPECT_FALSE(one->is_done());  // the other has not even begun

  const auto two = begin(*second, 7);
  second->add_output_data(7, {1, 3}, -1, pool.buffers(6000, 'b'));
  second->finish_input(7);
  world.run_until(Duration::seconds(2));
  EXPECT_FALSE(one->is_done());
  second->finish_output(7);
  world.run();
  ASSERT_TRUE(one->is_done() && two->is_done());

  const auto inputs = one->take_handles().input_channels;
  const auto outputs = two->take_handles().result_subpartitions;
  ASSERT_EQ(inputs.size(), 1U);
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_EQ(inputs[0].info, (InputChannelInfo{0, 2}));
  EXPECT_EQ(outputs[0].info, (ResultSubpartitionInfo{1, 3}));
  EXPECT_EQ(outputs[0].subtask, 1);
  EXPECT_TRUE(is_same_stream(*inputs[0].delegate, *outputs[0].delegate));
}

TEST_F(ChannelState, TheFileHasEveryBufferBehindItsLength) {
  auto only = writer(0);
  const auto result = begin(*only, 1);
  only->add_input_data(1, {0, 0}, -1, pool.buffers(150, 'a'));
  only->add_input_data(1, {0, 1}, -1, pool.buffers(30, 'b'));
  only->add_input_data(1, {0, 0}, -1, pool.buffers(70, 'c'));
  finish(*only, 1);
  world.run();
  const auto inputs = result->take_handles().input_channels;
  ASSERT_EQ(inputs.size(), 2U);
  EXPECT_EQ(inputs[0].offsets, (std::vector<std::int64_t>{4, 4 + 154 + 34}));
  EXPECT_EQ(inputs[0].size_bytes, 154 + 74);
  EXPECT_EQ(inputs[1].offsets, (std::vector<std::int64_t>{4 + 154}));
  EXPECT_EQ(inputs[1].size_bytes, 34);
  ASSERT_EQ(world.files.size(), 1U);
  const std::vector<std::byte>& file = *world.files.begin()->second;
  EXPECT_EQ(file.size(), 4U + 154 + 34 + 74);
  EXPECT_EQ(get_int32(file.data()), 0U);
  EXPECT_EQ(get_int32(file.data() + 4 + 154), 30U);
  EXPECT_EQ(file[4 + 154 + 4], std::byte{'b'});
}

TEST_F(ChannelState, SmallStateStaysInLineAndEveryChannelGetsItsOwn) {
  auto only = writer(0);
  const auto result = begin(*only, 1);
  only->add_input_data(1, {0, 0}, -1, pool.buffers(10, 'a'));
  only->add_output_data(1, {0, 0}, -1, pool.buffers(20, 'b'));
  only->add_input_data(1, {0, 0}, -1, pool.buffers(5, 'c'));
  finish(*only, 1);
  world.run();
  EXPECT_TRUE(world.files.empty());
  const auto handles = result->take_handles();
  EXPECT_EQ(handles.input_channels.at(0).offsets, (std::vector<std::int64_t>{4}));
  EXPECT_EQ(handles.input_channels.at(0).size_bytes, 4 + 4 + 15);
  EXPECT_EQ(handles.result_subpartitions.at(0).size_bytes, 4 + 4 + 20);
}

TEST_F(ChannelState, WithNothingToWriteThereIsNoFile) {
  auto only = writer(0);
  const auto result = begin(*only, 1);
  finish(*only, 1);
  world.run();
  ASSERT_TRUE(result->is_done());
  EXPECT_FALSE(result->failure());
  EXPECT_TRUE(result->take_handles().input_channels.empty());
  EXPECT_TRUE(world.files.empty());
}

TEST_F(ChannelState, ABufferStaysOutOfItsPoolUntilItIsWritten) {
  auto only = writer(0);
  const auto result = begin(*only, 1);
  std::vector<Buffer> data;
  data.push_back(pool.buffer(10'000, 'a'));
  data.push_back(pool.buffer(10'000, 'b'));
  only->add_output_data(1, {0, 0}, -1, std::move(data));
  world.run_until(Duration::millis(9));
  EXPECT_EQ(pool.out, 2);
  world.run_until(Duration::millis(11));
  EXPECT_EQ(pool.out, 1);
  world.run_until(Duration::millis(21));
  EXPECT_EQ(pool.out, 0);
  EXPECT_FALSE(result->is_done());
}

TEST_F(ChannelState, ARequestThatWaitsHoldsBackLaterOnesOfItsSubtaskAlone) {
  auto first = writer(0);
  auto second = writer(1);
  const auto one = begin(*first, 1);
  const auto two = begin(*second, 1);
  auto future = std::make_shared<ChannelStateDataFuture>();
  first->add_output_data_future(1, {0, 0}, -1, future);
  first->add_input_data(1, {0, 0}, -1, pool.buffers(200, 'a'));
  finish(*first, 1);
  second->add_input_data(1, {0, 0}, -1, pool.buffers(200, 'b'));
  finish(*second, 1);
  world.run_until(Duration::seconds(1));
  EXPECT_EQ(pool.out, 1);  // that of the first
  EXPECT_FALSE(two->is_done());

  future->complete(pool.buffers(300, 'c'));
  world.run();
  ASSERT_TRUE(one->is_done() && two->is_done());
  EXPECT_EQ(pool.out, 0);
  // What waited in front is in the file in front.
  const auto handles = one->take_handles();
  EXPECT_LT(handles.result_subpartitions.at(0).offsets.at(0),
            handles.input_channels.at(0).offsets.at(0));
}

TEST_F(ChannelState, AnAbortOvertakesAndFailsTheOthersWithTheirOwnReason) {
  auto first = writer(0);
  auto second = writer(1);
  const auto one = begin(*first, 1);
  const auto two = begin(*second, 1);
  auto never = std::make_shared<ChannelStateDataFuture>();
  first->add_output_data_future(1, {0, 0}, -1, never);
  second->add_input_data(1, {0, 0}, -1, pool.buffers(200, 'b'));
  world.run_until(Duration::seconds(1));
  first->abort(1);
  world.run_until(Duration::seconds(2));
  EXPECT_EQ(one->failure(), CheckpointFailureReason::CHECKPOINT_ASYNC_EXCEPTION);
  EXPECT_EQ(two->failure(), CheckpointFailureReason::CHANNEL_STATE_SHARED_STREAM_EXCEPTION);
  // What comes late is dropped.
  second->add_input_data(1, {0, 1}, -1, pool.buffers(200, 'c'));
  finish(*second, 1);
  world.run();
  EXPECT_EQ(pool.out, 0);
  EXPECT_TRUE(world.files.empty());
}

TEST_F(ChannelState, AnAbortBeforeTheStartFailsIt) {
  auto only = writer(0);
  only->abort(4);
  world.run_until(Duration::seconds(1));
  const auto late = begin(*only, 4);
  const auto older = begin(*only, 3);
  const auto newer = begin(*only, 5);
  finish(*only, 5);
  world.run();
  EXPECT_TRUE(late->failure());
  EXPECT_EQ(older->failure(), CheckpointFailureReason::CHECKPOINT_DECLINED_SUBSUMED);
  EXPECT_TRUE(newer->is_done());
  EXPECT_FALSE(newer->failure());
}

TEST_F(ChannelState, ANewerCheckpointFailsAnUnfinishedOlderOne) {
  auto only = writer(0);
  const auto older = begin(*only, 1);
  only->add_input_data(1, {0, 0}, -1, pool.buffers(200, 'a'));
  const auto newer = begin(*only, 2);
  finish(*only, 2);
  world.run();
  EXPECT_EQ(older->failure(), CheckpointFailureReason::CHECKPOINT_DECLINED_SUBSUMED);
  EXPECT_TRUE(newer->is_done());
  EXPECT_FALSE(newer->failure());
}

TEST_F(ChannelState, AStoreThatFailsFailsEveryResult) {
  auto first = writer(0);
  auto second = writer(1);
  const auto one = begin(*first, 1);
  const auto two = begin(*second, 1);
  world.works = false;
  first->add_input_data(1, {0, 0}, -1, pool.buffers(5000, 'a'));
  finish(*first, 1);
  finish(*second, 1);
  world.run();
  EXPECT_TRUE(one->failure());
  EXPECT_TRUE(two->failure());
  EXPECT_EQ(pool.out, 0);
}

// Flink: the check for a writer that is done throws in the thread, which ends; what is submitted
// later throws in the task.
TEST_F(ChannelState, WhoBeginsAfterTheFileHasFailedEndsTheThreadAndThenItsTasks) {
  auto first = writer(0);
  auto second = writer(1);
  const auto one = begin(*first, 1);
  world.works = false;
  first->add_input_data(1, {0, 0}, -1, pool.buffers(5000, 'a'));
  world.run();
  EXPECT_TRUE(one->failure());
  const auto two = begin(*second, 1);
  second->add_input_data(1, {0, 0}, -1, pool.buffers(10, 'b'));
  world.run();
  EXPECT_TRUE(two->failure());
  EXPECT_TRUE(failures.empty());
  const auto later = begin(*first, 2);
  second->finish_input(1);
  second->finish_output(1);
  EXPECT_TRUE(later->failure());
  EXPECT_EQ(failures, std::vector<std::string>(2, "unable to send request to worker"));
  EXPECT_EQ(pool.out, 0);
}

TEST_F(ChannelState, OnlySoManySubtasksShareAFile) {
  auto first = writer(0, 2);
  auto second = writer(1, 2);
  auto third = writer(2, 2);
  const auto one = begin(*first, 1);
  const auto two = begin(*second, 1);
  finish(*first, 1);
  finish(*second, 1);
  world.run();
  EXPECT_TRUE(one->is_done() && two->is_done());  // without the third
}

TEST_F(ChannelState, WhoComesAfterTheFirstCheckpointHasBegunGetsAnotherFile) {
  auto first = writer(0);
  const auto one = begin(*first, 1);
  world.run_until(Duration::seconds(1));
  auto second = writer(1);
  finish(*first, 1);
  world.run();
  EXPECT_TRUE(one->is_done());
}

TEST_F(ChannelState, NobodyWaitsForASubtaskThatHasGone) {
  auto first = writer(0);
  auto second = writer(1);
  world.run_until(Duration::seconds(1));
  const auto one = begin(*first, 1);
  finish(*first, 1);
  world.run_until(Duration::seconds(2));
  EXPECT_FALSE(one->is_done());
  second->close();
  world.run();
  EXPECT_TRUE(one->is_done());
  EXPECT_FALSE(one->failure());
}

TEST_F(ChannelState, WithTheLastSubtaskGoesWhatIsNotWritten) {
  auto only = writer(0);
  const auto result = begin(*only, 1);
  only->add_input_data(1, {0, 0}, -1, pool.buffers(50'000, 'a'));
  only->add_input_data(1, {0, 1}, -1, pool.buffers(50'000, 'b'));
  world.run_until(Duration::millis(10));
  only->close();
  EXPECT_EQ(pool.out, 0);
  world.run();
  EXPECT_TRUE(result->failure());
  EXPECT_TRUE(world.files.empty());
}

// --- reading -----------------------------------------------------------------------------------

TEST_F(ChannelState, IsReadBackPieceByPieceInTheOrderOfTheFile) {
  auto first = writer(0);
  auto second = writer(1);
  const auto one = begin(*first, 1);
  const auto two = begin(*second, 1);
  first->add_input_data(1, {0, 1}, -1, pool.buffers(5000, 'a'));
  second->add_input_data(1, {0, 0}, -1, pool.buffers(6000, 'b'));
  first->add_input_data(1, {0, 0}, -1, pool.buffers(7, 'c'));
  first->add_input_data(1, {0, 1}, -1, pool.buffers(8, 'd'));
  finish(*first, 1);
  finish(*second, 1);
  world.run();
  SequentialChannelStateReader reader(world.ports);
  std::string read;
  bool done = false;
  reader.read(
      one->take_handles().input_channels,
      [&read](const SequentialChannelStateReader::Piece& piece) {
        read += std::to_string(piece.inner) + static_cast<char>(piece.data.front()) +
                std::to_string(piece.data.size()) + ' ';
      },
      [&done](std::optional<std::string> error) { done = !error.has_value(); });
  world.run_until(Duration::seconds(2000));
  EXPECT_TRUE(done);
  EXPECT_EQ(read, "1a5000 0c7 1d8 ");
}

TEST_F(ChannelState, AChannelThatIsListedTwiceIsAnError) {
  InputChannelStateHandle handle{
      0, {0, 0}, {4}, 14, std::make_shared<const StreamStateHandle>(FileStateHandle{"file", 100})};
  SequentialChannelStateReader reader(world.ports);
  std::optional<std::string> problem;
  reader.read(
      std::vector{handle, handle}, [](const SequentialChannelStateReader::Piece&) {},
      [&problem](std::optional<std::string> error) { problem = std::move(error); });
  EXPECT_TRUE(problem.has_value());
}

TEST_F(ChannelState, AFileThatIsGoneIsAnError) {
  InputChannelStateHandle handle{
      0, {0, 0}, {4}, 14, std::make_shared<const StreamStateHandle>(FileStateHandle{"file", 100})};
  SequentialChannelStateReader reader(world.ports);
  std::optional<std::string> problem;
  reader.read(
      std::vector{handle}, [](const SequentialChannelStateReader::Piece&) {},
      [&problem](std::optional<std::string> error) { problem = std::move(error); });
  world.run();
  EXPECT_TRUE(problem.has_value());
}

}  // namespace
}  // namespace tailrace::engine
