#include "engine/network/network_environment.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "engine/network/netty_message.hpp"
#include "engine/network/network_buffer_pool.hpp"
#include "engine/network/partition_request_client.hpp"
#include "engine/network/partition_request_queue.hpp"
#include "engine/network/remote_input_channel.hpp"
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
                 config.segment_bytes, *config.semantics) {}

  PartitionRequestClient& create_partition_request_client(ProcessId producer,
                                                          std::int32_t data_set) override;
  void close_channel(PartitionRequestClient& client, const RemoteInputChannel& channel) override;

  void deliver_to_server(ConnectionId id, ProcessId client, const WireMessage& message);
  void deliver_to_client(ConnectionId id, const WireMessage& message);
  void drop_consumed();

  // The consumer's end of a connection.
  class ClientEnd final : public MessageSink {
   public:
    ClientEnd(Impl& environment, ProcessId server, std::int32_t index)
        : server_(server),
          index_(index),
          environment_(environment),
          client_(*this, environment.wire_, *environment.config_.semantics,
                  environment.config_.semantics->shares_connections &&
                      environment.config_.connection_reuse) {}
    void open();
    void send(WireMessageHandle message, bool flow_controlled) override;
    // The server's end goes when it learns of it.
    void close() override { send(make_close_request(environment_.wire_), false); }

    [[nodiscard]] ConnectionId id() const { return id_; }
    [[nodiscard]] PartitionRequestClient& client() { return client_; }

    const ProcessId server_;
    const std::int32_t index_;  // Flink ConnectionID

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
        : environment_(environment),
          id_(id),
          client_(client),
          queue_(*this, environment.wire_, *environment.config_.semantics) {}
    void send(WireMessageHandle message, bool flow_controlled) override;
    [[nodiscard]] PartitionRequestQueue& queue() { return queue_; }

   private:
    Impl& environment_;
    ConnectionId id_;
    ProcessId client_;
    PartitionRequestQueue queue_;
  };

  // A request whose partition is not here yet.
  struct AwaitedPartition {
    std::uint64_t number = 0;
    ConnectionId connection;
    PartitionRequest request;
  };
  void serve(ServerEnd& end, const PartitionRequest& request);
  void await_partition(ConnectionId connection, const PartitionRequest& request);
  void serve_awaited(const ResultPartitionId& partition);

  const Ports ports_;
  const NetworkConfig config_;
  const Time started_ = ports_.clock->now();
  NetworkPeers& peers_;
  WirePool wire_;
  NetworkBufferPool buffers_;
  ResultPartitionManager partitions_;
  std::uint64_t next_channel_id_ = 0;
  std::vector<AwaitedPartition> awaited_;  // in order of arrival
  std::uint64_t next_awaited_ = 0;
  std::map<ConnectionId, std::unique_ptr<ClientEnd>> clients_;
  std::map<ConnectionId, std::unique_ptr<ServerEnd>> servers_;
  std::vector<std::unique_ptr<ResultPartition>> kept_;
  base::Lifeline lifeline_;
};

