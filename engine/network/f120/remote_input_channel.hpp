// The channel of 1.20 to a producer in another process.
//
// Flink 1.20 RemoteInputChannel (spec barriers.md 5.7, 6.4). Priority events stand in front of the
// queue; a barrier that may time out is announced there and keeps its own place. Knows which of its
// buffers an unaligned checkpoint must keep.
// An error fails this channel only: the task learns of it when the channel's turn comes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/network/channel_state_persister.hpp"
#include "engine/network/f120/buffer_manager.hpp"
#include "engine/network/partition_request_client.hpp"
#include "engine/network/prioritized_deque.hpp"
#include "engine/network/remote_input_channel.hpp"

namespace tailrace::engine {

class RemoteInputChannel120 final : public RemoteInputChannel, private BufferManager120 {
 public:
  explicit RemoteInputChannel120(const Context& context) : RemoteInputChannel(context) {}
  ~RemoteInputChannel120() override;

  void assign_exclusive_segment(NetworkBuffer& segment) override;

  void request_subpartition() override;
  std::optional<BufferAndAvailability> get_next_buffer() override;
  void resume_consumption() override;
  void acknowledge_all_records_processed() override;
  void release_all_resources() override;
  [[nodiscard]] bool is_released() const override { return released_; }

  [[nodiscard]] std::optional<CheckpointFailureReason> checkpoint_started(
      const CheckpointBarrier& barrier) override;
  void checkpoint_stopped(CheckpointId id) override;
  // Requires: the barrier is queued, has been counted and is the last one; its announcement has been
  // polled.
  void convert_to_priority_event(std::int32_t sequence_number) override;
  void announce_buffer_size(std::int32_t bytes) override;

  [[nodiscard]] std::int32_t buffers_in_use() const override;
  [[nodiscard]] std::int64_t queued_bytes() const override { return received_bytes_; }
  [[nodiscard]] std::int32_t queued_buffers() const override {
    return static_cast<std::int32_t>(received_.size());
  }

  void on_buffer_response(const BufferResponse& response) override;
  void on_sender_backlog(std::int32_t backlog) override;
  void on_failed_partition_request() override;
  void on_error(const std::string& reason) override;

  [[nodiscard]] std::int32_t initial_credit() const override { return initial_credit_; }
  [[nodiscard]] std::int32_t available_buffers() const override { return buffers().available(); }
  [[nodiscard]] std::int32_t required_buffers() const override { return required(); }
  [[nodiscard]] std::int32_t floating_available() const override { return buffers().floating(); }
  [[nodiscard]] std::int32_t exclusive_available() const override {
    return buffers().free_exclusive();
  }
  [[nodiscard]] bool is_waiting_for_floating() const override { return waits_for_floating(); }
  NetworkBuffer* request_buffer() override { return take_buffer(); }

  // Data that has arrived and belongs to the unaligned checkpoint whose barrier is the last one
  // seen, or to the next one if none has been seen.
  [[nodiscard]] std::vector<Buffer> inflight_buffers() const;
  // What the next item must have; for a sender that does not start at 0.
  void set_expected_sequence_number(std::int32_t number) { expected_sequence_number_ = number; }

 private:
  struct SequenceBuffer {
    NetworkItem item;
    std::int32_t sequence_number = 0;
  };

  [[nodiscard]] NetworkBufferPool& global_buffers() override;
  [[nodiscard]] LocalBufferPool* floating_buffers() override;
  void on_buffers_gained(std::int32_t count) override;

  // Whether it is the number that is due; if not, the channel fails.
  bool is_in_order(std::int32_t sequence_number);
  void receive(NetworkItem item, std::int32_t sequence_number, std::int32_t backlog);
  // Returns: whether it is the only priority item.
  bool add_priority_buffer(SequenceBuffer buffer);
  void check_for_barrier(const RuntimeEvent& event, std::int32_t sequence_number);
  [[nodiscard]] bool should_be_spilled(std::int32_t sequence_number) const;
  void reset_last_barrier();

  bool released_ = false;
  PartitionRequestClient* client_ = nullptr;
  PrioritizedDeque<SequenceBuffer> received_;
  std::int64_t received_bytes_ = 0;
  ChannelStatePersister persister_;
  CheckpointId last_barrier_id_ = kNoCheckpoint;
  std::uint32_t data_number_ = 0;
  // As in Flink, -1 is also a number that a barrier may have: then all data counts as before it.
  std::int32_t last_barrier_sequence_number_ = -1;
  std::int32_t expected_sequence_number_ = 0;
  std::int32_t initial_credit_ = 0;
  base::Duration waited_for_partition_{};
  std::unique_ptr<const std::string> error_;  // null: none
};

}  // namespace tailrace::engine
