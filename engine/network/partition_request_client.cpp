#include "engine/network/partition_request_client.hpp"

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
  enqueue(MessageKind::kAddCredit, channel);
}

void PartitionRequestClient::resume_consumption(const RemoteInputChannel& channel) {
  enqueue(MessageKind::kResumeConsumption, channel);
}

void PartitionRequestClient::acknowledge_all_records_processed(const RemoteInputChannel& channel) {
  enqueue(MessageKind::kAckAllUserRecordsProcessed, channel);
}

void PartitionRequestClient::enqueue(MessageKind kind, const RemoteInputChannel& channel) {
  outbound_.push_back({kind, channel.id()});
  write_next();
}

void PartitionRequestClient::write_next() {
  while (!closed_ && !writing_ && sink_.is_writable() && !outbound_.empty()) {
    const Outbound next = outbound_.pop_front();
    const auto found = channels_.find(next.channel);
    if (found == channels_.end()) continue;
    writing_ = true;
    sink_.send(make(next.kind, *found->second), true);
  }
}

WireMessageHandle PartitionRequestClient::make(MessageKind kind, RemoteInputChannel& channel) {
  switch (kind) {
    case MessageKind::kResumeConsumption:
      return make_resume_consumption(pool_, channel.id());
    case MessageKind::kAckAllUserRecordsProcessed:
      return make_ack_all_user_records_processed(pool_, channel.id());
    default:
      return make_add_credit(
          pool_, {channel.descriptor().partition, channel.take_unannounced_credit(), channel.id()});
  }
}

void PartitionRequestClient::on_written() {
  writing_ = false;
  write_next();
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
