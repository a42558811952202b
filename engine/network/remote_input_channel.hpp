// A channel whose producer runs in another process.
//
// What gates and connections see of Flink's RemoteInputChannel (spec barriers.md 6.4); the two
// generations are f110/RemoteInputChannel110 and f120/RemoteInputChannel120. It has exclusive
// buffers of its own and takes floating ones from the gate's pool as far as the sender's backlog
// asks for them; every buffer gained is announced to the sender as one credit.
// Invariant R1: credit at the sender + announcements under way + unannounced + data messages under
// way = available buffers (1.20 without exclusive buffers: not between the arrival of an event that
// blocks and the resume).
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "engine/network/input_channel.hpp"
#include "engine/network/netty_message.hpp"
#include "engine/network/remote_channel_context.hpp"

namespace tailrace::engine {

class RemoteInputChannel : public InputChannel {
 public:
  using Context = RemoteChannelContext;

  // Adds an exclusive segment that was guaranteed before. Before the request only.
  virtual void assign_exclusive_segment(NetworkBuffer& segment) = 0;

  // From the client.
  virtual void on_buffer_response(const BufferResponse& response) = 0;
  // Raises what is required to what the sender has queued.
  virtual void on_sender_backlog(std::int32_t backlog) = 0;
  virtual void on_failed_partition_request() = 0;
  virtual void on_error(const std::string& reason) = 0;
  std::int32_t take_unannounced_credit() { return std::exchange(unannounced_credit_, 0); }

  [[nodiscard]] InputChannelId id() const { return id_; }
  // Exclusive buffers, which the request announces.
  [[nodiscard]] virtual std::int32_t initial_credit() const = 0;
  [[nodiscard]] virtual std::int32_t available_buffers() const = 0;
  [[nodiscard]] virtual std::int32_t required_buffers() const = 0;
  [[nodiscard]] virtual std::int32_t floating_available() const = 0;
  [[nodiscard]] virtual std::int32_t exclusive_available() const = 0;
  [[nodiscard]] std::int32_t unannounced_credit() const { return unannounced_credit_; }
  [[nodiscard]] virtual bool is_waiting_for_floating() const = 0;

  [[nodiscard]] BufferUsage buffer_usage() const final {
    return {initial_credit(), exclusive_available(), floating_available(), queued_buffers()};
  }

  // Takes one as a data message would: floating first. Null: none.
  virtual NetworkBuffer* request_buffer() = 0;

 protected:
  explicit RemoteInputChannel(const Context& context)
      : InputChannel(context.gate, context.index, context.descriptor), id_(context.id) {}

  // The producer may send so many more than it has been told. Returns: whether it was 0, so that the
  // client is to be told.
  [[nodiscard]] bool gain_unannounced_credit(std::int32_t credit) {
    const bool was_announced = unannounced_credit_ == 0;
    unannounced_credit_ += credit;
    return was_announced;
  }

 private:
  std::int32_t unannounced_credit_ = 0;
  InputChannelId id_;
};

}  // namespace tailrace::engine
