#include "engine/state/backend_restorer_procedure.hpp"

namespace tailrace::engine {

void BackendRestorerProcedure::create_and_restore(Done done) {
  done_ = std::move(done);
  attempt();
}

void BackendRestorerProcedure::attempt() {
  handles_ = options_.streams(option_);
  streams_.clear();
  fetch_next();
}

void BackendRestorerProcedure::fetch_next() {
  while (streams_.size() < handles_.size()) {
    const StreamStateHandlePtr& handle = handles_[streams_.size()];
    if (handle == nullptr) {
      streams_.push_back(nullptr);
      continue;
    }
    if (const auto* inline_bytes = std::get_if<ByteStreamStateHandle>(handle.get())) {
      streams_.push_back(Blob(handle, &inline_bytes->bytes));
      continue;
    }
    ports_.blobs->get(stream_name(*handle), lifeline_.bind([this](Blob blob) {
      if (blob == nullptr) {
        fail("cannot read " + stream_name(*handles_[streams_.size()]));
        return;
      }
      streams_.push_back(std::move(blob));
      fetch_next();
    }));
    return;
  }
  base::Result<Work, std::string> result = options_.create(option_, streams_);
  if (!result.ok()) {
    fail(result.error());
    return;
  }
  Done done = std::move(done_);
  done(std::move(result));
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
