// A channel whose producer runs in another process.
//
// Flink 1.10 RemoteInputChannel (spec barriers.md 6.4). Has exclusive buffers of its own and takes
// floating ones from the gate's pool as far as the sender's backlog asks for them; every buffer
// gained is announced to the sender as one credit.
// Invariant: credit at the sender + announcements under way + unannounced + data messages under way
// = available buffers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/network/f110/netty_message.hpp"
#include "engine/network/input_channel.hpp"
#include "engine/network/local_buffer_pool.hpp"
#include "engine/network/network_buffer_pool.hpp"
#include "engine/network/partition_request_client.hpp"
#include "engine/network/ring_queue.hpp"

namespace tailrace::engine {

class SingleInputGate;

class RemoteInputChannel final : public InputChannel, public BufferRecycler, public BufferListener {
 public:
  RemoteInputChannel(SingleInputGate& gate, ChannelIndex index,
                     const InputChannelDescriptor& descriptor, const NetworkConfig& config,
                     InputChannelId id, NetworkBufferPool& global, ConnectionManager& connections);
  ~RemoteInputChannel() override;

  // Adds an exclusive segment that was guaranteed before. Before the request only.
  void assign_exclusive_segment(NetworkBuffer& segment);

  void request_subpartition() override;
  std::optional<BufferAndAvailability> get_next_buffer() override;
  void resume_consumption() override;
  void acknowledge_all_records_processed() override;
  void release_all_resources() override;
  [[nodiscard]] std::int64_t queued_bytes() const override { return received_bytes_; }
  [[nodiscard]] std::int32_t queued_buffers() const override {
    return static_cast<std::int32_t>(received_.size());
  }

  [[nodiscard]] BufferUsage buffer_usage() const override {
    return {initial_credit_, exclusive_available(), floating_available(), queued_buffers()};
  }

  // From the client.
  void on_buffer_response(const BufferResponse& response);
  void on_failed_partition_request();
  void on_error(const std::string& reason);
  std::int32_t take_unannounced_credit() { return std::exchange(unannounced_credit_, 0); }

  // The last reference to an exclusive segment is gone.
  void recycle(NetworkBuffer& segment) override;
  Answer notify_buffer_available(NetworkBuffer& segment) override;

  // Raises what is required to what the sender has queued.
  void on_sender_backlog(std::int32_t backlog);

  [[nodiscard]] InputChannelId id() const { return id_; }
  [[nodiscard]] std::int32_t initial_credit() const { return initial_credit_; }
  [[nodiscard]] std::int32_t available_buffers() const {
    return static_cast<std::int32_t>(exclusive_.size() + floating_.size());
  }
  [[nodiscard]] std::int32_t required_buffers() const { return required_; }
  [[nodiscard]] std::int32_t floating_available() const {
    return static_cast<std::int32_t>(floating_.size());
  }
  [[nodiscard]] std::int32_t exclusive_available() const {
    return static_cast<std::int32_t>(exclusive_.size());
  }
  [[nodiscard]] std::int32_t unannounced_credit() const { return unannounced_credit_; }
  [[nodiscard]] bool is_waiting_for_floating() const { return waiting_for_floating_; }
  [[nodiscard]] bool is_released() const { return released_; }

  // Takes one as a data message would: floating first. Null: none.
  NetworkBuffer* request_buffer();

 private:
  void gain_credit(std::int32_t credit);

  SingleInputGate& gate_;
  InputChannelId id_;
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
  RingQueue<NetworkItem> received_;
  std::int64_t received_bytes_ = 0;
};

}  // namespace tailrace::engine
