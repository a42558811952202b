#include "engine/task/f120/channel_state_checkpoint_writer.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "engine/network/big_endian.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine::f120 {
namespace {

constexpr std::int64_t kIntegerBytes = 4;
constexpr std::int64_t kHeaderBytes = kIntegerBytes;  // version 0

void append_int32(std::vector<std::byte>& out, std::uint32_t value) {
  out.resize(out.size() + kIntegerBytes);
  put_int32(out.data() + out.size() - kIntegerBytes, value);
}

// Flink ChannelStateSerializerImpl.extractAndMerge: a small file of one channel, with all its buffers as
// one.
std::vector<std::byte> extract_and_merge(const std::vector<std::byte>& file,
                                         const std::vector<std::int64_t>& offsets) {
  std::vector<std::byte> result;
  append_int32(result, 0);
  append_int32(result, 0);
  for (const std::int64_t offset : offsets) {
    const auto at = file.begin() + offset + kIntegerBytes;
    result.insert(result.end(), at, at + get_int32(file.data() + offset));
  }
  put_int32(result.data() + kHeaderBytes,
            static_cast<std::uint32_t>(result.size() - kHeaderBytes - kIntegerBytes));
  return result;
}

}  // namespace

ChannelStateCheckpointWriter::ChannelStateCheckpointWriter(std::set<ChannelStateSubtask> subtasks,
                                                           CheckpointId checkpoint,
                                                           CheckpointOptions options,
                                                           FsCheckpointStreamFactory& streams,
                                                           base::InplaceFunction<void()> written)
    : to_register_(std::move(subtasks)),
      checkpoint_(checkpoint),
      options_(std::move(options)),
      streams_(streams),
      written_(std::move(written)) {
  TAILRACE_ASSERT(!to_register_.empty());
  append_int32(bytes_, 0);
}

void ChannelStateCheckpointWriter::register_subtask_result(
    ChannelStateSubtask subtask, std::shared_ptr<ChannelStateWriteResult> result) {
  TAILRACE_ASSERT(!is_done());
  to_register_.erase(subtask);
  const bool is_new = results_.emplace(subtask, PendingResult{std::move(result), {}, {}}).second;
  TAILRACE_ASSERT(is_new);
}

ChannelStateCheckpointWriter::Next ChannelStateCheckpointWriter::release_subtask(
    ChannelStateSubtask subtask) {
  return to_register_.erase(subtask) > 0 ? try_finish_result() : Next::kGo;
}

ChannelStateCheckpointWriter::PendingResult& ChannelStateCheckpointWriter::pending(
    ChannelStateSubtask subtask) {
  const auto found = results_.find(subtask);
  TAILRACE_ASSERT(found != results_.end());
  return found->second;
}

bool ChannelStateCheckpointWriter::is_done() const {
  return failed_ || std::any_of(results_.begin(), results_.end(),
                                [](const auto& entry) { return entry.second.result->is_done(); });
}

// --- writing -----------------------------------------------------------------------------------

ChannelStateCheckpointWriter::Next ChannelStateCheckpointWriter::write_input(
    ChannelStateSubtask subtask, InputChannelInfo channel, const Buffer& buffer) {
  if (is_done()) return Next::kGo;
  PendingResult& result = pending(subtask);
  TAILRACE_ASSERT(!result.all_inputs_received);
  return write(result.inputs[channel], buffer);
}

ChannelStateCheckpointWriter::Next ChannelStateCheckpointWriter::write_output(
    ChannelStateSubtask subtask, ResultSubpartitionInfo subpartition, const Buffer& buffer) {
  if (is_done()) return Next::kGo;
  PendingResult& result = pending(subtask);
  TAILRACE_ASSERT(!result.all_outputs_received);
  return write(result.outputs[subpartition], buffer);
}

ChannelStateCheckpointWriter::Next ChannelStateCheckpointWriter::write(Content& content,
                                                                       const Buffer& buffer) {
  const std::span<const std::byte> data = buffer.bytes();
  content.offsets.push_back(static_cast<std::int64_t>(bytes_.size()));
  content.size_bytes += kIntegerBytes + static_cast<std::int64_t>(data.size());
  append_int32(bytes_, static_cast<std::uint32_t>(data.size()));
  bytes_.insert(bytes_.end(), data.begin(), data.end());
  // Flink FsCheckpointStateOutputStream.write: small pieces are gathered in memory.
  const std::int64_t gathered = static_cast<std::int64_t>(bytes_.size()) - ahead_;
  const std::int64_t capacity = streams_.write_buffer_bytes();
  if (static_cast<std::int64_t>(data.size()) >= capacity) return flush(gathered);
  return gathered > capacity ? flush(capacity) : Next::kGo;
}

