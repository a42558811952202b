#include "engine/network/network_environment.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "engine/network/f110/local_buffer_pool.hpp"
#include "engine/network/f110/netty_message.hpp"
#include "engine/network/f110/remote_input_channel.hpp"
#include "engine/network/network_buffer_pool.hpp"
#include "engine/network/partition_request_client.hpp"
#include "engine/network/partition_request_queue.hpp"
#include "engine/network/result_partition_manager.hpp"
#include "sim/base/lifeline.hpp"

namespace tailrace::engine {

class NetworkEnvironment::Impl final : public ConnectionManager {
 public:
  Impl(const Ports& ports, const NetworkConfig& config, NetworkPeers& peers)
      : ports_(ports),
        config_(config),
        peers_(peers),
        buffers_(static_cast<std::int32_t>(config.network_memory_bytes / config.segment_bytes),
                 config.segment_bytes) {}

  PartitionRequestClient& create_partition_request_client(ProcessId producer,
                                                          std::int32_t data_set) override;
  void close_channel(PartitionRequestClient& client, const RemoteInputChannel& channel) override;

  void deliver_to_server(ConnectionId id, ProcessId client, const WireMessage& message);
  void deliver_to_client(ConnectionId id, const WireMessage& message);
  void drop_consumed();

  // The consumer's end of a connection.
  class ClientEnd final : public MessageSink {
   public:
    ClientEnd(Impl& environment, ProcessId server, std::int32_t data_set)
        : server_(server),
          data_set_(data_set),
          environment_(environment),
          client_(*this, environment.wire_) {}
    void open();
    void send(WireMessageHandle message, bool flow_controlled) override;

    [[nodiscard]] ConnectionId id() const { return id_; }
    [[nodiscard]] PartitionRequestClient& client() { return client_; }

    const ProcessId server_;
    const std::int32_t data_set_;
    bool lost_ = false;  // the server is gone; the next request opens a new connection

   private:
    Impl& environment_;
    ConnectionId id_{};
    PartitionRequestClient client_;
    base::Lifeline lifeline_;
  };

  // The producer's end.
  class ServerEnd final : public MessageSink {
   public:
    ServerEnd(Impl& environment, ConnectionId id, ProcessId client)
        : environment_(environment), id_(id), client_(client), queue_(*this, environment.wire_) {}
    void send(WireMessageHandle message, bool flow_controlled) override;
    [[nodiscard]] PartitionRequestQueue& queue() { return queue_; }

   private:
    Impl& environment_;
    ConnectionId id_;
    ProcessId client_;
    PartitionRequestQueue queue_;
  };

