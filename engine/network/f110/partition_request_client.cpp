#include "engine/network/f110/partition_request_client.hpp"

#include <utility>

#include "engine/network/f110/remote_input_channel.hpp"

namespace tailrace::engine {

void PartitionRequestClient::add_channel(RemoteInputChannel& channel) {
  channels_.emplace(channel.id(), &channel);
}

void PartitionRequestClient::request_subpartition(const RemoteInputChannel& channel) {
  if (closed_) return;
  sink_.send(make_partition_request(
                 pool_, {channel.descriptor().partition, channel.descriptor().subpartition,
                         channel.id(), channel.initial_credit()}),
             false);
}

void PartitionRequestClient::notify_credit_available(const RemoteInputChannel& channel) {
  with_credit_.push_back(channel.id());
  announce_next();
}

void PartitionRequestClient::announce_next() {
  while (!closed_ && !writing_ && sink_.is_writable() && !with_credit_.empty()) {
    const auto found = channels_.find(with_credit_.pop_front());
    if (found == channels_.end()) continue;
    RemoteInputChannel& channel = *found->second;
    writing_ = true;
    sink_.send(make_add_credit(pool_, {channel.descriptor().partition,
                                       channel.take_unannounced_credit(), channel.id()}),
               true);
  }
}

void PartitionRequestClient::on_written() {
  writing_ = false;
  announce_next();
}

bool PartitionRequestClient::close(const RemoteInputChannel& channel) {
  channels_.erase(channel.id());
  if (!closed_) {
    sink_.send(channels_.empty() ? make_close_request(pool_)
                                 : make_cancel_partition_request(pool_, channel.id()),
               false);
  }
  return channels_.empty();
}

void PartitionRequestClient::receive(const WireMessage& message) {
  if (kind_of(message) == MessageKind::kErrorResponse) {
    const auto found = channels_.find(parse_partition_not_found(message).receiver);
    if (found != channels_.end()) found->second->on_failed_partition_request();
    return;
  }
  const BufferResponse response = parse_buffer_response(message);
  const auto found = channels_.find(response.receiver);
  // A channel that is gone has told the server so; this was on its way then.
  if (found != channels_.end()) found->second->on_buffer_response(response);
}

void PartitionRequestClient::on_connection_closed(const std::string& reason) {
  closed_ = true;
  for (const auto& [id, channel] : channels_) channel->on_error(reason);
}

}  // namespace tailrace::engine
