// Which of a task's separate inputs is read next: the one after the last one that has something.
//
// Flink 1.10 StreamTwoInputProcessor, TwoInputSelectionHandler; 1.20 StreamMultipleInputProcessor,
// MultipleInputSelectionHandler, InputSelection.fairSelectNextIndex. No operator here chooses its
// inputs itself (InputSelectable): all of them are selected all the time.
//
// A turn is what one call of Flink's processInput does. In 1.10 it ends with each record, so inputs
// alternate by record. In 1.20 it goes on until the input has nothing, its data has ended, a mail is
// waiting or an output has no room (StreamTask.CanEmitBatchOfRecordsChecker).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tailrace::engine {

class InputSelection {
 public:
  // `by_record`: TaskSemantics::takes_turns_by_record.
  InputSelection(std::size_t inputs, bool by_record)
      : status_(inputs, Status::kMoreAvailable), by_record_(by_record) {}

  // Begins a turn. `is_available(i)`: input i says that it has something.
  // Returns: none if no input has anything.
  template <typename IsAvailable>
  [[nodiscard]] std::optional<std::size_t> select(IsAvailable&& is_available) {
    // 1.10 asks every input each time. 1.20 asks when it knows of nothing, and while it knows of
    // nothing in one of them, for the turn after this.
    if (by_record_ || !any_available()) refresh(is_available);
    std::optional<std::size_t> next;
    for (std::size_t k = 1; k <= status_.size() && !next; ++k) {
      const std::size_t input = (last_ + k) % status_.size();
      if (status_[input] == Status::kMoreAvailable) next = input;
    }
    if (!next) return next;
    if (!by_record_) refresh(is_available);
    last_ = *next;
    turn_over_ = false;
    return next;
  }
  // Whether the input of the last turn goes on.
  [[nodiscard]] bool goes_on() const { return !turn_over_; }

  void record_processed() { turn_over_ = turn_over_ || by_record_; }
  // A mail has run, or an output has no room.
  void interrupted() { turn_over_ = turn_over_ || !by_record_; }
  // 1.20: the data of the input has ended.
  void data_ended() { turn_over_ = turn_over_ || !by_record_; }
  // Of the input whose turn it is: it has nothing now, or for good.
  void nothing_available() { end_turn(Status::kNothingAvailable); }
  void finished() { end_turn(Status::kFinished); }

  [[nodiscard]] bool all_finished() const {
    for (const Status status : status_) {
      if (status != Status::kFinished) return false;
    }
    return true;
  }

 private:
  enum class Status : std::uint8_t { kMoreAvailable, kNothingAvailable, kFinished };

  [[nodiscard]] bool any_available() const {
    for (const Status status : status_) {
      if (status == Status::kMoreAvailable) return true;
    }
    return false;
  }
  template <typename IsAvailable>
  void refresh(IsAvailable&& is_available) {
    for (std::size_t i = 0; i < status_.size(); ++i) {
      if (status_[i] == Status::kNothingAvailable && is_available(i)) {
        status_[i] = Status::kMoreAvailable;
      }
    }
  }
  void end_turn(Status status) {
    status_[last_] = status;
    turn_over_ = true;
  }

  std::vector<Status> status_;
  bool by_record_;
  bool turn_over_ = true;
  std::size_t last_ = status_.size() - 1;  // so the first input is the first
};

}  // namespace tailrace::engine