ChannelStateCheckpointWriter::Next ChannelStateCheckpointWriter::flush(std::int64_t bytes) {
  const bool crosses = streams_.write_ahead(bytes, lifeline_.bind([this](PutStatus status) {
    if (status == PutStatus::kFailed) fail(CheckpointFailureReason::CHECKPOINT_ASYNC_EXCEPTION);
    written_();
  }));
  if (!crosses) return Next::kGo;
  ahead_ += bytes;
  return Next::kWait;
}

// --- the end -----------------------------------------------------------------------------------

ChannelStateCheckpointWriter::Next ChannelStateCheckpointWriter::complete_input(
    ChannelStateSubtask subtask) {
  if (is_done()) return Next::kGo;
  PendingResult& result = pending(subtask);
  TAILRACE_ASSERT(!result.all_inputs_received);
  result.all_inputs_received = true;
  return try_finish_result();
}

ChannelStateCheckpointWriter::Next ChannelStateCheckpointWriter::complete_output(
    ChannelStateSubtask subtask) {
  if (is_done()) return Next::kGo;
  PendingResult& result = pending(subtask);
  TAILRACE_ASSERT(!result.all_outputs_received);
  result.all_outputs_received = true;
  return try_finish_result();
}

ChannelStateCheckpointWriter::Next ChannelStateCheckpointWriter::try_finish_result() {
  if (!to_register_.empty()) return Next::kGo;
  for (const auto& [subtask, result] : results_) {
    if (!result.all_inputs_received || !result.all_outputs_received) return Next::kGo;
  }
  if (is_done()) return Next::kGo;
  if (static_cast<std::int64_t>(bytes_.size()) == kHeaderBytes) {
    finish_results(nullptr);  // no file at all
    return Next::kGo;
  }
  upload_ = streams_.write(
      checkpoint_, options_, std::move(bytes_),
      [this](const StreamStateHandlePtr& stream) {
        if (stream == nullptr) {
          fail(CheckpointFailureReason::CHECKPOINT_ASYNC_EXCEPTION);
        } else {
          finish_results(stream);
        }
        written_();
      },
      ahead_);
  return Next::kWait;
}

void ChannelStateCheckpointWriter::finish_results(const StreamStateHandlePtr& stream) {
  completed_ = true;
  for (auto& [subtask, pending] : results_) {
    ChannelStateWriteResult::Handles handles;
    handles.input_channels = handles_of(subtask.subtask, pending.inputs, stream);
    handles.result_subpartitions = handles_of(subtask.subtask, pending.outputs, stream);
    pending.result->complete(std::move(handles));
  }
}

template <typename Info>
std::vector<ChannelStateHandle<Info>> ChannelStateCheckpointWriter::handles_of(
    std::int32_t subtask, const std::map<Info, Content>& contents,
    const StreamStateHandlePtr& stream) const {
  std::vector<ChannelStateHandle<Info>> handles;
  for (const auto& [info, content] : contents) {
    ChannelStateHandle<Info> handle{subtask, info, content.offsets, content.size_bytes, stream};
    if (const auto* small = std::get_if<ByteStreamStateHandle>(stream.get())) {
      const auto [outer, inner] = info;
      ByteStreamStateHandle own{
          small->name + "-" + std::to_string(outer) + "-" + std::to_string(inner),
          extract_and_merge(small->bytes, content.offsets)};
      handle.offsets = {kHeaderBytes};
      handle.size_bytes = static_cast<std::int64_t>(own.bytes.size());
      handle.delegate = std::make_shared<const StreamStateHandle>(std::move(own));
    }
    handles.push_back(std::move(handle));
  }
  return handles;
}

void ChannelStateCheckpointWriter::fail(ChannelStateSubtask subtask,
                                        CheckpointFailureReason reason) {
  if (is_done()) return;
  failed_ = true;
  if (const auto found = results_.find(subtask); found != results_.end()) {
    found->second.result->fail(reason);
  }
  for (const auto& [other, pending] : results_) {
    pending.result->fail(CheckpointFailureReason::CHANNEL_STATE_SHARED_STREAM_EXCEPTION);
  }
}

void ChannelStateCheckpointWriter::fail(CheckpointFailureReason reason) {
  if (is_done()) return;
  failed_ = true;
  for (const auto& [subtask, pending] : results_) pending.result->fail(reason);
}

}  // namespace tailrace::engine::f120
