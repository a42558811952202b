// One queue from a producer subtask to one of its consumers.
//
// Flink 1.10 and 1.20 PipelinedSubpartition, PipelinedSubpartitionView (spec barriers.md 5.8, 6.2,
// 6.3). The writer appends open buffers and goes on filling them while they sit in the queue. In
// 1.20 an event may block the queue until its consumer resumes it, and a priority event overtakes
// what is queued; the data that a barrier overtakes goes to the channel state.
//
// Invariants
//   S1  Only the last item may be open.
//   S2  The future of a barrier that may time out is open only while that barrier is queued, unless
//       its checkpoint was aborted.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "engine/network/buffer_consumer.hpp"
#include "engine/network/channel_cut.hpp"
#include "engine/network/channel_state_writer.hpp"
#include "engine/network/network_semantics.hpp"
#include "engine/network/prioritized_deque.hpp"

namespace tailrace::engine {

class PipelinedSubpartition;

// Flink BufferAvailabilityListener: the reader at the end of a subpartition.
class BufferAvailabilityListener {
 public:
  virtual void notify_data_available() = 0;
  // 1.20: the item with that sequence number overtakes what is queued.
  virtual void notify_priority_event(std::int32_t /*sequence_number*/) {}

 protected:
  ~BufferAvailabilityListener() = default;
};

// Flink ResultSubpartition.BufferAndBacklog.
struct BufferAndBacklog {
  NetworkItem item;
  bool more_available = false;
  std::int32_t backlog = 0;
  // Of what would be handed out next if it could be; kNone: nothing is queued, or blocked.
  DataType next = DataType::kNone;
  std::int32_t sequence_number = 0;  // 1.20; 1.10 counts at the connection

  [[nodiscard]] bool next_is_event() const { return is_event(next); }
};

// The reader's hold on a subpartition; destroying it counts as having consumed everything.
class ResultSubpartitionView {
 public:
  explicit ResultSubpartitionView(PipelinedSubpartition& parent) : parent_(&parent) {}
  ~ResultSubpartitionView();
  ResultSubpartitionView(const ResultSubpartitionView&) = delete;
  ResultSubpartitionView& operator=(const ResultSubpartitionView&) = delete;

  std::optional<BufferAndBacklog> get_next_buffer();
  [[nodiscard]] bool is_available() const;
  // Events need no credit; true also of one that is blocked.
  [[nodiscard]] bool next_buffer_is_event() const;
  // Flink 1.20 AvailabilityWithBacklog.
  struct AvailabilityWithBacklog {
    bool available = false;
    std::int32_t backlog = 0;
  };
  [[nodiscard]] AvailabilityWithBacklog availability_and_backlog(bool has_credit) const;
  // Items of any kind.
  [[nodiscard]] std::int32_t queued_buffers() const;
  // 1.20. Requires: blocked, if the producer is still there.
  void resume_consumption();
  // 1.20: the consumer wants buffers of that many bytes from now on. Requires: not negative.
  void notify_new_buffer_size(std::int32_t bytes);
  // 1.20: all records have been processed.
  void acknowledge_all_data_processed();
  // The producer has dropped the subpartition.
  [[nodiscard]] bool is_released() const { return parent_ == nullptr; }

 private:
  friend class PipelinedSubpartition;
  PipelinedSubpartition* parent_;
};

// Told when a reader has left: Flink ResultPartition.onConsumedSubpartition.
class SubpartitionOwner {
 public:
  virtual void on_consumed_subpartition() = 0;
  // Its consumer has processed every record: Flink 1.20 onSubpartitionAllDataProcessed.
  virtual void on_subpartition_all_data_processed() {}

 protected:
  ~SubpartitionOwner() = default;
};

class PipelinedSubpartition {
 public:
  // What `desired_buffer_size` says before anybody has asked, and when nothing is taken any more.
  static constexpr std::int32_t kUnlimitedBufferSize = std::numeric_limits<std::int32_t>::max();
  static constexpr std::int32_t kAddBufferError = -1;

  // `owner` may be null. `receiver_exclusive_buffers`: of each of the consumer's channels; with 0 of
  // them a finished buffer without unread bytes is handed out too, so that its credit is freed.
  explicit PipelinedSubpartition(SubpartitionOwner* owner,
                                 const NetworkSemantics& semantics = network_semantics_110(),
                                 ResultSubpartitionInfo info = {},
                                 std::int32_t receiver_exclusive_buffers = 2)
      : owner_(owner),
        semantics_(semantics),
        info_(info),
        receiver_exclusive_buffers_(receiver_exclusive_buffers) {
    TAILRACE_ASSERT(receiver_exclusive_buffers >= 0);
  }
  ~PipelinedSubpartition() { release(); }
  PipelinedSubpartition(const PipelinedSubpartition&) = delete;
  PipelinedSubpartition& operator=(const PipelinedSubpartition&) = delete;

