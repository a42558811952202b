// The receiving end of one connection.
//
// Flink NettyPartitionRequestClient, CreditBasedPartitionRequestClientHandler (spec barriers.md 6.4,
// 6.6). Announces one channel's credit at a time; what is gained meanwhile goes into that channel's
// next announcement. What 1.20 says beside (resume, new buffer size, all records processed) waits
// for its turn in the same queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/network/netty_message.hpp"
#include "engine/network/network_semantics.hpp"
#include "engine/network/ring_queue.hpp"

namespace tailrace::engine {

class RemoteInputChannel;

class PartitionRequestClient {
 public:
  // Everything outlives the client. `reusable`: the connection stays open behind its last channel.
  PartitionRequestClient(MessageSink& sink, WirePool& pool, const NetworkSemantics& semantics,
                         bool reusable = false)
      : sink_(sink), pool_(pool), semantics_(semantics), reusable_(reusable) {}

  // Every channel counts until its `close`.
  void add_channel(RemoteInputChannel& channel);
  void request_subpartition(const RemoteInputChannel& channel);
  void notify_credit_available(const RemoteInputChannel& channel);
  // 1.20.
  void resume_consumption(const RemoteInputChannel& channel);
  void acknowledge_all_records_processed(const RemoteInputChannel& channel);
  void notify_new_buffer_size(const RemoteInputChannel& channel, std::int32_t bytes);
  // Cancels the request at the server; for the last channel asks it to close the connection, unless
  // that can be reused.
  // Returns: whether nobody needs the client any more.
  bool close(const RemoteInputChannel& channel);

  void receive(const WireMessage& message);
  // The last flow-controlled message has left.
  void on_written();
  // The server is gone: every channel that is left fails. Nothing is sent from now on.
  void on_connection_closed(const std::string& reason);
  // 1.10: what arrived breaks the protocol. Closes the connection, and every channel fails.
  void fail(const std::string& reason);
  [[nodiscard]] bool is_closed() const { return closed_; }

 private:
  struct Outbound {
    MessageKind kind = MessageKind::kAddCredit;
    InputChannelId channel = 0;
    std::int32_t bytes = 0;  // the new buffer size
  };
  void enqueue(MessageKind kind, const RemoteInputChannel& channel, std::int32_t bytes = 0);
  void write_next();
  // Null: there is nothing to say any more.
  WireMessageHandle make(const Outbound& outbound, RemoteInputChannel& channel);
  // Null: the channel is gone. It has told the server so; what comes was on its way then.
  [[nodiscard]] RemoteInputChannel* find(InputChannelId id) const;
  void forget(InputChannelId id);

  MessageSink& sink_;
  WirePool& pool_;
  const NetworkSemantics& semantics_;
  bool reusable_;
  // By id, those that have gone included: a channel that goes leaves its place empty, so that neither
  // a search nor a departure moves the others. Compacted when most are empty.
  struct Entry {
    InputChannelId id = 0;
    RemoteInputChannel* channel = nullptr;  // null: gone
  };
  [[nodiscard]] std::vector<Entry>::const_iterator place_of(InputChannelId id) const;

  std::vector<Entry> channels_;
  std::size_t gone_ = 0;          // empty places in it
  RingQueue<Outbound> outbound_;  // may hold ids of channels that have gone
  bool writing_ = false;
  bool closed_ = false;
};

// Flink ConnectionManager: in 1.10 the channels of one data set share a client, in 1.20 all channels
// between two processes share up to max_num_tcp_connections of them.
class ConnectionManager {
 public:
  virtual PartitionRequestClient& create_partition_request_client(ProcessId producer,
                                                                  std::int32_t data_set) = 0;
  // Calls client.close(channel), and drops a client that nobody needs any more.
  virtual void close_channel(PartitionRequestClient& client, const RemoteInputChannel& channel) = 0;

 protected:
  ~ConnectionManager() = default;
};

}  // namespace tailrace::engine
