#include "engine/network/partition_request_client.hpp"

#include <algorithm>
#include <utility>

#include "engine/network/remote_input_channel.hpp"

namespace tailrace::engine {

void PartitionRequestClient::add_channel(RemoteInputChannel& channel) {
  const auto place = place_of(channel.id());
  TAILRACE_ASSERT(place == channels_.end() || place->id != channel.id());
  channels_.insert(place, {channel.id(), &channel});  // ids grow: mostly at the end
}

void PartitionRequestClient::request_subpartition(const RemoteInputChannel& channel) {
  if (closed_) return;
  sink_.send(semantics_.wire.make_partition_request(
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

void PartitionRequestClient::notify_new_buffer_size(const RemoteInputChannel& channel,
                                                    std::int32_t bytes) {
  enqueue(MessageKind::kNewBufferSize, channel, bytes);
}

void PartitionRequestClient::enqueue(MessageKind kind, const RemoteInputChannel& channel,
                                     std::int32_t bytes) {
  outbound_.push_back({kind, channel.id(), bytes});
  write_next();
}

void PartitionRequestClient::write_next() {
  while (!closed_ && !writing_ && sink_.is_writable() && !outbound_.empty()) {
    const Outbound next = outbound_.pop_front();
    RemoteInputChannel* const channel = find(next.channel);
    if (channel == nullptr) continue;
    WireMessageHandle message = make(next, *channel);
    if (message == nullptr) continue;
    writing_ = true;
    sink_.send(std::move(message), true);
  }
}

WireMessageHandle PartitionRequestClient::make(const Outbound& outbound,
                                               RemoteInputChannel& channel) {
  switch (outbound.kind) {
    case MessageKind::kResumeConsumption:
      return make_resume_consumption(pool_, channel.id());
    case MessageKind::kAckAllUserRecordsProcessed:
      return make_ack_all_user_records_processed(pool_, channel.id());
    case MessageKind::kNewBufferSize:
      return make_new_buffer_size(pool_, {outbound.bytes, channel.id()});
    default:
      break;
  }
  // A resume may have taken it back meanwhile.
  const std::int32_t credit = channel.take_unannounced_credit();
  if (credit == 0) return nullptr;
  return semantics_.wire.make_add_credit(pool_,
                                         {channel.descriptor().partition, credit, channel.id()});
}

void PartitionRequestClient::on_written() {
  writing_ = false;
  write_next();
}

bool PartitionRequestClient::close(const RemoteInputChannel& channel) {
  forget(channel.id());
  if (closed_) return channels_.empty();
  const bool last = channels_.empty() && !reusable_;
  sink_.send(last ? make_close_request(pool_) : make_cancel_partition_request(pool_, channel.id()),
             false);
  return last;
}

RemoteInputChannel* PartitionRequestClient::find(InputChannelId id) const {
  const auto found = place_of(id);
  return found == channels_.end() || found->id != id ? nullptr : found->channel;
}

std::vector<PartitionRequestClient::Entry>::const_iterator PartitionRequestClient::place_of(
    InputChannelId id) const {
  return std::lower_bound(
      channels_.begin(), channels_.end(), id,
      [](const Entry& entry, InputChannelId wanted) { return entry.id < wanted; });
}

void PartitionRequestClient::forget(InputChannelId id) {
  const auto found = channels_.begin() + (place_of(id) - channels_.cbegin());
  if (found == channels_.end() || found->id != id || found->channel == nullptr) return;
  found->channel = nullptr;
  ++gone_;
  if (2 * gone_ <= channels_.size()) return;
  std::erase_if(channels_, [](const Entry& entry) { return entry.channel == nullptr; });
  gone_ = 0;
}

void PartitionRequestClient::receive(const WireMessage& message) {
  if (closed_) return;  // it was on its way
  switch (kind_of(message)) {
    case MessageKind::kBufferResponse: {
      const BufferResponse response = semantics_.wire.parse_buffer_response(message);
      if (auto* channel = find(response.receiver)) channel->on_buffer_response(response);
      return;
    }
    case MessageKind::kBacklogAnnouncement: {
      const BacklogAnnouncement announcement = parse_backlog_announcement(message);
      if (auto* channel = find(announcement.receiver)) {
        channel->on_sender_backlog(announcement.backlog);
      }
      return;
    }
    case MessageKind::kErrorResponse:
      if (auto* channel = find(parse_partition_not_found(message).receiver)) {
        channel->on_failed_partition_request();
      }
      return;
    default:
      base::fail_assertion("a message from a server", __FILE__, __LINE__);
  }
}

void PartitionRequestClient::on_connection_closed(const std::string& reason) {
  closed_ = true;
  for (const Entry& entry : channels_) {
    if (entry.channel != nullptr) entry.channel->on_error(reason);
  }
}

void PartitionRequestClient::fail(const std::string& reason) {
  if (closed_) return;
  sink_.close();
  on_connection_closed(reason);
}

}  // namespace tailrace::engine
