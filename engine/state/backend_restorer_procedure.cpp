#include "engine/state/backend_restorer_procedure.hpp"

#include <utility>

namespace tailrace::engine {

void BackendRestorerProcedure::create_and_restore(Done done) {
  done_ = std::move(done);
  attempt();
}

void BackendRestorerProcedure::attempt() {
  wanted_ = options_.streams(option_);
  streams_.clear();
  current_ = {};
  range_ = 0;
  fetch_next();
}

void BackendRestorerProcedure::fetch_next() {
  while (streams_.size() < wanted_.size()) {
    const StreamToFetch& next = wanted_[streams_.size()];
    if (next.handle == nullptr) {
      streams_.emplace_back();
    } else if (const auto* inline_bytes = std::get_if<ByteStreamStateHandle>(next.handle.get())) {
      streams_.emplace_back(Blob(next.handle, &inline_bytes->bytes));
    } else {
      fetch(next);
      return;
    }
  }
  base::Result<Work, std::string> result = options_.create(option_, streams_);
  if (!result.ok()) {
    fail(result.error());
    return;
  }
  Done done = std::move(done_);
  done(std::move(result));
}

// Asks for the next part of a file.
void BackendRestorerProcedure::fetch(const StreamToFetch& stream) {
  const bool whole = stream.ranges.empty();
  auto arrived = lifeline_.bind([this, whole](Blob blob) {
    const StreamToFetch& of = wanted_[streams_.size()];
    if (blob == nullptr) {
      fail("cannot read " + stream_name(*of.handle));
      return;
    }
    current_.add(whole ? 0 : of.ranges[range_].begin, std::move(blob));
    ++range_;
    if (whole || range_ == of.ranges.size()) {
      streams_.push_back(std::exchange(current_, {}));
      range_ = 0;
    }
    fetch_next();
  });
  const std::string& path = stream_name(*stream.handle);
  if (whole) {
    ports_.blobs->get(path, std::move(arrived));
  } else {
    const ByteRange range = stream.ranges[range_];
    ports_.blobs->get_range(path, range.begin, range.end - range.begin, std::move(arrived));
  }
}

void BackendRestorerProcedure::fail(const std::string& cause) {
  errors_ += (errors_.empty() ? "" : "; then ") + cause;
  if (++option_ < options_.count()) {
    attempt();
    return;
  }
  Done done = std::move(done_);
  done(base::Failure{std::move(errors_)});
}

}  // namespace tailrace::engine
