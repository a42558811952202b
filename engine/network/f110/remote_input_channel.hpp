// The channel of 1.10 to a producer in another process.
//
// Flink 1.10 RemoteInputChannel (spec barriers.md 6.4). What is required never falls below the
// exclusive buffers; a floating buffer that comes later is taken one by one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/network/local_buffer_pool.hpp"
#include "engine/network/network_buffer_pool.hpp"
#include "engine/network/partition_request_client.hpp"
#include "engine/network/remote_input_channel.hpp"
#include "engine/network/ring_queue.hpp"

namespace tailrace::engine {

class RemoteInputChannel110 final : public RemoteInputChannel,
                                    public BufferRecycler,
                                    public BufferListener {
 public:
  explicit RemoteInputChannel110(const Context& context);
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
  std::int32_t take_unannounced_credit() override { return std::exchange(unannounced_credit_, 0); }

  // The last reference to an exclusive segment is gone.
  void recycle(NetworkBuffer& segment) override;
  Answer notify_buffer_available(NetworkBuffer& segment) override;

  [[nodiscard]] std::int32_t initial_credit() const override { return initial_credit_; }
  [[nodiscard]] std::int32_t available_buffers() const override {
    return static_cast<std::int32_t>(exclusive_.size() + floating_.size());
  }
  [[nodiscard]] std::int32_t required_buffers() const override { return required_; }
  [[nodiscard]] std::int32_t floating_available() const override {
    return static_cast<std::int32_t>(floating_.size());
  }
  [[nodiscard]] std::int32_t exclusive_available() const override {
    return static_cast<std::int32_t>(exclusive_.size());
  }
  [[nodiscard]] std::int32_t unannounced_credit() const override { return unannounced_credit_; }
  [[nodiscard]] bool is_waiting_for_floating() const override { return waiting_for_floating_; }
  [[nodiscard]] bool is_released() const override { return released_; }
  NetworkBuffer* request_buffer() override;

 private:
  void gain_credit(std::int32_t credit);

  SingleInputGate& gate_;
  NetworkBufferPool& global_;
  ConnectionManager& connections_;
  PartitionRequestClient* client_ = nullptr;

  std::vector<NetworkBuffer*> own_;        // every exclusive segment, wherever it is
  std::vector<NetworkBuffer*> exclusive_;  // available
  std::vector<NetworkBuffer*> floating_;   // available
  std::int32_t initial_credit_ = 0;
  std::int32_t required_ = 0;
  std::int32_t unannounced_credit_ = 0;
  bool waiting_for_floating_ = false;
  bool released_ = false;
  std::int32_t expected_sequence_number_ = 0;
  std::uint64_t data_buffers_received_ = 0;
  RingQueue<NetworkItem> received_;
  std::int64_t received_bytes_ = 0;
};

}  // namespace tailrace::engine
