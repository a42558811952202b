// Reads back the buffers in flight that a subtask is restored with.
//
// Flink 1.20 SequentialChannelStateReaderImpl (spec rescale.md S-4.2): file by file, in a file by
// ascending offset. A file is opened once, and read buffer by buffer, each of which is handed on as soon
// as it is there: while later ones are still on their way the task may work on it. What lies between two
// pieces belongs to other subtasks and is skipped.
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
      add(outer, inner, handle.subtask, handle.offsets, handle.delegate);
    }
    start(std::move(on_piece), std::move(done));
  }

 private:
  struct Source {
    std::int64_t offset = 0;
    std::int32_t outer = 0;
    std::int32_t inner = 0;
    std::int32_t subtask = 0;
  };
  struct File {
    StreamStateHandlePtr stream;
    std::vector<Source> sources;
  };

  void add(std::int32_t outer, std::int32_t inner, std::int32_t subtask,
           const std::vector<std::int64_t>& offsets, const StreamStateHandlePtr& stream);
  void start(OnPiece on_piece, Done done);
  void read_next_file();
  void read_inline(const std::vector<std::byte>& bytes);
  // Of the piece that is next: its length, then its bytes.
  void fetch_length();
  void fetch_bytes(std::int64_t length);
  void fetch(std::int64_t offset, std::int64_t length, base::InplaceFunction<void(Blob)> done);
  void next_piece();
  void finish(std::optional<std::string> error);

  const Ports& ports_;
  std::vector<File> files_;
  std::size_t next_ = 0;   // file
  std::size_t piece_ = 0;  // in that file
  bool is_open_ = false;   // that file
  bool twice_ = false;
  OnPiece on_piece_;
  Done done_;
  base::Lifeline lifeline_;
};

}  // namespace tailrace::engine::f120
