// What 1.20 puts into its messages.
#include "engine/network/message_codec.hpp"
#include "engine/network/netty_message.hpp"

namespace tailrace::engine {
namespace f120 {
namespace {

constexpr std::size_t kBufferResponseBytes =
    kFrameHeaderBytes + kMessageIdBytes + 4 + 4 + 4 + 1 + 1 + 4;
// Flink IntermediateResultPartitionID, ExecutionAttemptID (graph, vertex, subtask, attempt) and
// ResultSubpartitionIndexSet (first and last).
constexpr std::size_t kPartitionIdBytes = kMessageIdBytes + 4;
constexpr std::size_t kAttemptIdBytes = 2 * kMessageIdBytes + 4 + 4;
constexpr std::size_t kSubpartitionSetBytes = 4 + 4;
constexpr std::size_t kPartitionRequestBytes = kFrameHeaderBytes + kPartitionIdBytes +
                                               kAttemptIdBytes + kSubpartitionSetBytes +
                                               kMessageIdBytes + 4;
constexpr std::size_t kAddCreditBytes = kFrameHeaderBytes + 4 + kMessageIdBytes;

WireMessageHandle make_buffer_response(WirePool& pool, const BufferResponse& header,
                                       const NetworkItem& item) {
  WireMessageHandle message = item.is_buffer()
                                  ? pool.acquire_around(kBufferResponseBytes, item.buffer)
                                  : pool.acquire(kBufferResponseBytes + item.size());
  MessageWriter writer(*message, MessageKind::kBufferResponse);
  writer.channel(header.receiver);
  writer.int32(header.subpartition);
  writer.int32(header.sequence_number);
  writer.int32(header.backlog);
  writer.byte(static_cast<std::uint8_t>(item.type));
  writer.byte(0);  // not compressed
  writer.int32(static_cast<std::int32_t>(item.size()));
  if (!item.is_buffer()) writer.bytes(*item.event);
  return message;
}

BufferResponse parse_buffer_response(const WireMessage& message) {
  MessageReader reader(message, MessageKind::kBufferResponse);
  BufferResponse response;
  response.receiver = reader.channel();
  response.subpartition = reader.int32();
  response.sequence_number = reader.int32();
  response.backlog = reader.int32();
  response.type = static_cast<DataType>(reader.byte());
  TAILRACE_ASSERT(response.type != DataType::kNone);
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
  writer.zeros(kPartitionIdBytes - 8);
  writer.int32(request.partition.data_set);
  writer.int32(request.partition.partition);
  writer.zeros(kAttemptIdBytes - 8);
  writer.int64(request.partition.producer.value);
  writer.int32(request.subpartition);
  writer.int32(request.subpartition);
  writer.channel(request.receiver);
  writer.int32(request.credit);
  return message;
}

PartitionRequest parse_partition_request(const WireMessage& message) {
  MessageReader reader(message, MessageKind::kPartitionRequest);
  PartitionRequest request;
  reader.skip(kPartitionIdBytes - 8);
  request.partition.data_set = reader.int32();
  request.partition.partition = reader.int32();
  reader.skip(kAttemptIdBytes - 8);
  request.partition.producer.value = reader.int64();
  request.subpartition = reader.int32();
  const std::int32_t last = reader.int32();
  TAILRACE_ASSERT(last == request.subpartition);  // one subpartition a channel
  request.receiver = reader.channel();
  request.credit = reader.int32();
  return request;
}

WireMessageHandle make_add_credit(WirePool& pool, const AddCredit& credit) {
  WireMessageHandle message = pool.acquire(kAddCreditBytes);
  MessageWriter writer(*message, MessageKind::kAddCredit);
  writer.int32(credit.credit);
  writer.channel(credit.receiver);
  return message;
}

AddCredit parse_add_credit(const WireMessage& message) {
  MessageReader reader(message, MessageKind::kAddCredit);
  AddCredit credit;
  credit.credit = reader.int32();
  credit.receiver = reader.channel();
  return credit;
}

}  // namespace
}  // namespace f120

const WireFormat& wire_format_120() {
  static constexpr WireFormat kFormat{
      .make_buffer_response = &f120::make_buffer_response,
      .parse_buffer_response = &f120::parse_buffer_response,
      .make_partition_request = &f120::make_partition_request,
      .parse_partition_request = &f120::parse_partition_request,
      .make_add_credit = &f120::make_add_credit,
      .parse_add_credit = &f120::parse_add_credit,
  };
  return kFormat;
}

}  // namespace tailrace::engine