void NetworkEnvironment::Impl::ClientEnd::open() {
  // Bound to this end, which may be closed long before the server dies.
  id_ = environment_.ports_.links->open(server_, lifeline_.bind([this] {
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

// Flink draws a connection index for every data set; here its number is the index.
PartitionRequestClient& NetworkEnvironment::Impl::create_partition_request_client(
    ProcessId producer, std::int32_t data_set) {
  const std::int32_t index =
      config_.semantics->shares_connections ? data_set % config_.max_num_tcp_connections : data_set;
  for (const auto& [id, end] : clients_) {
    if (end->server_ == producer && end->index_ == index && !end->client().is_closed()) {
      return end->client();
    }
  }
  auto end = std::make_unique<ClientEnd>(*this, producer, index);
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
      const PartitionRequest request = config_.semantics->wire.parse_partition_request(message);
      if (config_.semantics->requests_wait_at_producer &&
          !partitions_.has_partition(request.partition)) {
        await_partition(id, request);
      } else {
        serve(end, request);
      }
      return;
    }
    case MessageKind::kAddCredit: {
      const AddCredit credit = config_.semantics->wire.parse_add_credit(message);
      end.queue().add_credit(credit.receiver, credit.credit);
      return;
    }
    case MessageKind::kResumeConsumption:
      end.queue().resume_consumption(parse_resume_consumption(message));
      return;
    case MessageKind::kNewBufferSize: {
      const NewBufferSize size = parse_new_buffer_size(message);
      end.queue().notify_new_buffer_size(size.receiver, size.bytes);
      return;
    }
    case MessageKind::kAckAllUserRecordsProcessed:
      end.queue().acknowledge_all_records_processed(parse_ack_all_user_records_processed(message));
      return;
    case MessageKind::kCancelPartitionRequest: {
      const InputChannelId receiver = parse_cancel_partition_request(message);
      std::erase_if(awaited_, [id, receiver](const AwaitedPartition& one) {
        return one.connection == id && one.request.receiver == receiver;
      });
      end.queue().cancel(receiver);
      return;
    }
    case MessageKind::kCloseRequest:
      servers_.erase(found);
      ports_.links->close(id);
      return;
    case MessageKind::kBufferResponse:
    case MessageKind::kErrorResponse:
    case MessageKind::kBacklogAnnouncement:
      break;
  }
  base::fail_assertion("a message from a client", __FILE__, __LINE__);
}

void NetworkEnvironment::Impl::serve(ServerEnd& end, const PartitionRequest& request) {
  PipelinedSubpartition* subpartition =
      partitions_.find_subpartition(request.partition, request.subpartition);
  if (subpartition == nullptr) {
    end.send(make_partition_not_found(wire_, request.receiver, request.partition), false);
  } else {
    end.queue().add_reader(request.receiver, request.credit, *subpartition, request.subpartition);
  }
}

// Flink ResultPartitionManager: what waits is looked at in rounds that begin with the process and
// are one time-out apart, and given up in the first round that finds it older than the time-out.
void NetworkEnvironment::Impl::await_partition(ConnectionId connection,
                                               const PartitionRequest& request) {
  const std::uint64_t number = next_awaited_++;
  awaited_.push_back({number, connection, request});
  const Duration timeout = config_.partition_request_timeout;
  if (timeout <= Duration{0}) return;  // it waits for ever
  const Duration age_of_round = Duration::nanos((ports_.clock->now() - started_).ns % timeout.ns);
  ports_.timers->schedule(timeout * 2 - age_of_round, lifeline_.bind([this, number] {
    const auto found = std::find_if(awaited_.begin(), awaited_.end(),
                                    [number](const auto& one) { return one.number == number; });
    if (found == awaited_.end()) return;
    const AwaitedPartition given_up = *found;
    awaited_.erase(found);
    const auto end = servers_.find(given_up.connection);
    if (end == servers_.end()) return;
    const PartitionRequest& late = given_up.request;
    end->second->send(make_partition_not_found(wire_, late.receiver, late.partition), false);
  }));
}

void NetworkEnvironment::Impl::serve_awaited(const ResultPartitionId& partition) {
  std::vector<AwaitedPartition> ready;
  for (const AwaitedPartition& one : awaited_) {
    if (one.request.partition == partition) ready.push_back(one);
  }
  std::erase_if(awaited_,
                [&partition](const auto& one) { return one.request.partition == partition; });
  for (const AwaitedPartition& one : ready) {
    const auto end = servers_.find(one.connection);
    if (end != servers_.end()) serve(*end->second, one.request);
  }
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
  shut_down();
}

void NetworkEnvironment::shut_down() {
  impl_->servers_.clear();
  impl_->kept_.clear();
}

std::unique_ptr<ResultPartition> NetworkEnvironment::create_partition(
    const ResultPartitionDescriptor& descriptor, std::string* error) {
  const NetworkConfig& config = impl_->config_;
  LocalBufferPool* pool = impl_->buffers_.create_buffer_pool(
      config.semantics->partition_buffers(config, ResultPartitionType::PIPELINED_BOUNDED,
                                          descriptor.subpartitions),
      error);
  if (pool == nullptr) return nullptr;
  auto partition = std::make_unique<ResultPartition>(descriptor, *pool, *impl_->config_.semantics,
                                                     impl_->config_.exclusive_per_channel);
  impl_->partitions_.register_partition(*partition);
  partition->set_release_hook(
      [impl = impl_.get(), id = descriptor.id] { impl->partitions_.release_partition(id); });
  impl_->serve_awaited(descriptor.id);
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

const NetworkConfig& NetworkEnvironment::config() const {
  return impl_->config_;
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
