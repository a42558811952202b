// A world for tests of state: an event loop without time and a blob store that can be told to fail.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/ports.hpp"
#include "engine/state/snapshot_future.hpp"

namespace tailrace::engine::test {

class TestWorld final : public Timers, public BlobStore {
 public:
  TestWorld() {
    ports_.timers = this;
    ports_.blobs = this;
  }

  [[nodiscard]] const Ports& ports() const { return ports_; }

  // Runs all that is due, and what that makes due.
  void run() {
    while (!events_.empty()) {
      Event event = std::move(events_.front());
      events_.pop_front();
      event();
    }
  }

  // The n-th request from now on fails, counted from 1; 0: none.
  void fail_request(int n) { fail_in_ = n; }
  [[nodiscard]] int requests() const { return requests_; }
  // By ranges.
  [[nodiscard]] std::int64_t bytes_read() const { return bytes_read_; }
  [[nodiscard]] std::map<std::string, Blob>& files() { return files_; }

  TimerId schedule(Duration, Callback callback) override {
    events_.emplace_back(std::move(callback));
    return {++next_timer_};
  }
  void cancel(TimerId) override {}
  void put(std::string path, std::vector<std::byte> bytes,
           base::InplaceFunction<void(PutStatus)> done) override {
    const bool stored = !fails();
    auto blob = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    if (stored) files_[path] = std::move(blob);
    events_.emplace_back([done = std::move(done), stored]() mutable {
      done(stored ? PutStatus::kStored : PutStatus::kFailed);
    });
  }
  void get(const std::string& path, base::InplaceFunction<void(Blob)> done) override {
    const auto found = files_.find(path);
    Blob blob = found == files_.end() || fails() ? nullptr : found->second;
    events_.emplace_back(
        [done = std::move(done), blob = std::move(blob)]() mutable { done(std::move(blob)); });
  }
  void get_range(const std::string& path, std::int64_t offset, std::int64_t length,
                 base::InplaceFunction<void(Blob)> done) override {
    const auto found = files_.find(path);
    Blob part;
    if (found != files_.end() && !fails() &&
        offset + length <= static_cast<std::int64_t>(found->second->size())) {
      part = std::make_shared<const std::vector<std::byte>>(
          found->second->begin() + offset, found->second->begin() + offset + length);
      bytes_read_ += length;
    }
    events_.emplace_back(
        [done = std::move(done), part = std::move(part)]() mutable { done(std::move(part)); });
  }
  void remove(const std::string& path) override { files_.erase(path); }
  void remove_directory(const std::string& path) override {
    std::erase_if(files_, [&](const auto& file) { return file.first.starts_with(path + '/'); });
  }

 private:
  using Event = base::InplaceFunction<void(), 160>;

  bool fails() {
    ++requests_;
    return fail_in_ > 0 && --fail_in_ == 0;
  }

  Ports ports_;
  std::deque<Event> events_;
  std::map<std::string, Blob> files_;
  std::uint64_t next_timer_ = 0;
  int requests_ = 0;
  std::int64_t bytes_read_ = 0;
  int fail_in_ = 0;
};

// Runs a snapshot to its end.
inline std::vector<std::byte> write_all(SnapshotFuture& future) {
  while (future.step().has_value()) {
  }
  return future.take_stream();
}

// The same with a handle that has the bytes in line.
inline void snapshot_in_line(SnapshotFuture& future, OperatorSubtaskState& state) {
  future.finish(std::make_shared<const StreamStateHandle>(
                    ByteStreamStateHandle{"in line", write_all(future)}),
                state);
}

inline Blob stream_of(const StreamStateHandlePtr& handle) {
  return Blob(handle, &std::get<ByteStreamStateHandle>(*handle).bytes);
}

}  // namespace tailrace::engine::test
