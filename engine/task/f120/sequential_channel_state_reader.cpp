#include "engine/task/f120/sequential_channel_state_reader.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "engine/network/big_endian.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine::f120 {
namespace {

constexpr std::int64_t kLengthBytes = 4;

}  // namespace

void SequentialChannelStateReader::add(std::int32_t outer, std::int32_t inner, std::int32_t subtask,
                                       const std::vector<std::int64_t>& offsets, std::int64_t size,
                                       const StreamStateHandlePtr& stream) {
  if (offsets.empty()) return;
  auto file = std::find_if(files_.begin(), files_.end(), [&stream](const File& known) {
    return is_same_stream(*known.stream, *stream);
  });
  if (file == files_.end()) file = files_.insert(files_.end(), {stream, {}});
  for (const Source& known : file->sources) {
    twice_ = twice_ || (known.outer == outer && known.inner == inner && known.subtask == subtask);
  }
  // All pieces but one are at least their length.
  const auto others = static_cast<std::int64_t>(offsets.size()) - 1;
  for (const std::int64_t offset : offsets) {
    file->sources.push_back({offset, offset + size - others * kLengthBytes, outer, inner, subtask});
  }
}

void SequentialChannelStateReader::start(OnPiece on_piece, Done done) {
  TAILRACE_ASSERT(!done_);
  on_piece_ = std::move(on_piece);
  done_ = std::move(done);
  next_ = 0;
  if (std::exchange(twice_, false)) {
    finish("Channel state of one channel and subtask is listed twice");
    return;
  }
  for (File& file : files_) {
    std::sort(file.sources.begin(), file.sources.end(),
              [](const Source& a, const Source& b) { return a.offset < b.offset; });
  }
  read_next_file();
}

void SequentialChannelStateReader::read_next_file() {
  if (next_ == files_.size()) {
    finish(std::nullopt);
    return;
  }
  const File& file = files_[next_];
  if (const auto* in_line = std::get_if<ByteStreamStateHandle>(file.stream.get())) {
    ports_.timers->schedule(
        {}, lifeline_.bind([this, in_line] { read_file(files_[next_], in_line->bytes, 0); }));
    return;
  }
  const auto& stored = std::get<FileStateHandle>(*file.stream);
  const std::int64_t begin = file.sources.front().offset;
  std::int64_t end = 0;
  for (const Source& source : file.sources) end = std::max(end, source.end_at_most);
  if (stored.size_bytes >= 0) end = std::min(end, stored.size_bytes);
  if (end <= begin) {
    finish("Channel state in " + stored.path + " ends before it begins");
    return;
  }
  ports_.blobs->get_range(stored.path, begin, end - begin, lifeline_.bind([this, begin](Blob blob) {
    if (blob == nullptr) {
      finish("Could not read channel state from " + stream_name(*files_[next_].stream));
    } else {
      read_file(files_[next_], *blob, begin);
    }
  }));
}

void SequentialChannelStateReader::read_file(const File& file, std::span<const std::byte> bytes,
                                             std::int64_t begin) {
  for (const Source& source : file.sources) {
    const auto at = static_cast<std::size_t>(source.offset - begin);
    if (bytes.size() < at + kLengthBytes) {
      finish("Channel state ends within a length");
      return;
    }
    const std::size_t length = get_int32(bytes.data() + at);
    if (bytes.size() - at - kLengthBytes < length) {
      finish("Channel state ends within a buffer");
      return;
    }
    if (length == 0) continue;
    on_piece_(
        {source.outer, source.inner, source.subtask, bytes.subspan(at + kLengthBytes, length)});
  }
  ++next_;
  read_next_file();
}

void SequentialChannelStateReader::finish(std::optional<std::string> error) {
  files_.clear();
  next_ = 0;
  on_piece_.reset();
  auto done = std::exchange(done_, {});
  done(std::move(error));
}

}  // namespace tailrace::engine::f120
