// The channel of 1.10 to a producer in another process.
//
// Flink 1.10 RemoteInputChannel (spec barriers.md 6.4). What is required never falls below the
// exclusive buffers; a floating buffer that comes later is taken one by one.
#pragma once

#include <cstdint>
#include <string>

#include "engine/network/channel_buffers.hpp"
#include "engine/network/local_buffer_pool.hpp"
#include "engine/network/partition_request_client.hpp"
#include "engine/network/remote_input_channel.hpp"
#include "engine/network/ring_queue.hpp"

namespace tailrace::engine {

class RemoteInputChannel110 final : public RemoteInputChannel, public BufferListener {
 public:
  explicit RemoteInputChannel110(const Context& context) : RemoteInputChannel(context) {}
  ~RemoteInputChannel110() override;

  void assign_exclusive_segment(NetworkBuffer& segment) override;

  void request_subpartition() override;
  std::optional<BufferAndAvailability> get_next_buffer() override;
  void resume_consumption() override;
  void acknowledge_all_records_processed() override;
  void release_all_resources() override;
  [[nodiscard]] std::int64_t queued_bytes() const override { return received_bytes_; }
  [[nodiscard]] std::int32_t queued_buffers() const override {
    return static_cast<std::int32_t>(received_.size());
  }

  void on_buffer_response(const BufferResponse& response) override;
  void on_sender_backlog(std::int32_t backlog) override;
  void on_failed_partition_request() override;
  void on_error(const std::string& reason) override;

  // The last reference to an exclusive segment is gone.
  void recycle(NetworkBuffer& segment) override;
  Answer notify_buffer_available(NetworkBuffer& segment) override;

  [[nodiscard]] std::int32_t initial_credit() const override { return initial_credit_; }
  [[nodiscard]] std::int32_t available_buffers() const override { return buffers_.available(); }
  [[nodiscard]] std::int32_t required_buffers() const override { return required_; }
  [[nodiscard]] std::int32_t floating_available() const override { return buffers_.floating(); }
  [[nodiscard]] std::int32_t exclusive_available() const override {
    return buffers_.free_exclusive();
  }
  [[nodiscard]] bool is_waiting_for_floating() const override { return waiting_for_floating_; }
  [[nodiscard]] bool is_released() const override { return released_; }
  NetworkBuffer* request_buffer() override;

 private:
  void gain_credit(std::int32_t credit);

  ChannelBuffers buffers_;
  PartitionRequestClient* client_ = nullptr;
  std::uint32_t data_number_ = 0;
  RingQueue<NetworkItem> received_;
  std::int64_t received_bytes_ = 0;
  base::Duration backoff_{};
  std::int32_t initial_credit_ = 0;
  std::int32_t required_ = 0;
  std::int32_t expected_sequence_number_ = 0;
  bool waiting_for_floating_ = false;
  bool released_ = false;
};

}  // namespace tailrace::engine
