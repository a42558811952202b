// A subpartition of 1.20, fed from a recording, and what describes its items.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/network/f120/event_serializer.hpp"
#include "engine/network/pipelined_subpartition.hpp"
#include "sim/base/assert.hpp"
#include "tests/golden/golden_registry.hpp"
#include "tests/golden/subpartition_f110.hpp"

namespace tailrace::golden::network_f120 {

using namespace engine;
using network_f110::bytes_of;
using network_f110::channels_of;
using network_f110::Segments;
using network_f110::step_name;

inline std::string name_of(DataType type) {
  switch (type) {
    case DataType::kNone:
      return "none";
    case DataType::kDataBuffer:
      return "data";
    case DataType::kEventBuffer:
      return "event";
    case DataType::kPrioritizedEventBuffer:
      return "priority";
    case DataType::kAlignedCheckpointBarrier:
      return "aligned";
    case DataType::kTimeoutableAlignedCheckpointBarrier:
      return "timeoutable";
    case DataType::kRecoveryCompletion:
      return "recoveryCompletion";
    case DataType::kEndOfData:
      return "endOfData";
    case DataType::kEndOfPartition:
      return "endOfPartition";
  }
  return "?";
}

struct RecordedEvent {
  RuntimeEvent event;
  bool priority = false;
};

// In the words of all recordings of 1.20.
inline RecordedEvent event_of(const std::string& kind, CheckpointId id) {
  if (kind == "cancel") return {CancelCheckpointMarker{id}};
  if (kind == "recovered" || kind == "recoveryCompletion") return {EndOfChannelState{}};
  if (kind == "endofdata" || kind == "endOfData") return {EndOfData{}};
  if (kind == "end" || kind == "endOfPartition") return {EndOfPartitionEvent{}};
  CheckpointBarrier barrier{id, 0, {}};
  if (kind == "savepoint") {
    barrier.options.type = CheckpointType::SAVEPOINT;
  } else if (kind == "atleastonce" || kind == "atLeastOnce") {
    barrier.options.alignment = AlignmentType::AT_LEAST_ONCE;
  } else if (kind == "timeoutable") {
    barrier.options.aligned_checkpoint_timeout = base::Duration::millis(10);
  } else if (kind == "unaligned") {
    barrier.options.alignment = AlignmentType::UNALIGNED;
  } else if (kind != "aligned") {
    throw MalformedCase("unknown event: " + kind);
  }
  return {barrier, kind == "unaligned"};
}

inline BufferConsumer consumer_of(const RecordedEvent& recorded) {
  const NetworkSemantics& semantics = network_semantics_120();
  return BufferConsumer(semantics.serialize_event(recorded.event),
                        semantics.data_type_of(recorded.event, recorded.priority));
}

// As the recordings have it. `number_of`: of a data buffer.
template <typename NumberOf>
Json queue_of(const PipelinedSubpartition& subpartition, const NumberOf& number_of) {
  Json items = Json::array();
  for (std::size_t i = 0; i < subpartition.queue().size(); ++i) {
    const BufferConsumer& one = subpartition.queue()[i];
    if (one.is_buffer()) {
      items.push_back({number_of(*one.segment()), "data", one.read(), one.segment()->written(),
                       one.segment()->finished() ? 1 : 0, one.is_finished() ? 1 : 0});
    } else {
      items.push_back({nullptr, name_of(one.type()), 0, one.unread(), 1, 1});
    }
  }
  return items;
}

// Notes what output data is persisted or promised; `describe` says what of a buffer is noted.
class RecordingWriter final : public ChannelStateWriter {
 public:
  using Describe = std::function<Json(const Buffer&)>;
  RecordingWriter(Json& out, Describe describe) : out_(out), describe_(std::move(describe)) {}

  void add_output_data(CheckpointId id, ResultSubpartitionInfo, std::int32_t,
                       std::vector<Buffer> data) override {
    out_.push_back({{"e", "persist"}, {"cp", id}, {"slices", slices(data)}});
  }
  void add_output_data_future(CheckpointId id, ResultSubpartitionInfo, std::int32_t,
                              std::shared_ptr<ChannelStateDataFuture> data) override {
    out_.push_back({{"e", "future"}, {"cp", id}});
    futures.emplace_back(id, data);
    data->when_done([this, id, future = data.get()] {
      if (future->state() == ChannelStateDataFuture::State::kFailed) {
        out_.push_back({{"e", "futureFailed"}, {"cp", id}});
      } else {
        out_.push_back({{"e", "futureDone"}, {"cp", id}, {"slices", slices(future->take_data())}});
      }
    });
  }
  void start(CheckpointId, const CheckpointOptions&) override {}
  void add_input_data(CheckpointId, InputChannelInfo, std::int32_t, std::vector<Buffer>) override {}
  void finish_input(CheckpointId) override {}
  void finish_output(CheckpointId) override {}
  void abort(CheckpointId) override {}
  void close() override {}

  std::vector<std::pair<CheckpointId, std::shared_ptr<ChannelStateDataFuture>>> futures;

 private:
  Json slices(const std::vector<Buffer>& data) const {
    Json list = Json::array();
    for (const Buffer& buffer : data) list.push_back(describe_(buffer));
    return list;
  }

  Json& out_;
  Describe describe_;
};

// One subpartition with its reader and its writer, who notes what it is called with.
class SubpartitionReplay final : public BufferAvailabilityListener {
 public:
  explicit SubpartitionReplay(std::int32_t exclusive_buffers)
      : subpartition(nullptr, network_semantics_120(), {}, exclusive_buffers) {
    subpartition.set_channel_state_writer(writer);
  }

  void notify_data_available() override { out.push_back({{"e", "data"}}); }
  void notify_priority_event(std::int32_t sequence_number) override {
    out.push_back({{"e", "priority"}, {"seq", sequence_number}});
  }

  void attach() { view = subpartition.create_read_view(*this); }
  void signal(bool wanted) {
    if (wanted) subpartition.notify_data_available();
  }
  // Returns: what Flink's append answers.
  Json append(BufferConsumer consumer, bool finish = false) {
    const std::int32_t answer = subpartition.desired_buffer_size();
    signal(subpartition.add(std::move(consumer), finish));
    return answer;
  }
  Json append_event(const std::string& kind, CheckpointId id) {
    return append(consumer_of(event_of(kind, id)), kind == "end");
  }
  ResultSubpartitionView& reader() const {
    if (view == nullptr) throw MalformedCase("there is no view yet");
    return *view;
  }
  NetworkBuffer& open_buffer() const {
    if (open == nullptr) throw MalformedCase("no buffer is open");
    return *open;
  }
  Json place(const Buffer& buffer) const {
    const auto [number, from] = segments.place(buffer);
    return {number, from, buffer.size()};
  }

  Json out = Json::array();
  Segments segments;  // outlives those who hold some
  RecordingWriter writer{out, [this](const Buffer& buffer) { return place(buffer); }};
  PipelinedSubpartition subpartition;
  std::unique_ptr<ResultSubpartitionView> view;
  NetworkBuffer* open = nullptr;
};

}  // namespace tailrace::golden::network_f120
