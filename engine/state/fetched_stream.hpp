// What has been fetched of a stream: all of it, or the parts that a restore reads.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/ports.hpp"
#include "engine/state/data_view.hpp"

namespace tailrace::engine {

class FetchedStream {
 public:
  FetchedStream() = default;  // nothing
  // Implicit: a whole stream is a stream that has been fetched.
  FetchedStream(Blob whole) : parts_{{0, std::move(whole)}} {}

  // Requires: behind all parts so far.
  void add(std::int64_t begin, Blob bytes) { parts_.push_back({begin, std::move(bytes)}); }

  // Reads from there to the end of the part. The view borrows this object's bytes; positions in it
  // count from the begin of the part.
  // Errors: throws RestoreError where nothing has been fetched.
  [[nodiscard]] DataInputView view_at(std::int64_t position) const {
    for (const Part& part : parts_) {
      if (part.bytes == nullptr || position < part.begin) continue;
      const std::int64_t at = position - part.begin;
      if (at > static_cast<std::int64_t>(part.bytes->size())) continue;
      DataInputView view(*part.bytes);
      view.seek(at);
      return view;
    }
    throw RestoreError("the stream ends before position " + std::to_string(position));
  }

 private:
  struct Part {
    std::int64_t begin;
    Blob bytes;
  };
  std::vector<Part> parts_;
};

}  // namespace tailrace::engine
