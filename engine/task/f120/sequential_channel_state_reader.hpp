// Reads back the buffers in flight that a subtask is restored with.
//
// Flink 1.20 SequentialChannelStateReaderImpl (spec rescale.md S-4.2): file by file, in a file by
// ascending offset. Of a file that is shared with other subtasks it fetches from the first piece on to
// where the last one may end; which bytes between belong to others, handles do not tell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/ports.hpp"
#include "engine/state/handles.hpp"
#include "sim/base/lifeline.hpp"

namespace tailrace::engine::f120 {

class SequentialChannelStateReader {
 public:
  // One buffer. Never empty.
  struct Piece {
    std::int32_t outer = 0;    // gate or partition
    std::int32_t inner = 0;    // channel or subpartition, of old
    std::int32_t subtask = 0;  // that wrote it
    std::span<const std::byte> data;
  };
  using OnPiece = base::InplaceFunction<void(const Piece&)>;
  // Why it failed; none: everything has been read.
  using Done = base::InplaceFunction<void(std::optional<std::string>)>;

  // `ports` outlive this.
  explicit SequentialChannelStateReader(const Ports& ports) : ports_(ports) {}

  // Runs `done` in a later event, or, with nothing to read, at once. One reading at a time.
  // Errors: a file that is not there or is not channel state; a channel of an old subtask that is
  // listed twice.
  template <typename Info>
  void read(const std::vector<ChannelStateHandle<Info>>& handles, OnPiece on_piece, Done done) {
    for (const auto& handle : handles) {
      const auto [outer, inner] = handle.info;
      add(outer, inner, handle.subtask, handle.offsets, handle.size_bytes, handle.delegate);
    }
    start(std::move(on_piece), std::move(done));
  }

 private:
  struct Source {
    std::int64_t offset = 0;
    std::int64_t end_at_most = 0;
    std::int32_t outer = 0;
    std::int32_t inner = 0;
    std::int32_t subtask = 0;
  };
  struct File {
    StreamStateHandlePtr stream;
    std::vector<Source> sources;
  };

  void add(std::int32_t outer, std::int32_t inner, std::int32_t subtask,
           const std::vector<std::int64_t>& offsets, std::int64_t size,
           const StreamStateHandlePtr& stream);
  void start(OnPiece on_piece, Done done);
  void read_next_file();
  void read_file(const File& file, std::span<const std::byte> bytes, std::int64_t begin);
  void finish(std::optional<std::string> error);

  const Ports& ports_;
  std::vector<File> files_;
  std::size_t next_ = 0;
  bool twice_ = false;
  OnPiece on_piece_;
  Done done_;
  base::Lifeline lifeline_;
};

}  // namespace tailrace::engine::f120
