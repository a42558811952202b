// The receiving end of one connection.
//
// Flink 1.10 NettyPartitionRequestClient, CreditBasedPartitionRequestClientHandler (spec barriers.md
// 6.4, 6.6). Announces one channel's credit at a time; what is gained meanwhile goes into that
// channel's next announcement. What 1.20 says beside (resume, all records processed) waits for its
// turn in the same queue.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "engine/network/f110/netty_message.hpp"
#include "engine/network/ring_queue.hpp"

namespace tailrace::engine {

class RemoteInputChannel;

class PartitionRequestClient {
 public:
  // Both outlive the client.
  PartitionRequestClient(MessageSink& sink, WirePool& pool) : sink_(sink), pool_(pool) {}

  // Every channel counts until its `close`.
  void add_channel(RemoteInputChannel& channel);
  void request_subpartition(const RemoteInputChannel& channel);
  void notify_credit_available(const RemoteInputChannel& channel);
  // 1.20.
  void resume_consumption(const RemoteInputChannel& channel);
  void acknowledge_all_records_processed(const RemoteInputChannel& channel);
  // Cancels the request at the server; for the last channel asks it to close the connection.
  // Returns: whether that was the last one.
  bool close(const RemoteInputChannel& channel);

  void receive(const WireMessage& message);
  // The last flow-controlled message has left.
  void on_written();
  // The server is gone: every channel that is left fails. Nothing is sent from now on.
  void on_connection_closed(const std::string& reason);

 private:
  struct Outbound {
    MessageKind kind = MessageKind::kAddCredit;
    InputChannelId channel = 0;
  };
  void enqueue(MessageKind kind, const RemoteInputChannel& channel);
  void write_next();
  WireMessageHandle make(MessageKind kind, RemoteInputChannel& channel);

  MessageSink& sink_;
  WirePool& pool_;
  std::map<InputChannelId, RemoteInputChannel*> channels_;
  RingQueue<Outbound> outbound_;  // may hold ids of channels that have gone
  bool writing_ = false;
  bool closed_ = false;
};

// Flink ConnectionManager: clients are shared by the channels of one data set.
class ConnectionManager {
 public:
  virtual PartitionRequestClient& create_partition_request_client(ProcessId producer,
                                                                  std::int32_t data_set) = 0;
  // Calls client.close(channel), and drops the client with its last channel.
  virtual void close_channel(PartitionRequestClient& client, const RemoteInputChannel& channel) = 0;

 protected:
  ~ConnectionManager() = default;
};

}  // namespace tailrace::engine
