// One channel of a task's input: its deserializer, and in 1.20 those of the channels of old whose
// buffers in flight come through it.
//
// Flink 1.20 DemultiplexingRecordDeserializer, RecordFilter (spec rescale.md S-4.6 to S-4.9). 1.10
// has the deserializer alone. Records span buffers, but never those of two virtual channels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/network/channel_selector.hpp"
#include "engine/network/events.hpp"
#include "engine/network/record_deserializer.hpp"
#include "engine/state/inflight_data_rescaling.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {

class ChannelReader {
 public:
  explicit ChannelReader(RecordType type) : type_(type), plain_(type) {}

  // Until end_recovery(), records belong to one of these channels, which a descriptor in front of
  // them selects. `filter` says, of a filtered one, whether a record belongs to this subtask; null
  // if none is filtered.
  void demultiplex(const std::vector<VirtualChannel>& channels,
                   std::shared_ptr<ChannelSelector> filter, std::int32_t subtask) {
    demultiplexes_ = true;
    filter_ = std::move(filter);
    subtask_ = subtask;
    for (const VirtualChannel& channel : channels) {
      virtual_.push_back({channel, RecordDeserializer(type_)});
    }
    current_ = virtual_.size();
  }
  // Returns: false if there is no such channel. Without virtual channels nothing is selected.
  [[nodiscard]] bool select(const SubtaskConnectionDescriptor& channel) {
    if (!demultiplexes_) return true;
    for (current_ = 0; current_ < virtual_.size(); ++current_) {
      const VirtualChannel& own = virtual_[current_].channel;
      if (own.old_subtask == channel.input_subtask && own.old_channel == channel.output_subtask) {
        return true;
      }
    }
    return false;
  }
  // Whether a buffer has somewhere to go.
  [[nodiscard]] bool accepts_data() const { return !demultiplexes_ || current_ < virtual_.size(); }
  // From now on it is a plain channel. Beginnings of records that never went on are dropped.
  // Returns: false if a buffer has not been read to its end.
  [[nodiscard]] bool end_recovery() {
    bool read = true;
    for (const Virtual& one : virtual_) read = read && one.deserializer.buffer_consumed();
    demultiplexes_ = false;
    virtual_.clear();
    filter_.reset();
    return read;
  }
  [[nodiscard]] bool demultiplexes() const { return demultiplexes_; }

  // Requires: accepts_data(); the buffer before has been read.
  void set_next_buffer(Buffer buffer) { active().set_next_buffer(std::move(buffer)); }
  // Returns: false if the next buffer is needed. As RecordDeserializer::next.
  bool next(Record& record) {
    if (!demultiplexes_) return plain_.next(record);
    if (!accepts_data()) return false;
    const bool filtered = virtual_[current_].channel.filtered;
    while (active().next(record)) {
      if (!filtered || filter_->select(record) == subtask_) return true;
    }
    return false;
  }
  // Counts a buffer with data that the network has delivered.
  // Invariant N1: a channel delivers its buffers in the order in which they were sent, each once.
  void received(const Buffer& buffer) {
    bytes += buffer.size();
    if (buffer.sequence_number() == 0) return;  // not numbered: from no channel of the network
    TAILRACE_ASSERT_MSG(buffer.sequence_number() == next_sequence_number(last_sequence_number_),
                        "N1: a channel delivers its buffer " +
                            std::to_string(buffer.sequence_number()) + " after number " +
                            std::to_string(last_sequence_number_));
    last_sequence_number_ = buffer.sequence_number();
  }
  // Counts a buffer of restored channel state.
  void recovered(const Buffer& buffer) { recovered_bytes_ += buffer.size(); }
  [[nodiscard]] std::int64_t recovered_bytes() const { return recovered_bytes_; }
  // Bytes that no whole record has been made of. While channels of old come through it, what they
  // have begun counts as consumed: end_recovery() drops it.
  [[nodiscard]] std::int64_t unconsumed_bytes() const {
    return demultiplexes_ ? 0 : static_cast<std::int64_t>(plain_.unconsumed_size());
  }
  // What channel state has to have of it. Requires: !demultiplexes().
  [[nodiscard]] std::vector<std::byte> unconsumed() const {
    TAILRACE_ASSERT(!demultiplexes_);
    std::vector<std::byte> rest;
    rest.reserve(plain_.unconsumed_size());
    plain_.append_unconsumed(rest);
    return rest;
  }

  std::int64_t bytes = 0;  // taken from the network

 private:
  struct Virtual {
    VirtualChannel channel;
    RecordDeserializer deserializer;
  };
  [[nodiscard]] RecordDeserializer& active() {
    TAILRACE_ASSERT(accepts_data());
    return demultiplexes_ ? virtual_[current_].deserializer : plain_;
  }

  RecordType type_;
  RecordDeserializer plain_;
  bool demultiplexes_ = false;
  std::vector<Virtual> virtual_;
  std::size_t current_ = 0;  // of virtual_; behind its end: none is selected
  std::shared_ptr<ChannelSelector> filter_;
  std::int32_t subtask_ = 0;
  std::uint32_t last_sequence_number_ = 0;
  std::int64_t recovered_bytes_ = 0;
};

}  // namespace tailrace::engine
