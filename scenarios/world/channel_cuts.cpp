#include "scenarios/world/channel_cuts.hpp"

#include <optional>
#include <string>

#include "sim/base/assert.hpp"

namespace tailrace::scenarios {
namespace {

std::string name_of(engine::CheckpointId id, const engine::ResultPartitionId& partition,
                    std::size_t subpartition) {
  return "checkpoint " + std::to_string(id) + ", data set " + std::to_string(partition.data_set) +
         " from subtask " + std::to_string(partition.partition) + " to subtask " +
         std::to_string(subpartition);
}

}  // namespace

void ChannelCuts::on_triggered(engine::JobId job, engine::CheckpointId id) {
  pending_.try_emplace({job, id});
}

void ChannelCuts::on_completed(engine::JobId job, engine::CheckpointId id) {
  const auto found = pending_.find({job, id});
  if (found == pending_.end()) return;
  for (const auto& [partition, channels] : found->second) {
    for (std::size_t i = 0; i < channels.size(); ++i) check(id, partition, i, channels[i]);
  }
  pending_.erase(found);
  last_ = {};
}

void ChannelCuts::on_failed(engine::JobId job, engine::CheckpointId id) {
  pending_.erase({job, id});
  last_ = {};
}

void ChannelCuts::check(engine::CheckpointId id, const engine::ResultPartitionId& partition,
                        std::size_t subpartition, const Channel& channel) {
  if (channel.output.checkpoint != id) return;  // no barrier went through it
  TAILRACE_ASSERT_MSG(channel.input.checkpoint == id,
                      "K7: a barrier was sent and its reader took no snapshot: " +
                          name_of(id, partition, subpartition));
  engine::ChannelCut cut;
  cut.sent = channel.output.sent + channel.input.recovered;
  cut.consumed = channel.input.consumed;
  cut.output_state = channel.output.persisted;
  cut.input_state = channel.input_state;
  const std::optional<std::string> problem = engine::check_channel_cut(cut);
  TAILRACE_ASSERT_MSG(!problem.has_value(),
                      "K6: " + *problem + ": " + name_of(id, partition, subpartition));
  ++channels_checked_;
}

ChannelCuts::Channel* ChannelCuts::find(engine::JobId job, engine::CheckpointId id,
                                        const engine::ResultPartitionId& partition,
                                        std::int32_t subpartition) {
  const Key key{job, id};
  if (last_.checkpoint == nullptr || last_.key != key) {
    const auto found = pending_.find(key);
    if (found == pending_.end()) return nullptr;
    last_ = {key, &found->second, {}, nullptr};
  }
  if (last_.channels == nullptr || last_.partition != partition) {
    last_.partition = partition;
    last_.channels = &(*last_.checkpoint)[partition];
  }
  std::vector<Channel>& channels = *last_.channels;
  const auto index = static_cast<std::size_t>(subpartition);
  if (channels.size() <= index) channels.resize(index + 1);
  return &channels[index];
}

void ChannelCuts::on_output_cut(engine::JobId job, const engine::ResultPartitionId& partition,
                                std::int32_t subpartition, const engine::SubpartitionCut& cut) {
  Channel* channel = find(job, cut.checkpoint, partition, subpartition);
  if (channel != nullptr) channel->output = cut;
}

void ChannelCuts::on_input_cut(engine::JobId job, const engine::ResultPartitionId& partition,
                               std::int32_t subpartition, const engine::InputCut& cut) {
  Channel* channel = find(job, cut.checkpoint, partition, subpartition);
  if (channel != nullptr) channel->input = cut;
}

void ChannelCuts::on_input_state(engine::JobId job, const engine::ResultPartitionId& partition,
                                 std::int32_t subpartition, engine::CheckpointId id,
                                 std::int64_t bytes) {
  Channel* channel = find(job, id, partition, subpartition);
  if (channel != nullptr) channel->input_state += bytes;
}

}  // namespace tailrace::scenarios
