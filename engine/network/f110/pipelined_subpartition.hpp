// One queue from a producer subtask to one of its consumers.
//
// Flink 1.10 and 1.20 PipelinedSubpartition, PipelinedSubpartitionView (spec barriers.md 6.2, 6.3);
// in 1.20 an event may block it until its consumer resumes it. The writer appends open buffers and goes on filling them while they sit in the queue.
// Invariant: only the last item may be open.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "engine/network/buffer_consumer.hpp"
#include "engine/network/ring_queue.hpp"

namespace tailrace::engine {

class PipelinedSubpartition;

// Flink BufferAvailabilityListener: the reader at the end of a subpartition.
class BufferAvailabilityListener {
 public:
  virtual void notify_data_available() = 0;

 protected:
  ~BufferAvailabilityListener() = default;
};

// Flink ResultSubpartition.BufferAndBacklog.
struct BufferAndBacklog {
  NetworkItem item;
  bool more_available = false;
  std::int32_t backlog = 0;
  bool next_is_event = false;
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
  [[nodiscard]] bool next_buffer_is_event() const;
  // Events included.
  [[nodiscard]] std::int32_t queued_buffers() const;
  // 1.20. Requires: blocked, if the producer is still there.
  void resume_consumption();
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
  // `owner` may be null. `event_completes_backlog`: NetworkSemantics.
  explicit PipelinedSubpartition(SubpartitionOwner* owner, bool event_completes_backlog = false)
      : owner_(owner), event_completes_backlog_(event_completes_backlog) {}
  ~PipelinedSubpartition() { release(); }
  PipelinedSubpartition(const PipelinedSubpartition&) = delete;
  PipelinedSubpartition& operator=(const PipelinedSubpartition&) = delete;

  // Appends. Returns: whether the reader must be told; the caller does so at its own time
  // (`notify_data_available`). A finished or released subpartition drops the item.
  [[nodiscard]] bool add(BufferConsumer consumer, bool finish = false);
  // Returns: as `add`.
  [[nodiscard]] bool flush();
  void notify_data_available();

  // Requires: not released, no view yet. Signals at once if there is anything.
  std::unique_ptr<ResultSubpartitionView> create_read_view(BufferAvailabilityListener& listener);
  // Drops what is queued and parts from the reader.
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

  // Unread bytes, events included; walks the queue.
  [[nodiscard]] std::int64_t queued_bytes() const;
  [[nodiscard]] const RingQueue<BufferConsumer>& queue() const { return buffers_; }

 private:
  friend class ResultSubpartitionView;
  [[nodiscard]] std::size_t known_finished_buffers() const;
  void on_view_released();

  SubpartitionOwner* owner_;
  bool event_completes_backlog_;
  RingQueue<BufferConsumer> buffers_;
  std::int32_t data_buffers_ = 0;
  bool flush_requested_ = false;
  bool blocked_ = false;  // behind an event that blocks
  bool finished_ = false;
  bool released_ = false;
  ResultSubpartitionView* view_ = nullptr;
  BufferAvailabilityListener* listener_ = nullptr;
};

}  // namespace tailrace::engine
