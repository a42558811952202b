#include "engine/network/partition_request_queue.hpp"

#include <utility>

namespace tailrace::engine {

class PartitionRequestQueue::ViewReader final : public BufferAvailabilityListener {
 public:
  ViewReader(PartitionRequestQueue& queue, InputChannelId receiver, std::int32_t credit,
             std::int32_t subpartition)
      : queue_(queue),
        receiver_(receiver),
        subpartition_(subpartition),
        initial_credit_(credit),
        credit_(credit) {}

  void request_view(PipelinedSubpartition& subpartition) {
    view_ = subpartition.create_read_view(*this);
  }
  void notify_data_available() override {
    // The signal from inside create_read_view: the new reader is tried right afterwards anyway.
    if (view_ != nullptr) queue_.enqueue(*this);
  }
  void notify_priority_event(std::int32_t /*sequence_number*/) override { notify_data_available(); }

  // Whether something can be sent now, and how much data waits.
  [[nodiscard]] ResultSubpartitionView::AvailabilityWithBacklog availability_and_backlog() const {
    return view_->availability_and_backlog(credit_ > 0);
  }
  // Whether the receiver has no buffers and learns of the backlog in no other way.
  [[nodiscard]] bool needs_backlog_announcement() const {
    return initial_credit_ == 0 && credit_ == 0;
  }
  std::optional<BufferAndBacklog> get_next_buffer() {
    std::optional<BufferAndBacklog> next = view_->get_next_buffer();
    if (!next) return next;
    if (!queue_.semantics_.subpartition_numbers_items) next->sequence_number = sequence_number_++;
    if (next->item.is_buffer()) --credit_;
    TAILRACE_ASSERT_MSG(credit_ >= 0, "a data buffer was sent without credit");  // Q1
    if (credit_ == 0) next->more_available = next->next_is_event();
    return next;
  }

  [[nodiscard]] InputChannelId receiver() const { return receiver_; }
  [[nodiscard]] std::int32_t subpartition() const { return subpartition_; }
  [[nodiscard]] std::int32_t credit() const { return credit_; }
  void add_credit(std::int32_t credit) { credit_ += credit; }
  void resume_consumption() {
    // The receiver gave its floating buffers back when it was blocked.
    if (initial_credit_ == 0) credit_ = 0;
    view_->resume_consumption();
  }
  void notify_new_buffer_size(std::int32_t bytes) { view_->notify_new_buffer_size(bytes); }
  void acknowledge_all_records_processed() { view_->acknowledge_all_data_processed(); }

  bool is_queued = false;

 private:
  PartitionRequestQueue& queue_;
  InputChannelId receiver_;
  std::int32_t subpartition_;
  std::int32_t initial_credit_;
  std::int32_t credit_;
  std::int32_t sequence_number_ = 0;
  std::unique_ptr<ResultSubpartitionView> view_;
};

PartitionRequestQueue::PartitionRequestQueue(MessageSink& sink, WirePool& pool,
                                             const NetworkSemantics& semantics)
    : sink_(sink), pool_(pool), semantics_(semantics) {}

PartitionRequestQueue::~PartitionRequestQueue() = default;

void PartitionRequestQueue::add_reader(InputChannelId receiver, std::int32_t credit,
                                       PipelinedSubpartition& subpartition,
                                       std::int32_t subpartition_index) {
  auto& reader = readers_[receiver];
  TAILRACE_ASSERT(reader == nullptr);
  reader = std::make_unique<ViewReader>(*this, receiver, credit, subpartition_index);
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

void PartitionRequestQueue::notify_new_buffer_size(InputChannelId receiver, std::int32_t bytes) {
  const auto found = readers_.find(receiver);
  if (found != readers_.end()) found->second->notify_new_buffer_size(bytes);
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
  if (reader.is_queued) return;
  const auto state = reader.availability_and_backlog();
  if (!state.available) {
    // Not flow-controlled: without it the receiver has no reason to send credit.
    if (state.backlog > 0 && reader.needs_backlog_announcement()) {
      sink_.send(make_backlog_announcement(pool_, {state.backlog, reader.receiver()}), false);
    }
    return;
  }
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
    BufferResponse header;
    header.receiver = reader.receiver();
    header.subpartition = reader.subpartition();
    header.sequence_number = next->sequence_number;
    header.backlog = next->backlog;
    WireMessageHandle message = semantics_.wire.make_buffer_response(pool_, header, next->item);
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
