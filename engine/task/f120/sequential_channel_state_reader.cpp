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
                                       const std::vector<std::int64_t>& offsets,
                                       const StreamStateHandlePtr& stream) {
  if (offsets.empty()) return;
  auto file = std::find_if(files_.begin(), files_.end(), [&stream](const File& known) {
    return is_same_stream(*known.stream, *stream);
  });
  if (file == files_.end()) file = files_.insert(files_.end(), {stream, {}});
  for (const Source& known : file->sources) {
    twice_ = twice_ || (known.outer == outer && known.inner == inner && known.subtask == subtask);
  }
  for (const std::int64_t offset : offsets) {
    file->sources.push_back({offset, outer, inner, subtask});
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
  piece_ = 0;
  is_open_ = false;
  if (const auto* in_line = std::get_if<ByteStreamStateHandle>(files_[next_].stream.get())) {
    ports_.timers->schedule({}, lifeline_.bind([this, in_line] { read_inline(in_line->bytes); }));
    return;
  }
  fetch_length();
}

void SequentialChannelStateReader::read_inline(const std::vector<std::byte>& bytes) {
  const std::span<const std::byte> all(bytes);
  for (const Source& source : files_[next_].sources) {
    const auto at = static_cast<std::size_t>(source.offset);
    if (all.size() < at + kLengthBytes) return finish("Channel state ends within a length");
    const std::size_t length = get_int32(all.data() + at);
    if (all.size() - at - kLengthBytes < length) {
      return finish("Channel state ends within a buffer");
    }
    if (length == 0) continue;
    on_piece_({source.outer, source.inner, source.subtask, all.subspan(at + kLengthBytes, length)});
  }
  ++next_;
  read_next_file();
}

void SequentialChannelStateReader::fetch(std::int64_t offset, std::int64_t length,
                                         base::InplaceFunction<void(Blob)> done) {
  const auto& stored = std::get<FileStateHandle>(*files_[next_].stream);
  if (std::exchange(is_open_, true)) {
    ports_.blobs->get_more(stored.path, offset, length, std::move(done));
  } else {
    ports_.blobs->get_range(stored.path, offset, length, std::move(done));
  }
}

void SequentialChannelStateReader::fetch_length() {
  const std::int64_t offset = files_[next_].sources[piece_].offset;
  fetch(offset, kLengthBytes, lifeline_.bind([this](Blob blob) {
    if (blob == nullptr) {
      return finish("Could not read channel state from " + stream_name(*files_[next_].stream));
    }
    fetch_bytes(get_int32(blob->data()));
  }));
}

void SequentialChannelStateReader::fetch_bytes(std::int64_t length) {
  if (length == 0) return next_piece();
  const std::int64_t offset = files_[next_].sources[piece_].offset + kLengthBytes;
  fetch(offset, length, lifeline_.bind([this](Blob blob) {
    if (blob == nullptr) return finish("Channel state ends within a buffer");
    const Source& source = files_[next_].sources[piece_];
    on_piece_({source.outer, source.inner, source.subtask, *blob});
    next_piece();
  }));
}

void SequentialChannelStateReader::next_piece() {
  if (++piece_ < files_[next_].sources.size()) return fetch_length();
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
