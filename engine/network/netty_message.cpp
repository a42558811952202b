#include "engine/network/netty_message.hpp"

#include <algorithm>
#include <cstring>

#include "engine/network/message_codec.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {

struct WirePool::Home {
  std::vector<WireMessage*> small;
  std::vector<WireMessage*> large;
  std::vector<WireMessage*> segments;
  std::int64_t out = 0;
  bool orphaned = false;
};

namespace {

// Every control message and the usual barrier fit; data would waste its space on credits.
constexpr std::size_t kSmallBytes = 256;
// Less is copied: messages keep their memory in the cache, and segments rotate through all of theirs.
constexpr std::size_t kExchangedBytesMin = 1024;

}  // namespace

WirePool::WirePool() : home_(new Home) {}

WirePool::~WirePool() {
  for (const WireMessage* message : home_->small) delete message;
  for (const WireMessage* message : home_->large) delete message;
  for (const WireMessage* message : home_->segments) delete message;
  home_->small.clear();
  home_->large.clear();
  home_->segments.clear();
  home_->orphaned = true;
  if (home_->out == 0) delete home_;
}

std::unique_ptr<WireMessage> WirePool::take(std::vector<WireMessage*>& list) {
  ++home_->out;
  std::unique_ptr<WireMessage> message;
  if (list.empty()) {
    message = std::make_unique<WireMessage>();
    message->home_ = home_;
  } else {
    message.reset(list.back());
    list.pop_back();
  }
  return message;
}

WireMessageHandle WirePool::acquire(std::size_t size) {
  std::unique_ptr<WireMessage> message = take(size <= kSmallBytes ? home_->small : home_->large);
  if (message->capacity_ < size) {
    message->capacity_ = std::max(size, kSmallBytes);
    message->own_.reset(new std::byte[message->capacity_]);
  }
  message->begin_ = message->own_.get();
  message->size_ = size;
  return WireMessageHandle(message.release());
}

WireMessageHandle WirePool::acquire_around(std::size_t header_bytes, const Buffer& payload) {
  TAILRACE_ASSERT(header_bytes <= SegmentMemory::kHeaderRoom);
  NetworkBuffer* const segment = payload.sole_segment();
  if (payload.size() >= kExchangedBytesMin && segment != nullptr) {
    std::unique_ptr<WireMessage> message = take(home_->segments);
    if (message->segment_ == nullptr || message->segment_->capacity() != segment->capacity()) {
      message->segment_ = std::make_unique<SegmentMemory>(segment->capacity());
    }
    message->in_segment_ = true;
    if (segment->fits(*message->segment_)) {
      segment->exchange_memory(*message->segment_);
      message->begin_ = message->segment_->data() + payload.begin() - header_bytes;
      message->size_ = header_bytes + payload.size();
      return WireMessageHandle(message.release());
    }
    WireMessageReturn{}(message.release());
  }
  WireMessageHandle message = acquire(header_bytes + payload.size());
  if (payload.size() > 0) {
    std::memcpy(message->data() + header_bytes, payload.bytes().data(), payload.size());
  }
  return message;
}

Buffer take_payload(const BufferResponse& response, NetworkBuffer& segment) {
  const auto size = static_cast<std::uint32_t>(response.payload.size());
  TAILRACE_ASSERT(size <= segment.capacity());
  if (response.memory != nullptr && segment.fits(*response.memory)) {
    const auto begin =
        static_cast<std::uint32_t>(response.payload.data() - response.memory->data());
    segment.exchange_memory(*response.memory);
    return Buffer(segment, begin, begin + size);
  }
  if (size > 0) std::memcpy(segment.data(), response.payload.data(), size);
  return Buffer(segment, 0, size);
}

void WireMessageReturn::operator()(WireMessage* message) const {
  auto* home = static_cast<WirePool::Home*>(message->home_);
  --home->out;
  if (home->orphaned) {
    delete message;
    if (home->out == 0) delete home;
    return;
  }
  (message->in_segment_                ? home->segments
   : message->capacity_ <= kSmallBytes ? home->small
                                       : home->large)
      .push_back(message);
}

MessageKind kind_of(const WireMessage& message) {
  const std::span<const std::byte> bytes = message.bytes();
  TAILRACE_ASSERT(bytes.size() >= kFrameHeaderBytes && get_int32(bytes.data()) == bytes.size() &&
                  get_int32(bytes.data() + 4) == kMessageMagic);
  return static_cast<MessageKind>(bytes[8]);
}

