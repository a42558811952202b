#include "engine/task/operators/sinks.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "engine/state/data_view.hpp"
#include "engine/state/operator_state_backend.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

// Of a sink that had finished: there is no current transaction.
constexpr TransactionId kNoTransaction = -1;

// One element of the sink's list state: the transaction that was current, and those that wait for
// the completion of their checkpoint.
struct SinkState {
  TransactionId current = kNoTransaction;
  std::vector<std::pair<CheckpointId, TransactionId>> pending;
};

Bytes encode(const SinkState& state) {
  DataOutputView out;
  out.write_long(state.current);
  out.write_int(static_cast<std::int32_t>(state.pending.size()));
  for (const auto& [checkpoint, transaction] : state.pending) {
    out.write_long(checkpoint);
    out.write_long(transaction);
  }
  return out.take();
}

SinkState decode(const Bytes& bytes) {
  DataInputView in(bytes);
  SinkState state;
  state.current = in.read_long();
  for (std::int32_t left = in.read_int(); left > 0; --left) {
    const CheckpointId checkpoint = in.read_long();
    const TransactionId transaction = in.read_long();
    state.pending.emplace_back(checkpoint, transaction);
  }
  return state;
}

class TwoPhaseCommitSink final : public StreamOperator {
 public:
  explicit TwoPhaseCommitSink(ExternalSystem& system) : system_(&system) {}

  // S-8.10: what was pre-committed is committed, what was current is aborted, for each restored
  // element; there may be several after a scale-in and none after a scale-out.
  void initialize_state(const OperatorContext& context) override {
    state_ = &context.operator_state->get_list_state<Bytes>(kTwoPhaseCommitState);
    if (context.restored) {
      for (const Bytes& element : state_->get()) {
        const SinkState restored = decode(element);
        for (const auto& [checkpoint, transaction] : restored.pending) {
          // The system of a run never times a transaction out, so this cannot have been aborted.
          TAILRACE_ASSERT_MSG(system_->commit(transaction), "recoverAndCommit failed");
        }
        if (restored.current != kNoTransaction) system_->abort(restored.current);
      }
    }
    current_ = system_->begin();
  }

  void process(const Record& record) override { system_->write(*current_, record); }

  // S-8.8. A sink that has finished pre-commits what it has and begins nothing new.
  void snapshot_state(CheckpointId checkpoint) override {
    if (current_) pending_.emplace(checkpoint, *std::exchange(current_, std::nullopt));
    if (!finished_) current_ = system_->begin();
    SinkState state;
    state.current = current_.value_or(kNoTransaction);
    state.pending.assign(pending_.begin(), pending_.end());
    state_->update({encode(state)});
  }

  // S-8.9: a notice also commits what older, subsumed checkpoints left.
  void notify_checkpoint_complete(CheckpointId checkpoint) override {
    while (!pending_.empty() && pending_.begin()->first <= checkpoint) {
      TAILRACE_ASSERT_MSG(system_->commit(pending_.begin()->second), "commit failed");
      pending_.erase(pending_.begin());
    }
  }

  void finish() override { finished_ = true; }

  // S-8.13: pending ones are left for recovery.
  void close() override {
    if (current_) system_->abort(*std::exchange(current_, std::nullopt));
  }

 private:
  ExternalSystem* system_;
  PartitionableListState<Bytes>* state_ = nullptr;
  std::optional<TransactionId> current_;
  std::map<CheckpointId, TransactionId> pending_;
  bool finished_ = false;
};

class AtLeastOnceSink final : public StreamOperator {
 public:
  explicit AtLeastOnceSink(ExternalSystem& system) : system_(&system) {}
  void initialize_state(const OperatorContext&) override {}
  void process(const Record& record) override { system_->append(record); }

 private:
  ExternalSystem* system_;
};

template <typename Sink>
class SinkFactory final : public StreamOperatorFactory {
 public:
  explicit SinkFactory(ExternalSystem& system) : system_(&system) {}
  [[nodiscard]] std::unique_ptr<StreamOperator> create() const override {
    return std::make_unique<Sink>(*system_);
  }

 private:
  ExternalSystem* system_;
};

}  // namespace

std::shared_ptr<const StreamOperatorFactory> make_two_phase_commit_sink_factory(
    ExternalSystem& system) {
  return std::make_shared<SinkFactory<TwoPhaseCommitSink>>(system);
}

std::shared_ptr<const StreamOperatorFactory> make_at_least_once_sink_factory(
    ExternalSystem& system) {
  return std::make_shared<SinkFactory<AtLeastOnceSink>>(system);
}

}  // namespace tailrace::engine
