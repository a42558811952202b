#include "engine/network/channel_state_persister.hpp"

#include <utility>

namespace tailrace::engine {

std::optional<CheckpointFailureReason> ChannelStatePersister::start_persisting(
    CheckpointId id, std::vector<Buffer> known) {
  if (status_ == Status::kBarrierReceived && last_seen_ > id) {
    return CheckpointFailureReason::CHECKPOINT_SUBSUMED;
  }
  if (last_seen_ < id) {
    status_ = Status::kBarrierPending;
    last_seen_ = id;
  }
  if (!known.empty() && writer_ != nullptr) {
    writer_->add_input_data(id, channel_, ChannelStateWriter::kSequenceNumberUnknown,
                            std::move(known));
  }
  return std::nullopt;
}

void ChannelStatePersister::stop_persisting(CheckpointId id) {
  if (id < last_seen_) return;
  status_ = Status::kCompleted;
  last_seen_ = id;
}

void ChannelStatePersister::maybe_persist(const NetworkItem& item) {
  if (status_ != Status::kBarrierPending || !item.is_buffer() || writer_ == nullptr) return;
  std::vector<Buffer> data;
  data.push_back(item.buffer);
  writer_->add_input_data(last_seen_, channel_, ChannelStateWriter::kSequenceNumberUnknown,
                          std::move(data));
}

bool ChannelStatePersister::check_for_barrier(CheckpointId id) {
  const CheckpointId expected = status_ == Status::kCompleted ? last_seen_ + 1 : last_seen_;
  if (id < expected) return false;
  status_ = Status::kBarrierReceived;
  last_seen_ = id;
  return true;
}

}  // namespace tailrace::engine
