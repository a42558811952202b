#include "engine/network/partition_request_queue.hpp"

#include <utility>

namespace tailrace::engine {

class PartitionRequestQueue::ViewReader final : public BufferAvailabilityListener {
 public:
  ViewReader(PartitionRequestQueue& queue, InputChannelId receiver, std::int32_t credit)
      : queue_(queue), receiver_(receiver), credit_(credit) {}

  void request_view(PipelinedSubpartition& subpartition) {
    view_ = subpartition.create_read_view(*this);
  }
  void notify_data_available() override {
    // The signal from inside create_read_view: the new reader is tried right afterwards anyway.
    if (view_ != nullptr) queue_.enqueue(*this);
  }

  [[nodiscard]] bool is_available() const {
    return credit_ > 0 ? view_->is_available() : view_->next_buffer_is_event();
  }
  std::optional<BufferAndBacklog> get_next_buffer() {
    std::optional<BufferAndBacklog> next = view_->get_next_buffer();
    if (!next) return next;
    ++sequence_number_;
    if (next->item.is_buffer()) --credit_;
    TAILRACE_ASSERT_MSG(credit_ >= 0, "a data buffer was sent without credit");
    next->more_available = credit_ > 0 ? next->more_available : next->next_is_event();
    return next;
  }

  [[nodiscard]] InputChannelId receiver() const { return receiver_; }
  [[nodiscard]] std::int32_t credit() const { return credit_; }
  [[nodiscard]] std::int32_t sequence_number() const { return sequence_number_; }
  void add_credit(std::int32_t credit) { credit_ += credit; }
  void resume_consumption() { view_->resume_consumption(); }
  void acknowledge_all_records_processed() { view_->acknowledge_all_data_processed(); }

  bool is_queued = false;

 private:
  PartitionRequestQueue& queue_;
  InputChannelId receiver_;
  std::int32_t credit_;
  std::int32_t sequence_number_ = -1;
  std::unique_ptr<ResultSubpartitionView> view_;
};

PartitionRequestQueue::PartitionRequestQueue(MessageSink& sink, WirePool& pool)
    : sink_(sink), pool_(pool) {}

PartitionRequestQueue::~PartitionRequestQueue() = default;

void PartitionRequestQueue::add_reader(InputChannelId receiver, std::int32_t credit,
                                       PipelinedSubpartition& subpartition) {
  auto& reader = readers_[receiver];
  TAILRACE_ASSERT(reader == nullptr);
  reader = std::make_unique<ViewReader>(*this, receiver, credit);
  reader->request_view(subpartition);
  enqueue(*reader);
}

void PartitionRequestQueue::add_credit(InputChannelId receiver, std::int32_t credit) {
  const auto found = readers_.find(receiver);
  if (found == readers_.end()) return;
  found->second->add_credit(credit);
  enqueue(*found->second);
}

void PartitionRequestQueue::resume_consumption(InputChannelId receiver) {
  const auto found = readers_.find(receiver);
  if (found == readers_.end()) return;
  found->second->resume_consumption();
  enqueue(*found->second);
}

void PartitionRequestQueue::acknowledge_all_records_processed(InputChannelId receiver) {
  const auto found = readers_.find(receiver);
  if (found != readers_.end()) found->second->acknowledge_all_records_processed();
}

void PartitionRequestQueue::cancel(InputChannelId receiver) {
  const auto found = readers_.find(receiver);
  if (found == readers_.end()) return;
  // Out of the map first: dropping the view may end in calls back here.
  const std::unique_ptr<ViewReader> reader = std::move(found->second);
  readers_.erase(found);
}

void PartitionRequestQueue::enqueue(ViewReader& reader) {
  if (reader.is_queued || !reader.is_available()) return;
  reader.is_queued = true;
  available_.push_back(reader.receiver());
  write_next();
}

void PartitionRequestQueue::write_next() {
  while (!writing_ && sink_.is_writable() && !available_.empty()) {
    const auto found = readers_.find(available_.pop_front());
    if (found == readers_.end()) continue;
    ViewReader& reader = *found->second;
    reader.is_queued = false;
    std::optional<BufferAndBacklog> next = reader.get_next_buffer();
    if (!next) continue;
    if (next->more_available) {
      reader.is_queued = true;
      available_.push_back(reader.receiver());
    }
    WireMessageHandle message = make_buffer_response(
        pool_, reader.receiver(), reader.sequence_number(), next->backlog, next->item);
    writing_ = true;
    in_write_ = std::move(next->item);
    sink_.send(std::move(message), true);
  }
}

void PartitionRequestQueue::on_written() {
  in_write_ = {};
  writing_ = false;
  write_next();
}

std::optional<PartitionRequestQueue::ReaderState> PartitionRequestQueue::find_reader(
    InputChannelId receiver) const {
  const auto found = readers_.find(receiver);
  if (found == readers_.end()) return std::nullopt;
  return ReaderState{found->second->credit(), found->second->is_queued};
}

std::vector<InputChannelId> PartitionRequestQueue::queued_readers() const {
  std::vector<InputChannelId> receivers;
  for (std::size_t i = 0; i < available_.size(); ++i) receivers.push_back(available_[i]);
  return receivers;
}

}  // namespace tailrace::engine