  const Ports ports_;
  const NetworkConfig config_;
  NetworkPeers& peers_;
  WirePool wire_;
  NetworkBufferPool buffers_;
  ResultPartitionManager partitions_;
  std::uint64_t next_channel_id_ = 0;
  std::map<ConnectionId, std::unique_ptr<ClientEnd>> clients_;
  std::map<ConnectionId, std::unique_ptr<ServerEnd>> servers_;
  std::vector<std::unique_ptr<ResultPartition>> kept_;
  base::Lifeline lifeline_;
};

void NetworkEnvironment::Impl::ClientEnd::open() {
  // Bound to this end, which may be closed long before the server dies.
  id_ = environment_.ports_.links->open(server_, lifeline_.bind([this] {
    lost_ = true;
    client_.on_connection_closed("Connection unexpectedly closed by remote task manager '" +
                                 environment_.peers_.address_of(server_) +
                                 "'. This might indicate that the remote task manager was lost.");
  }));
}

void NetworkEnvironment::Impl::ClientEnd::send(WireMessageHandle message, bool flow_controlled) {
  Impl* const env = &environment_;
  const std::int64_t bytes = message->size();
  Callback written = [] {};
  if (flow_controlled) {
    written = env->lifeline_.bind([env, id = id_] {
      const auto found = env->clients_.find(id);
      if (found != env->clients_.end()) found->second->client_.on_written();
    });
  }
  env->ports_.links->send(id_, bytes, std::move(written),
                          [peers = &env->peers_, server = server_, self = env->ports_.self,
                           id = id_, message = std::move(message)] {
                            NetworkEnvironment* const peer = peers->environment_of(server);
                            if (peer != nullptr) peer->deliver_to_server(id, self, *message);
                          });
}

void NetworkEnvironment::Impl::ServerEnd::send(WireMessageHandle message, bool flow_controlled) {
  Impl* const env = &environment_;
  const std::int64_t bytes = message->size();
  Callback written = [] {};
  if (flow_controlled) {
    written = env->lifeline_.bind([env, id = id_] {
      const auto found = env->servers_.find(id);
      if (found != env->servers_.end()) found->second->queue_.on_written();
    });
  }
  env->ports_.links->send(
      id_, bytes, std::move(written),
      [peers = &env->peers_, client = client_, id = id_, message = std::move(message)] {
        NetworkEnvironment* const peer = peers->environment_of(client);
        if (peer != nullptr) peer->deliver_to_client(id, *message);
      });
}

PartitionRequestClient& NetworkEnvironment::Impl::create_partition_request_client(
    ProcessId producer, std::int32_t data_set) {
  for (const auto& [id, end] : clients_) {
    if (end->server_ == producer && end->data_set_ == data_set && !end->lost_) {
      return end->client();
    }
  }
  auto end = std::make_unique<ClientEnd>(*this, producer, data_set);
  end->open();
  ClientEnd& opened = *end;
  clients_.emplace(opened.id(), std::move(end));
  return opened.client();
}

void NetworkEnvironment::Impl::close_channel(PartitionRequestClient& client,
                                             const RemoteInputChannel& channel) {
  if (!client.close(channel)) return;
  const auto found = std::find_if(clients_.begin(), clients_.end(), [&client](const auto& entry) {
    return &entry.second->client() == &client;
  });
  TAILRACE_ASSERT(found != clients_.end());
  // The server closes the connection when it reads the request to do so.
  clients_.erase(found);
}

void NetworkEnvironment::Impl::deliver_to_server(ConnectionId id, ProcessId client,
                                                 const WireMessage& message) {
  const MessageKind kind = kind_of(message);
  auto found = servers_.find(id);
  if (found == servers_.end()) {
    found = servers_.emplace(id, std::make_unique<ServerEnd>(*this, id, client)).first;
    ports_.links->accept(id, lifeline_.bind([this, id] { servers_.erase(id); }));
  }
  ServerEnd& end = *found->second;
  switch (kind) {
    case MessageKind::kPartitionRequest: {
      const PartitionRequest request = parse_partition_request(message);
      PipelinedSubpartition* subpartition =
          partitions_.find_subpartition(request.partition, request.subpartition);
      if (subpartition == nullptr) {
        end.send(make_partition_not_found(wire_, request.receiver, request.partition), false);
      } else {
        end.queue().add_reader(request.receiver, request.credit, *subpartition);
      }
      return;
    }
    case MessageKind::kAddCredit: {
      const AddCredit credit = parse_add_credit(message);
      end.queue().add_credit(credit.receiver, credit.credit);
      return;
    }
    case MessageKind::kResumeConsumption:
      end.queue().resume_consumption(parse_resume_consumption(message));
      return;
    case MessageKind::kAckAllUserRecordsProcessed:
      end.queue().acknowledge_all_records_processed(parse_ack_all_user_records_processed(message));
      return;
    case MessageKind::kCancelPartitionRequest:
      end.queue().cancel(parse_cancel_partition_request(message));
      return;
    case MessageKind::kCloseRequest:
      servers_.erase(found);
      ports_.links->close(id);
      return;
    case MessageKind::kBufferResponse:
    case MessageKind::kErrorResponse:
      break;
  }
  base::fail_assertion("a message from a client", __FILE__, __LINE__);
}

void NetworkEnvironment::Impl::deliver_to_client(ConnectionId id, const WireMessage& message) {
  const auto found = clients_.find(id);
  if (found != clients_.end()) found->second->client().receive(message);
}

void NetworkEnvironment::Impl::drop_consumed() {
  std::erase_if(kept_, [](const auto& partition) { return partition->is_consumed(); });
}

NetworkEnvironment::NetworkEnvironment(const Ports& ports, const NetworkConfig& config,
                                       NetworkPeers& peers)
    : impl_(std::make_unique<Impl>(ports, config, peers)) {}

NetworkEnvironment::~NetworkEnvironment() {
  impl_->servers_.clear();
  impl_->kept_.clear();
}

std::unique_ptr<ResultPartition> NetworkEnvironment::create_partition(
    const ResultPartitionDescriptor& descriptor, std::string* error) {
  // Flink 1.10 ResultPartitionFactory.createBufferPoolFactory, pipelined-bounded.
  const std::int32_t required = descriptor.subpartitions + 1;
  const std::int32_t max =
      std::max(required, descriptor.subpartitions * impl_->config_.exclusive_per_channel +
                             impl_->config_.floating_per_gate);
  LocalBufferPool* pool = impl_->buffers_.create_buffer_pool(required, max, error);
  if (pool == nullptr) return nullptr;
  auto partition = std::make_unique<ResultPartition>(descriptor, *pool, *impl_->config_.semantics,
                                                     impl_->config_.exclusive_per_channel);
  impl_->partitions_.register_partition(*partition);
  partition->set_release_hook(
      [impl = impl_.get(), id = descriptor.id] { impl->partitions_.release_partition(id); });
  return partition;
}

std::unique_ptr<SingleInputGate> NetworkEnvironment::create_gate(
    const InputGateDescriptor& descriptor, base::InplaceFunction<void(std::string)> on_failure) {
  return std::make_unique<SingleInputGate>(
      descriptor,
      SingleInputGate::Environment{impl_->ports_, impl_->config_, impl_->buffers_, *impl_,
                                   impl_->partitions_, impl_->next_channel_id_},
      std::move(on_failure));
}

void NetworkEnvironment::keep_until_consumed(std::unique_ptr<ResultPartition> partition) {
  if (partition->is_consumed() || partition->is_released()) return;
  // In an event of its own: the last reader leaves from inside a call of the partition.
  partition->set_consumed_hook([impl = impl_.get()] {
    impl->ports_.timers->schedule(Duration{0},
                                  impl->lifeline_.bind([impl] { impl->drop_consumed(); }));
  });
  impl_->kept_.push_back(std::move(partition));
}

void NetworkEnvironment::release_partitions(ExecutionAttemptId producer) {
  std::erase_if(impl_->kept_,
                [producer](const auto& partition) { return partition->id().producer == producer; });
}

std::int32_t NetworkEnvironment::outstanding_segments() const {
  return impl_->buffers_.outstanding_segments();
}
std::int32_t NetworkEnvironment::total_segments() const {
  return impl_->buffers_.total_segments();
}
std::size_t NetworkEnvironment::client_connections() const {
  return impl_->clients_.size();
}
std::size_t NetworkEnvironment::server_connections() const {
  return impl_->servers_.size();
}

void NetworkEnvironment::deliver_to_server(ConnectionId connection, ProcessId client,
                                           const WireMessage& message) {
  impl_->deliver_to_server(connection, client, message);
}

void NetworkEnvironment::deliver_to_client(ConnectionId connection, const WireMessage& message) {
  impl_->deliver_to_client(connection, message);
}

}  // namespace tailrace::engine