  // Where overtaken data goes; outlives the subpartition's use of it. Without one it goes nowhere.
  void set_channel_state_writer(ChannelStateWriter& writer) { channel_state_ = &writer; }

  // Appends, a priority event behind the earlier ones of its kind. Returns: whether the reader must
  // be told; the caller does so at its own time (`notify_data_available`). A finished or released
  // subpartition drops the item.
  [[nodiscard]] bool add(BufferConsumer consumer, bool finish = false);
  // Returns: as `add`.
  [[nodiscard]] bool flush();
  // Tells the reader what `add`, `flush` and `aligned_barrier_timeout` have left to tell: first that
  // there is a priority event, then that there is data.
  void notify_data_available();

  // Requires: not released, no view yet. In 1.10 signals at once if there is anything.
  std::unique_ptr<ResultSubpartitionView> create_read_view(BufferAvailabilityListener& listener);
  // Drops what is queued, fails an open future and parts from the reader.
  void release();

  std::optional<BufferAndBacklog> poll_buffer();
  [[nodiscard]] bool is_available() const {
    return !blocked_ && (flush_requested_ || known_finished_buffers() > 0);
  }
  [[nodiscard]] bool next_buffer_is_event() const {
    return !buffers_.empty() && !buffers_.front().is_buffer();
  }
  // As reported to the receiver, not simply the length of the queue.
  [[nodiscard]] std::int32_t buffers_in_backlog() const;
  [[nodiscard]] bool is_released() const { return released_; }
  [[nodiscard]] bool is_blocked() const { return blocked_; }
  // Requires: is_blocked().
  void resume_consumption();
  [[nodiscard]] bool has_view() const { return view_ != nullptr; }

  // The barrier of that checkpoint, if it is still queued and open, becomes a priority event, and
  // its future gets the data in front of it. Returns: as `add`.
  [[nodiscard]] bool aligned_barrier_timeout(CheckpointId id);
  // Fails the open future of that checkpoint.
  void abort_checkpoint(CheckpointId id);

  // Buffer debloating. Requires: not negative. 0: whole segments.
  void set_buffer_size(std::int32_t bytes);
  // What an append would be answered: the size that new buffers should have, or kAddBufferError.
  [[nodiscard]] std::int32_t desired_buffer_size() const {
    return finished_ || released_ ? kAddBufferError : buffer_size_;
  }

  // Unread bytes, events included; walks the queue.
  [[nodiscard]] std::int64_t queued_bytes() const;
  [[nodiscard]] const PrioritizedDeque<BufferConsumer>& queue() const { return buffers_; }
  // Of the last barrier that was appended.
  [[nodiscard]] const SubpartitionCut& last_cut() const { return cut_; }
  [[nodiscard]] std::int64_t data_bytes_handed_out() const { return data_bytes_out_; }

 private:
  friend class ResultSubpartitionView;
  [[nodiscard]] std::size_t known_finished_buffers() const;
  [[nodiscard]] bool must_tell() const { return pending_data_ || pending_priority_.has_value(); }
  // Returns: the barrier that the event is, if it is one.
  [[nodiscard]] std::optional<CheckpointBarrier> barrier_of(const BufferConsumer& event) const;
  void on_barrier(const BufferConsumer& event);
  void note_priority_event();
  [[nodiscard]] std::vector<Buffer> unread_data(std::size_t begin, std::size_t end) const;
  void finish_future(bool failed, std::vector<Buffer> data = {});
  void on_view_released();

  SubpartitionOwner* owner_;
  const NetworkSemantics& semantics_;
  ResultSubpartitionInfo info_;
  std::int32_t receiver_exclusive_buffers_;
  ChannelStateWriter* channel_state_ = nullptr;
  PrioritizedDeque<BufferConsumer> buffers_;
  std::int32_t data_buffers_ = 0;
  std::int32_t sequence_number_ = 0;
  std::int32_t buffer_size_ = kUnlimitedBufferSize;
  bool flush_requested_ = false;
  bool blocked_ = false;  // behind an event that blocks
  bool finished_ = false;
  bool released_ = false;
  bool pending_data_ = false;                     // a signal that is still to be given
  std::optional<std::int32_t> pending_priority_;  // likewise, with its sequence number
  std::shared_ptr<ChannelStateDataFuture> future_;
  CheckpointId future_checkpoint_ = kNoCheckpoint;
  SubpartitionCut cut_;
  std::int64_t data_bytes_out_ = 0;
  std::uint32_t data_number_ = 0;
  ResultSubpartitionView* view_ = nullptr;
  BufferAvailabilityListener* listener_ = nullptr;
};

}  // namespace tailrace::engine
