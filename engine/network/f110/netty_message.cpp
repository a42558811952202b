#include "engine/network/f110/netty_message.hpp"

#include <algorithm>
#include <cstring>

#include "engine/network/big_endian.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {

struct WirePool::Home {
  std::vector<WireMessage*> small;
  std::vector<WireMessage*> large;
  std::int64_t out = 0;
  bool orphaned = false;
};

namespace {

// Every control message and the usual barrier fit; data would waste its space on credits.
constexpr std::size_t kSmallBytes = 256;

constexpr std::uint32_t kMagic = 0xBADC0FFE;  // Flink NettyMessage.MAGIC_NUMBER
constexpr std::size_t kFrameHeaderBytes = 9;
constexpr std::size_t kIdBytes = 16;
constexpr std::size_t kBufferResponseBytes = kFrameHeaderBytes + kIdBytes + 4 + 4 + 1 + 1 + 4;
constexpr std::size_t kPartitionRequestBytes = kFrameHeaderBytes + 3 * kIdBytes + 4 + 4;
constexpr std::size_t kAddCreditBytes = kFrameHeaderBytes + 3 * kIdBytes + 4;
constexpr std::size_t kCancelBytes = kFrameHeaderBytes + kIdBytes;

class MessageWriter {
 public:
  MessageWriter(WireMessage& message, MessageKind kind) : at_(message.data()) {
    int32(static_cast<std::int32_t>(message.size()));
    put_int32(at_, kMagic);
    at_ += 4;
    byte(static_cast<std::uint8_t>(kind));
  }
  void byte(std::uint8_t value) { *at_++ = static_cast<std::byte>(value); }
  void int32(std::int32_t value) {
    put_int32(at_, static_cast<std::uint32_t>(value));
    at_ += 4;
  }
  void int64(std::uint64_t value) {
    put_int64(at_, value);
    at_ += 8;
  }
  void channel(InputChannelId id) {
    int64(0);
    int64(id);
  }
  void partition(const ResultPartitionId& id) {
    int32(id.data_set);
    int32(id.partition);
    int64(0);
    int64(0);
    int64(id.producer.value);
  }
  void bytes(std::span<const std::byte> payload) {
    if (!payload.empty()) std::memcpy(at_, payload.data(), payload.size());
  }

 private:
  std::byte* at_;
};

class MessageReader {
 public:
  MessageReader(const WireMessage& message, MessageKind kind) : bytes_(message.bytes()) {
    TAILRACE_ASSERT(kind_of(message) == kind);
  }
  std::uint8_t byte() { return static_cast<std::uint8_t>(bytes_[at_++]); }
  std::int32_t int32() {
    at_ += 4;
    return static_cast<std::int32_t>(get_int32(bytes_.data() + at_ - 4));
  }
  std::uint64_t int64() {
    at_ += 8;
    return get_int64(bytes_.data() + at_ - 8);
  }
  InputChannelId channel() {
    int64();
    return int64();
  }
  ResultPartitionId partition() {
    ResultPartitionId id;
    id.data_set = int32();
    id.partition = int32();
    int64();
    int64();
    id.producer.value = int64();
    return id;
  }
  [[nodiscard]] std::span<const std::byte> rest() const { return bytes_.subspan(at_); }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = kFrameHeaderBytes;
};

}  // namespace

WirePool::WirePool() : home_(new Home) {}

WirePool::~WirePool() {
  for (const WireMessage* message : home_->small) delete message;
  for (const WireMessage* message : home_->large) delete message;
  home_->small.clear();
  home_->large.clear();
  home_->orphaned = true;
  if (home_->out == 0) delete home_;
}

WireMessageHandle WirePool::acquire(std::size_t size) {
  auto& list = size <= kSmallBytes ? home_->small : home_->large;
  std::unique_ptr<WireMessage> message;
  if (list.empty()) {
    message = std::make_unique<WireMessage>();
    message->home_ = home_;
  } else {
    message.reset(list.back());
    list.pop_back();
  }
  if (message->capacity_ < size) {
    message->capacity_ = std::max(size, kSmallBytes);
    message->data_.reset(new std::byte[message->capacity_]);
  }
  message->size_ = size;
  ++home_->out;
  return WireMessageHandle(message.release());
}

void WireMessageReturn::operator()(WireMessage* message) const {
  auto* home = static_cast<WirePool::Home*>(message->home_);
  --home->out;
  if (home->orphaned) {
    delete message;
    if (home->out == 0) delete home;
    return;
  }
  (message->capacity_ <= kSmallBytes ? home->small : home->large).push_back(message);
}

MessageKind kind_of(const WireMessage& message) {
  const std::span<const std::byte> bytes = message.bytes();
  TAILRACE_ASSERT(bytes.size() >= kFrameHeaderBytes && get_int32(bytes.data()) == bytes.size() &&
                  get_int32(bytes.data() + 4) == kMagic);
  return static_cast<MessageKind>(bytes[8]);
}

