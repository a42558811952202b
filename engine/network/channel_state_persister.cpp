#include "engine/network/channel_state_persister.hpp"

#include <utility>

namespace tailrace::engine {

std::optional<CheckpointFailureReason> ChannelStatePersister::start_persisting(
    CheckpointId id, std::vector<Buffer> known, const ChannelStateTarget& target) {
  if (status_ == Status::kBarrierReceived && last_seen_ > id) {
    return CheckpointFailureReason::CHECKPOINT_SUBSUMED;
  }
  if (last_seen_ < id) {
    status_ = Status::kBarrierPending;
    last_seen_ = id;
  }
  if (!known.empty() && target.writer != nullptr) {
    target.writer->add_input_data(id, target.channel, ChannelStateWriter::kSequenceNumberUnknown,
                                  std::move(known));
  }
  return std::nullopt;
}

void ChannelStatePersister::stop_persisting(CheckpointId id) {
  if (id < last_seen_) return;
  status_ = Status::kCompleted;
  last_seen_ = id;
}

void ChannelStatePersister::maybe_persist(const NetworkItem& item,
                                          const ChannelStateTarget& target) {
  if (status_ != Status::kBarrierPending || !item.is_buffer() || target.writer == nullptr) return;
  std::vector<Buffer> data;
  data.push_back(item.buffer);
  target.writer->add_input_data(last_seen_, target.channel,
                                ChannelStateWriter::kSequenceNumberUnknown, std::move(data));
}

bool ChannelStatePersister::check_for_barrier(CheckpointId id) {
  const CheckpointId expected = status_ == Status::kCompleted ? last_seen_ + 1 : last_seen_;
  if (id < expected) return false;
  status_ = Status::kBarrierReceived;
  last_seen_ = id;
  return true;
}

}  // namespace tailrace::engine
