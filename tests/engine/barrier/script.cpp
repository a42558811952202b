#include "tests/engine/barrier/script.hpp"

#include <map>
#include <sstream>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "engine/barrier/f110/cached_buffer_storage.hpp"
#include "engine/barrier/f110/checkpoint_barrier_aligner.hpp"
#include "engine/barrier/f110/checkpoint_barrier_tracker.hpp"
#include "engine/barrier/f110/checkpointed_input_gate.hpp"

namespace tailrace::engine::test {
namespace {

constexpr std::int64_t kPageBytes = 512;

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::string short_name(CheckpointFailureReason reason) {
  switch (reason) {
    case CheckpointFailureReason::CHECKPOINT_DECLINED_SUBSUMED:
      return "sub";
    case CheckpointFailureReason::CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER:
      return "can";
    case CheckpointFailureReason::CHECKPOINT_DECLINED_ALIGNMENT_LIMIT_EXCEEDED:
      return "lim";
    case CheckpointFailureReason::CHECKPOINT_DECLINED_INPUT_END_OF_STREAM:
      return "eop";
    default:
      return "?";
  }
}

std::string notation_of(const Notification& note, bool with_pages) {
  std::string text(1, note.is_trigger ? 'T' : 'X');
  text += std::to_string(note.id);
  if (!note.is_trigger) {
    text += ':';
    text += short_name(note.reason);
  } else if (with_pages) {
    text += '/';
    text += std::to_string(note.alignment.bytes_buffered / kPageBytes);
  }
  return text;
}

// A gate fed with words of a script; numbers the items.
class Feeder {
 public:
  Feeder(ScriptedInputGate& gate, NumberedBuffers& buffers) : gate_(gate), buffers_(buffers) {}

  void feed(const std::string& word) {
    const std::int64_t position = next_++;
    const auto at = word.find('@');
    const char kind = word.at(0);
    const ChannelIndex channel = std::stoi(word.substr(at == std::string::npos ? 1 : at + 1));
    if (kind == 'b') {
      gate_.feed(channel, buffers_.make(position));
    } else if (kind == 'E') {
      ends_[channel] = position;
      gate_.feed(channel, RuntimeEvent(EndOfPartitionEvent{}));
    } else if (kind == '#') {
      gate_.feed(channel, RuntimeEvent(CheckpointBarrier{std::stoll(word.substr(1)), 0, {}}));
    } else if (kind == 'x') {
      gate_.feed(channel, RuntimeEvent(CancelCheckpointMarker{std::stoll(word.substr(1))}));
    } else {
      throw std::invalid_argument(word);
    }
  }
  [[nodiscard]] std::int64_t position_of(const BufferOrEvent& item) const {
    return item.is_buffer() ? NumberedBuffers::number_of(std::get<Buffer>(item.item))
                            : ends_.at(item.channel);
  }

 private:
  ScriptedInputGate& gate_;
  NumberedBuffers& buffers_;
  std::int64_t next_ = 0;
  std::map<ChannelIndex, std::int64_t> ends_;
};

std::string blocked_set(const f110::CheckpointBarrierHandler& handler, std::int32_t channels) {
  std::string set = "{";
  for (ChannelIndex channel = 0; channel < channels; ++channel) {
    if (handler.is_blocked(channel)) set += std::to_string(channel);
  }
  return set + "}";
}

}  // namespace

std::string play_through_aligner(std::int32_t channels, std::int64_t max_buffered_bytes,
                                 const std::string& input) {
  ManualClock clock;
  NotingListener listener;
  NumberedBuffers buffers;
  std::string answer;
  {
    ScriptedInputGate gate(channels, ScriptedInputGate::Order::kArrival,
                           ScriptedInputGate::End::kWhenEmpty);
    f110::CheckpointBarrierAligner aligner(channels, listener, clock);
    f110::CachedBufferStorage storage(kPageBytes, max_buffered_bytes);
    f110::CheckpointedInputGate checkpointed(gate, aligner, storage);
    Feeder feeder(gate, buffers);
    for (const std::string& word : words_of(input)) feeder.feed(word);

    std::string blocked = "{}";
    while (!checkpointed.is_finished()) {
      const auto item = checkpointed.poll_next();
      for (const Notification& note : listener.take()) {
        answer += notation_of(note, channels > 1) + " ";
      }
      if (!item) continue;
      answer += std::to_string(feeder.position_of(*item));
      if (const std::string now = blocked_set(aligner, channels); now != blocked) {
        answer += now;
        blocked = now;
      }
      answer += " ";
    }
    answer += "L=" + std::to_string(aligner.latest_checkpoint_id());
    EXPECT_TRUE(storage.is_empty());
  }
  EXPECT_EQ(buffers.out(), 0) << "every buffer goes back";
  return answer;
}

std::string play_through_tracker(std::int32_t channels, const std::string& input) {
  NotingListener listener;
  NumberedBuffers buffers;
  ScriptedInputGate gate(channels, ScriptedInputGate::Order::kArrival,
                         ScriptedInputGate::End::kAllPartitionsEnded);
  f110::CheckpointBarrierTracker tracker(channels, listener);
  f110::EmptyBufferStorage storage;
  f110::CheckpointedInputGate checkpointed(gate, tracker, storage);
  Feeder feeder(gate, buffers);
  std::string answer;
  std::int64_t position = 0;
  for (const std::string& word : words_of(input)) {
    feeder.feed(word);
    if (!answer.empty()) answer += ' ';
    answer += word;
    std::int64_t came_out = 0;
    while (const auto item = checkpointed.poll_next()) {
      EXPECT_EQ(feeder.position_of(*item), position) << "items flow in the order of arrival";
      ++came_out;
    }
    const bool is_visible = word[0] == 'b' || word[0] == 'E';
    EXPECT_EQ(came_out, is_visible ? 1 : 0) << word;
    for (const Notification& note : listener.take()) {
      answer += ' ';
      answer += notation_of(note, false);
    }
    ++position;
  }
  answer += " | ";
  for (const CheckpointId id : tracker.pending_checkpoint_ids()) answer += std::to_string(id);
  return answer;
}

std::string without_notifications(const std::string& script) {
  std::string items;
  for (const std::string& word : words_of(script)) {
    if (word[0] == 'T' || word[0] == 'X') continue;
    if (!items.empty()) items += ' ';
    items += word;
  }
  return items;
}

}  // namespace tailrace::engine::test