WireMessageHandle make_buffer_response(WirePool& pool, InputChannelId receiver,
                                       std::int32_t sequence_number, std::int32_t backlog,
                                       const NetworkItem& item) {
  WireMessageHandle message = pool.acquire(kBufferResponseBytes + item.size());
  MessageWriter writer(*message, MessageKind::kBufferResponse);
  writer.channel(receiver);
  writer.int32(sequence_number);
  writer.int32(backlog);
  writer.byte(item.is_buffer() ? 1 : 0);
  writer.byte(0);  // not compressed
  writer.int32(static_cast<std::int32_t>(item.size()));
  writer.bytes(item.is_buffer() ? item.buffer.bytes() : std::span<const std::byte>(*item.event));
  return message;
}

BufferResponse parse_buffer_response(const WireMessage& message) {
  MessageReader reader(message, MessageKind::kBufferResponse);
  BufferResponse response;
  response.receiver = reader.channel();
  response.sequence_number = reader.int32();
  response.backlog = reader.int32();
  response.is_buffer = reader.byte() == 1;
  reader.byte();
  const auto size = static_cast<std::size_t>(reader.int32());
  response.payload = reader.rest();
  TAILRACE_ASSERT(response.payload.size() == size);
  return response;
}

WireMessageHandle make_partition_not_found(WirePool& pool, InputChannelId receiver,
                                           const ResultPartitionId& partition) {
  const std::string text = partition_not_found_message(partition);
  WireMessageHandle message = pool.acquire(kFrameHeaderBytes + kIdBytes + text.size());
  MessageWriter writer(*message, MessageKind::kErrorResponse);
  writer.channel(receiver);
  writer.bytes(std::as_bytes(std::span(text)));
  return message;
}

PartitionNotFound parse_partition_not_found(const WireMessage& message) {
  MessageReader reader(message, MessageKind::kErrorResponse);
  return {reader.channel()};
}

WireMessageHandle make_partition_request(WirePool& pool, const PartitionRequest& request) {
  WireMessageHandle message = pool.acquire(kPartitionRequestBytes);
  MessageWriter writer(*message, MessageKind::kPartitionRequest);
  writer.partition(request.partition);
  writer.int32(request.subpartition);
  writer.channel(request.receiver);
  writer.int32(request.credit);
  return message;
}

PartitionRequest parse_partition_request(const WireMessage& message) {
  MessageReader reader(message, MessageKind::kPartitionRequest);
  PartitionRequest request;
  request.partition = reader.partition();
  request.subpartition = reader.int32();
  request.receiver = reader.channel();
  request.credit = reader.int32();
  return request;
}

WireMessageHandle make_add_credit(WirePool& pool, const AddCredit& credit) {
  WireMessageHandle message = pool.acquire(kAddCreditBytes);
  MessageWriter writer(*message, MessageKind::kAddCredit);
  writer.partition(credit.partition);
  writer.int32(credit.credit);
  writer.channel(credit.receiver);
  return message;
}

AddCredit parse_add_credit(const WireMessage& message) {
  MessageReader reader(message, MessageKind::kAddCredit);
  AddCredit credit;
  credit.partition = reader.partition();
  credit.credit = reader.int32();
  credit.receiver = reader.channel();
  return credit;
}

WireMessageHandle make_cancel_partition_request(WirePool& pool, InputChannelId receiver) {
  WireMessageHandle message = pool.acquire(kCancelBytes);
  MessageWriter writer(*message, MessageKind::kCancelPartitionRequest);
  writer.channel(receiver);
  return message;
}

InputChannelId parse_cancel_partition_request(const WireMessage& message) {
  MessageReader reader(message, MessageKind::kCancelPartitionRequest);
  return reader.channel();
}

WireMessageHandle make_resume_consumption(WirePool& pool, InputChannelId receiver) {
  WireMessageHandle message = pool.acquire(kFrameHeaderBytes + kIdBytes);
  MessageWriter writer(*message, MessageKind::kResumeConsumption);
  writer.channel(receiver);
  return message;
}

InputChannelId parse_resume_consumption(const WireMessage& message) {
  MessageReader reader(message, MessageKind::kResumeConsumption);
  return reader.channel();
}

WireMessageHandle make_ack_all_user_records_processed(WirePool& pool, InputChannelId receiver) {
  WireMessageHandle message = pool.acquire(kFrameHeaderBytes + kIdBytes);
  MessageWriter writer(*message, MessageKind::kAckAllUserRecordsProcessed);
  writer.channel(receiver);
  return message;
}

InputChannelId parse_ack_all_user_records_processed(const WireMessage& message) {
  MessageReader reader(message, MessageKind::kAckAllUserRecordsProcessed);
  return reader.channel();
}

WireMessageHandle make_close_request(WirePool& pool) {
  WireMessageHandle message = pool.acquire(kFrameHeaderBytes);
  MessageWriter writer(*message, MessageKind::kCloseRequest);
  return message;
}

std::string partition_not_found_message(const ResultPartitionId& partition) {
  return "Partition " + std::to_string(partition.data_set) + "#" +
         std::to_string(partition.partition) + "@" + std::to_string(partition.producer.value) +
         " not found.";
}

}  // namespace tailrace::engine
