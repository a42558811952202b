// A subpartition of 1.10, fed from a recording, and what describes its items.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/network/f110/event_serializer.hpp"
#include "engine/network/pipelined_subpartition.hpp"
#include "tests/golden/golden_registry.hpp"

namespace tailrace::golden::network_f110 {

using namespace engine;

inline EventBytes event_of(const std::string& kind, std::int64_t checkpoint) {
  if (kind == "cancel") return serialize_event(CancelCheckpointMarker{checkpoint});
  if (kind == "end" || kind == "eop") return serialize_event(EndOfPartitionEvent{});
  return serialize_event(CheckpointBarrier{checkpoint, 0, {}});
}

inline std::string name_of(const RuntimeEvent& event) {
  if (std::holds_alternative<CheckpointBarrier>(event)) return "CheckpointBarrier";
  if (std::holds_alternative<CancelCheckpointMarker>(event)) return "CancelCheckpointMarker";
  return "EndOfPartitionEvent";
}

inline std::string step_name(std::size_t number, const Json& step) {
  return "step " + std::to_string(number) + " (" + step.at("op").get<std::string>() + "): ";
}

// Checked before anything is allocated for them.
inline std::uint32_t bytes_of(const Json& number) {
  const auto bytes = number.get<std::int64_t>();
  if (bytes < 0 || bytes > 64 * 1024) throw MalformedCase("bytes: " + std::to_string(bytes));
  return static_cast<std::uint32_t>(bytes);
}
inline std::int32_t channels_of(const Json& number) {
  const auto channels = number.get<std::int64_t>();
  if (channels < 1 || channels > 1 << 16) {
    throw MalformedCase("channels: " + std::to_string(channels));
  }
  return static_cast<std::int32_t>(channels);
}

// Segments with numbers, as many as a case wants.
class Segments final : public BufferRecycler {
 public:
  NetworkBuffer& make(std::int64_t number, std::uint32_t written, bool finished) {
    data_.push_back(std::make_unique<std::byte[]>(kBytes));
    all_.push_back(std::make_unique<NetworkBuffer>(data_.back().get(), kBytes));
    NetworkBuffer& segment = *all_.back();
    segment.lend(*this);
    segment.commit(written);
    if (finished) segment.finish();
    numbers_[&segment] = number;
    return segment;
  }
  [[nodiscard]] std::int64_t number(const NetworkBuffer& segment) const {
    return numbers_.at(&segment);
  }
  // Number of the segment that holds these bytes, and where in it they start.
  [[nodiscard]] std::pair<Json, Json> place(const Buffer& buffer) const {
    const std::byte* at = buffer.bytes().data();
    for (std::size_t i = 0; i < data_.size(); ++i) {
      const std::less_equal<> not_behind;
      if (not_behind(data_[i].get(), at) && not_behind(at, data_[i].get() + kBytes)) {
        return {number(*all_[i]), at - data_[i].get()};
      }
    }
    return {};
  }
  void recycle(NetworkBuffer&) override {}

 private:
  static constexpr std::uint32_t kBytes = 64 * 1024;
  std::vector<std::unique_ptr<std::byte[]>> data_;
  std::vector<std::unique_ptr<NetworkBuffer>> all_;
  std::map<const NetworkBuffer*, std::int64_t> numbers_;  // looked up, never walked
};

struct SubpartitionReplay final : BufferAvailabilityListener {
  void notify_data_available() override { out.push_back({{"e", "data"}}); }

  void signal(bool wanted) {
    if (wanted) subpartition.notify_data_available();
  }
  Json append(BufferConsumer consumer, bool finish = false) {
    const std::size_t before = subpartition.queue().size();
    signal(subpartition.add(std::move(consumer), finish));
    return subpartition.queue().size() > before;
  }

  Json queue() const {
    Json items = Json::array();
    for (std::size_t i = 0; i < subpartition.queue().size(); ++i) {
      const BufferConsumer& one = subpartition.queue()[i];
      if (one.is_buffer()) {
        items.push_back({segments.number(*one.segment()), "data", one.read(),
                         one.segment()->written(), one.segment()->finished() ? 1 : 0,
                         one.is_finished() ? 1 : 0});
      } else {
        items.push_back({nullptr, "event", 0, one.unread(), 1, 1});
      }
    }
    return items;
  }

  // As the recording has it. Data bytes are consecutive: `from` is where the reader stood before.
  Json describe(const std::optional<BufferAndBacklog>& next) {
    if (!next) return nullptr;
    Json result = {{"bytes", next->item.size()},
                   {"backlog", next->backlog},
                   {"more", next->more_available},
                   {"nextIsEvent", next->next_is_event()}};
    if (next->item.is_buffer()) {
      const auto [number, from] = segments.place(next->item.buffer);
      result["type"] = "data";
      result["buffer"] = number;
      result["from"] = from;
    } else {
      result["type"] = "event";
      result["event"] = name_of(parse_event(*next->item.event));
    }
    return result;
  }

  void run(const Json& step, Json& got) {
    const std::string op = step.at("op");
    if (op == "attach") {
      view = subpartition.create_read_view(*this);
    } else if (op == "add") {
      open = &segments.make(step.at("buffer"), bytes_of(step.at("bytes")), step.at("finished"));
      got["returned"] = append(BufferConsumer(*open));
    } else if (op == "write") {
      open->commit(open->written() + step.at("bytes").get<std::uint32_t>());
    } else if (op == "finish") {
      open->finish();
    } else if (op == "cancel" || op == "barrier") {
      got["returned"] = append(BufferConsumer(event_of(op, step.at("cp"))));
    } else if (op == "end") {
      append(BufferConsumer(event_of(op, 0)), true);
    } else if (op == "flush") {
      signal(subpartition.flush());
    } else if (op == "release") {
      subpartition.release();
    } else if (op == "poll") {
      if (view == nullptr) throw MalformedCase("a poll before the view is attached");
      got["result"] = describe(view->get_next_buffer());
    } else {
      throw MalformedCase("unknown step: " + op);
    }
    got["queue"] = queue();
    got["backlog"] = subpartition.buffers_in_backlog();
    got["availableWithCredit"] = subpartition.is_available();
    got["availableWithoutCredit"] = subpartition.next_buffer_is_event();
  }

  Segments segments;
  PipelinedSubpartition subpartition{nullptr};
  std::unique_ptr<ResultSubpartitionView> view;
  NetworkBuffer* open = nullptr;
  Json out = Json::array();
};

}  // namespace tailrace::golden::network_f110
