// What 1.10 puts into its messages.
#include "engine/network/message_codec.hpp"
#include "engine/network/netty_message.hpp"

namespace tailrace::engine {
namespace f110 {
namespace {

constexpr std::size_t kBufferResponseBytes =
    kFrameHeaderBytes + kMessageIdBytes + 4 + 4 + 1 + 1 + 4;
constexpr std::size_t kPartitionRequestBytes = kFrameHeaderBytes + 3 * kMessageIdBytes + 4 + 4;
constexpr std::size_t kAddCreditBytes = kFrameHeaderBytes + 3 * kMessageIdBytes + 4;

void put_partition(MessageWriter& writer, const ResultPartitionId& id) {
  writer.int32(id.data_set);
  writer.int32(id.partition);
  writer.zeros(16);
  writer.int64(id.producer.value);
}

ResultPartitionId get_partition(MessageReader& reader) {
  ResultPartitionId id;
  id.data_set = reader.int32();
  id.partition = reader.int32();
  reader.skip(16);
  id.producer.value = reader.int64();
  return id;
}

WireMessageHandle make_buffer_response(WirePool& pool, const BufferResponse& header,
                                       const NetworkItem& item) {
  WireMessageHandle message = item.is_buffer()
                                  ? pool.acquire_around(kBufferResponseBytes, item.buffer)
                                  : pool.acquire(kBufferResponseBytes + item.size());
  MessageWriter writer(*message, MessageKind::kBufferResponse);
  writer.channel(header.receiver);
  writer.int32(header.sequence_number);
  writer.int32(header.backlog);
  writer.byte(item.is_buffer() ? 1 : 0);
  writer.byte(0);  // not compressed
  writer.int32(static_cast<std::int32_t>(item.size()));
  if (!item.is_buffer()) writer.bytes(*item.event);
  return message;
}

BufferResponse parse_buffer_response(const WireMessage& message) {
  MessageReader reader(message, MessageKind::kBufferResponse);
  BufferResponse response;
  response.receiver = reader.channel();
  response.sequence_number = reader.int32();
  response.backlog = reader.int32();
  response.type = reader.byte() == 1 ? DataType::kDataBuffer : DataType::kEventBuffer;
  reader.byte();
  const auto size = static_cast<std::size_t>(reader.int32());
  response.payload = reader.rest();
  response.memory = message.segment_memory();
  TAILRACE_ASSERT(response.payload.size() == size);
  return response;
}

WireMessageHandle make_partition_request(WirePool& pool, const PartitionRequest& request) {
  WireMessageHandle message = pool.acquire(kPartitionRequestBytes);
  MessageWriter writer(*message, MessageKind::kPartitionRequest);
  put_partition(writer, request.partition);
  writer.int32(request.subpartition);
  writer.channel(request.receiver);
  writer.int32(request.credit);
  return message;
}

PartitionRequest parse_partition_request(const WireMessage& message) {
  MessageReader reader(message, MessageKind::kPartitionRequest);
  PartitionRequest request;
  request.partition = get_partition(reader);
  request.subpartition = reader.int32();
  request.receiver = reader.channel();
  request.credit = reader.int32();
  return request;
}

WireMessageHandle make_add_credit(WirePool& pool, const AddCredit& credit) {
  WireMessageHandle message = pool.acquire(kAddCreditBytes);
  MessageWriter writer(*message, MessageKind::kAddCredit);
  put_partition(writer, credit.partition);
  writer.int32(credit.credit);
  writer.channel(credit.receiver);
  return message;
}

AddCredit parse_add_credit(const WireMessage& message) {
  MessageReader reader(message, MessageKind::kAddCredit);
  AddCredit credit;
  credit.partition = get_partition(reader);
  credit.credit = reader.int32();
  credit.receiver = reader.channel();
  return credit;
}

}  // namespace
}  // namespace f110

const WireFormat& wire_format_110() {
  static constexpr WireFormat kFormat{
      .make_buffer_response = &f110::make_buffer_response,
      .parse_buffer_response = &f110::parse_buffer_response,
      .make_partition_request = &f110::make_partition_request,
      .parse_partition_request = &f110::parse_partition_request,
      .make_add_credit = &f110::make_add_credit,
      .parse_add_credit = &f110::parse_add_credit,
  };
  return kFormat;
}

}  // namespace tailrace::engine
