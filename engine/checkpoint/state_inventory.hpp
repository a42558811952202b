// What a walk over the states of a checkpoint finds out about them as a whole.
//
// A completed checkpoint is asked for its size, and for its files when it is deleted. By then its
// handles have long left the processor's caches, and a walk over 10,000 of them costs as much as
// all else that the coordinator does for a checkpoint. So the walk that writes the metadata takes
// notes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "engine/state/handles.hpp"

namespace tailrace::engine {

class StateInventory {
 public:
  // `directory`: of the checkpoint's own files.
  explicit StateInventory(std::string directory) : directory_(std::move(directory)) {}

  // For so many files more.
  void reserve(std::size_t files) {
    if (private_files_.capacity() - private_files_.size() >= files) return;
    private_files_.reserve(std::max(private_files_.size() + files, 2 * private_files_.capacity()));
  }
  void add(const OperatorSubtaskState& state) {
    shares_state_ = shares_state_ || state.shares_state();
    add_sizes_and_files(state);
  }
  // A state that consists of one handle, which shares nothing.
  void add(const KeyGroupsStateHandle& handle) { add_sizes_and_files(handle); }
  void add_coordinator_state(std::size_t bytes) {
    state_size_bytes_ += static_cast<std::int64_t>(bytes);
  }

  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] std::int64_t state_size_bytes() const { return state_size_bytes_; }
  // Names stand in the handles, which must outlive this. In the order of the walk.
  [[nodiscard]] const FileNames& private_files() const { return private_files_; }
  // Whether anything may be shared with other checkpoints.
  [[nodiscard]] bool shares_state() const { return shares_state_; }
  // Whether all private files lie in the directory, and not below it.
  [[nodiscard]] bool all_in_directory() const { return all_in_directory_; }

 private:
  template <typename State>
  void add_sizes_and_files(const State& state) {
    const std::size_t before = private_files_.size();
    state_size_bytes_ += state.state_size_bytes();
    state.append_private_files(private_files_);
    for (std::size_t i = before; i < private_files_.size() && all_in_directory_; ++i) {
      all_in_directory_ = is_inside(*private_files_[i]);
    }
  }

  [[nodiscard]] bool is_inside(std::string_view path) const {
    return path.size() > directory_.size() && path[directory_.size()] == '/' &&
           path.starts_with(directory_) && path.find('/', directory_.size() + 1) == path.npos;
  }

  std::string directory_;
  FileNames private_files_;
  std::int64_t state_size_bytes_ = 0;
  bool shares_state_ = false;
  bool all_in_directory_ = true;
};

}  // namespace tailrace::engine