namespace {

// The messages that name nothing but a channel.
WireMessageHandle make_for_channel(WirePool& pool, MessageKind kind, InputChannelId receiver) {
  WireMessageHandle message = pool.acquire(kFrameHeaderBytes + kMessageIdBytes);
  MessageWriter writer(*message, kind);
  writer.channel(receiver);
  return message;
}
InputChannelId parse_for_channel(const WireMessage& message, MessageKind kind) {
  MessageReader reader(message, kind);
  return reader.channel();
}

// A number and a channel.
WireMessageHandle make_number(WirePool& pool, MessageKind kind, std::int32_t number,
                              InputChannelId receiver) {
  TAILRACE_ASSERT(number > 0);
  WireMessageHandle message = pool.acquire(kFrameHeaderBytes + 4 + kMessageIdBytes);
  MessageWriter writer(*message, kind);
  writer.int32(number);
  writer.channel(receiver);
  return message;
}

}  // namespace

WireMessageHandle make_partition_not_found(WirePool& pool, InputChannelId receiver,
                                           const ResultPartitionId& partition) {
  const std::string text = partition_not_found_message(partition);
  WireMessageHandle message = pool.acquire(kFrameHeaderBytes + kMessageIdBytes + text.size());
  MessageWriter writer(*message, MessageKind::kErrorResponse);
  writer.channel(receiver);
  writer.bytes(std::as_bytes(std::span(text)));
  return message;
}

PartitionNotFound parse_partition_not_found(const WireMessage& message) {
  return {parse_for_channel(message, MessageKind::kErrorResponse)};
}

WireMessageHandle make_cancel_partition_request(WirePool& pool, InputChannelId receiver) {
  return make_for_channel(pool, MessageKind::kCancelPartitionRequest, receiver);
}
InputChannelId parse_cancel_partition_request(const WireMessage& message) {
  return parse_for_channel(message, MessageKind::kCancelPartitionRequest);
}

WireMessageHandle make_resume_consumption(WirePool& pool, InputChannelId receiver) {
  return make_for_channel(pool, MessageKind::kResumeConsumption, receiver);
}
InputChannelId parse_resume_consumption(const WireMessage& message) {
  return parse_for_channel(message, MessageKind::kResumeConsumption);
}

WireMessageHandle make_ack_all_user_records_processed(WirePool& pool, InputChannelId receiver) {
  return make_for_channel(pool, MessageKind::kAckAllUserRecordsProcessed, receiver);
}
InputChannelId parse_ack_all_user_records_processed(const WireMessage& message) {
  return parse_for_channel(message, MessageKind::kAckAllUserRecordsProcessed);
}

WireMessageHandle make_backlog_announcement(WirePool& pool,
                                            const BacklogAnnouncement& announcement) {
  return make_number(pool, MessageKind::kBacklogAnnouncement, announcement.backlog,
                     announcement.receiver);
}
BacklogAnnouncement parse_backlog_announcement(const WireMessage& message) {
  MessageReader reader(message, MessageKind::kBacklogAnnouncement);
  BacklogAnnouncement announcement;
  announcement.backlog = reader.int32();
  announcement.receiver = reader.channel();
  return announcement;
}

WireMessageHandle make_new_buffer_size(WirePool& pool, const NewBufferSize& size) {
  return make_number(pool, MessageKind::kNewBufferSize, size.bytes, size.receiver);
}
NewBufferSize parse_new_buffer_size(const WireMessage& message) {
  MessageReader reader(message, MessageKind::kNewBufferSize);
  NewBufferSize size;
  size.bytes = reader.int32();
  size.receiver = reader.channel();
  return size;
}

WireMessageHandle make_close_request(WirePool& pool) {
  WireMessageHandle message = pool.acquire(kFrameHeaderBytes);
  const MessageWriter writer(*message, MessageKind::kCloseRequest);
  return message;
}

std::string partition_not_found_message(const ResultPartitionId& partition) {
  return "Partition " + std::to_string(partition.data_set) + "#" +
         std::to_string(partition.partition) + "@" + std::to_string(partition.producer.value) +
         " not found.";
}

}  // namespace tailrace::engine
