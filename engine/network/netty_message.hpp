// The messages between two network stacks, as bytes.
//
// Flink NettyMessage (sizes: spec barriers.md 6.6). A frame is length 4, magic 4, id 1, then the
// fields, all big-endian. Ids of partitions, attempts and channels are longer on the wire than here
// and are filled up with zeros. Messages are pooled: nothing allocates once enough are around.
// What the two generations write differently is behind WireFormat.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/ids.hpp"
#include "engine/network/buffer_consumer.hpp"

namespace tailrace::engine {

class WirePool;

// One message on its way. Belongs to whoever holds its handle; outlives the stack that sent it.
class WireMessage {
 public:
  [[nodiscard]] std::span<const std::byte> bytes() const { return {begin_, size_}; }
  [[nodiscard]] std::byte* data() { return begin_; }
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(size_); }
  // The memory of a segment around the bytes, for whoever takes them over in exchange; null: there
  // is none. The message is read once, so a message that was read says nothing any more.
  [[nodiscard]] SegmentMemory* segment_memory() const {
    return in_segment_ ? segment_.get() : nullptr;
  }

 private:
  friend class WirePool;
  friend struct WireMessageReturn;
  std::byte* begin_ = nullptr;
  std::size_t size_ = 0;
  std::unique_ptr<std::byte[]> own_;
  std::size_t capacity_ = 0;                // of own_
  std::unique_ptr<SegmentMemory> segment_;  // once it has carried a segment
  bool in_segment_ = false;                 // the bytes are there
  void* home_ = nullptr;
};

struct WireMessageReturn {
  void operator()(WireMessage* message) const;
};
using WireMessageHandle = std::unique_ptr<WireMessage, WireMessageReturn>;

// Where messages come from and go back to, also after the pool's owner is gone.
class WirePool {
 public:
  WirePool();
  ~WirePool();
  WirePool(const WirePool&) = delete;
  WirePool& operator=(const WirePool&) = delete;

  // A message of exactly `size` bytes, not initialised.
  WireMessageHandle acquire(std::size_t size);
  // A message of so many header bytes and then the buffer's, which are there already: the message has
  // the memory of the buffer's segment, which gets another one in exchange. Where that is not
  // possible (somebody else reads the segment) or not worth it, the bytes are copied.
  WireMessageHandle acquire_around(std::size_t header_bytes, const Buffer& payload);

 private:
  friend struct WireMessageReturn;
  struct Home;
  std::unique_ptr<WireMessage> take(std::vector<WireMessage*>& list);

  Home* home_;
};

using InputChannelId = std::uint64_t;  // unique in the consumer's process

enum class MessageKind : std::uint8_t {
  kBufferResponse = 0,
  kErrorResponse = 1,
  kPartitionRequest = 2,
  kCancelPartitionRequest = 4,
  kCloseRequest = 5,
  kAddCredit = 6,
  kResumeConsumption = 7,           // 1.20
  kAckAllUserRecordsProcessed = 8,  // 1.20
  kBacklogAnnouncement = 9,         // 1.20
  kNewBufferSize = 10,              // 1.20
};
// Requires: a message that one of the functions below made; here and for every parser.
[[nodiscard]] MessageKind kind_of(const WireMessage& message);

struct BufferResponse {
  InputChannelId receiver = 0;
  std::int32_t subpartition = 0;  // 1.20
  std::int32_t sequence_number = 0;
  std::int32_t backlog = 0;
  DataType type = DataType::kDataBuffer;  // 1.10 tells data from events alone
  std::span<const std::byte> payload;     // into the message
  SegmentMemory* memory = nullptr;        // around the payload; null: none that could be taken over

  [[nodiscard]] bool is_buffer() const { return engine::is_buffer(type); }
};

// The payload as a view of a segment that is the receiver's: by exchange of memory with the message,
// which then says nothing any more, or by a copy. Requires: the payload fits.
[[nodiscard]] Buffer take_payload(const BufferResponse& response, NetworkBuffer& segment);

// The one error that a server reports and survives: the partition does not exist (yet). Flink ships
// a serialised Java exception; here its text stands for it.
struct PartitionNotFound {
  InputChannelId receiver = 0;
};
[[nodiscard]] WireMessageHandle make_partition_not_found(WirePool& pool, InputChannelId receiver,
                                                         const ResultPartitionId& partition);
[[nodiscard]] PartitionNotFound parse_partition_not_found(const WireMessage& message);

struct PartitionRequest {
  ResultPartitionId partition;
  std::int32_t subpartition = 0;
  InputChannelId receiver = 0;
  std::int32_t credit = 0;
};

struct AddCredit {
  ResultPartitionId partition;  // 1.10
  std::int32_t credit = 0;
  InputChannelId receiver = 0;
};

// The messages that the generations write differently; f110/ and f120/ have the bytes.
// Parsing requires a message that the same format made.
struct WireFormat {
  // The payload of the response is the item's, whose buffer has unspecified bytes from now on.
  WireMessageHandle (*make_buffer_response)(WirePool& pool, const BufferResponse& header,
                                            const NetworkItem& item);
  BufferResponse (*parse_buffer_response)(const WireMessage& message);
  WireMessageHandle (*make_partition_request)(WirePool& pool, const PartitionRequest& request);
  PartitionRequest (*parse_partition_request)(const WireMessage& message);
  WireMessageHandle (*make_add_credit)(WirePool& pool, const AddCredit& credit);
  AddCredit (*parse_add_credit)(const WireMessage& message);
};
[[nodiscard]] const WireFormat& wire_format_110();
[[nodiscard]] const WireFormat& wire_format_120();

[[nodiscard]] WireMessageHandle make_cancel_partition_request(WirePool& pool,
                                                              InputChannelId receiver);
[[nodiscard]] InputChannelId parse_cancel_partition_request(const WireMessage& message);

// 1.20: the two messages that name nothing but the channel.
[[nodiscard]] WireMessageHandle make_resume_consumption(WirePool& pool, InputChannelId receiver);
[[nodiscard]] InputChannelId parse_resume_consumption(const WireMessage& message);
[[nodiscard]] WireMessageHandle make_ack_all_user_records_processed(WirePool& pool,
                                                                    InputChannelId receiver);
[[nodiscard]] InputChannelId parse_ack_all_user_records_processed(const WireMessage& message);

// 1.20: a sender without credit has that many buffers.
struct BacklogAnnouncement {
  std::int32_t backlog = 0;
  InputChannelId receiver = 0;
};
[[nodiscard]] WireMessageHandle make_backlog_announcement(WirePool& pool,
                                                          const BacklogAnnouncement& announcement);
[[nodiscard]] BacklogAnnouncement parse_backlog_announcement(const WireMessage& message);

// 1.20: how many bytes the consumer wants in a buffer from now on.
struct NewBufferSize {
  std::int32_t bytes = 0;
  InputChannelId receiver = 0;
};
[[nodiscard]] WireMessageHandle make_new_buffer_size(WirePool& pool, const NewBufferSize& size);
[[nodiscard]] NewBufferSize parse_new_buffer_size(const WireMessage& message);

[[nodiscard]] WireMessageHandle make_close_request(WirePool& pool);

// Flink PartitionNotFoundException's message.
[[nodiscard]] std::string partition_not_found_message(const ResultPartitionId& partition);

// Where the two ends of a connection put their messages. With `flow_controlled` the sender is told
// when the message has been written, and sends no further such message before that.
class MessageSink {
 public:
  virtual void send(WireMessageHandle message, bool flow_controlled) = 0;
  // Whether flow-controlled messages may be sent at all; when that comes back, `on_written` is
  // called at the sender.
  [[nodiscard]] virtual bool is_writable() const { return true; }
  // Closes the connection (1.10, at the consumer); nothing is sent afterwards.
  virtual void close() {}

 protected:
  ~MessageSink() = default;
};

}  // namespace tailrace::engine
