#include "engine/state/stream_task_state_initializer.hpp"

#include <algorithm>
#include <utility>

#include "engine/state/backend_restorer_procedure.hpp"
#include "engine/state/heap/heap_restore_operation.hpp"

namespace tailrace::engine {
namespace {

class KeyedOptions final : public BackendRestorerProcedure::Options {
 public:
  KeyedOptions(std::vector<std::vector<KeyedStateHandlePtr>> alternatives,
               const OperatorStateRequest& request)
      : alternatives_(std::move(alternatives)), request_(request) {}

  [[nodiscard]] std::size_t count() const override { return alternatives_.size(); }
  [[nodiscard]] std::vector<BackendRestorerProcedure::StreamToFetch> streams(
      std::size_t option) const override {
    std::vector<BackendRestorerProcedure::StreamToFetch> result;
    for (const KeyedStateHandlePtr& handle : alternatives_[option]) {
      const auto* groups = dynamic_cast<const KeyGroupsStateHandle*>(handle.get());
      if (groups == nullptr) {
        result.emplace_back();
      } else {
        result.push_back({groups->stream(), groups->byte_ranges()});
      }
    }
    return result;
  }
  base::Result<Work, std::string> create(std::size_t option,
                                         const std::vector<FetchedStream>& streams) override {
    auto backend = std::make_unique<HeapKeyedStateBackend>(request_.range, request_.max_parallelism,
                                                           *request_.keys);
    auto result = HeapRestoreOperation::restore(*backend, alternatives_[option], streams);
    if (result.ok()) backend_ = std::move(backend);
    return result;
  }
  [[nodiscard]] std::unique_ptr<HeapKeyedStateBackend> take() { return std::move(backend_); }

 private:
  std::vector<std::vector<KeyedStateHandlePtr>> alternatives_;
  OperatorStateRequest request_;
  std::unique_ptr<HeapKeyedStateBackend> backend_;
};

class OperatorOptions final : public BackendRestorerProcedure::Options {
 public:
  explicit OperatorOptions(std::vector<std::vector<OperatorStateHandle>> alternatives)
      : alternatives_(std::move(alternatives)) {}

  [[nodiscard]] std::size_t count() const override { return alternatives_.size(); }
  [[nodiscard]] std::vector<BackendRestorerProcedure::StreamToFetch> streams(
      std::size_t option) const override {
    std::vector<BackendRestorerProcedure::StreamToFetch> result;
    for (const OperatorStateHandle& handle : alternatives_[option]) {
      result.push_back({handle.delegate, {}});
    }
    return result;
  }
  base::Result<Work, std::string> create(std::size_t option,
                                         const std::vector<FetchedStream>& streams) override {
    auto backend = std::make_unique<OperatorStateBackend>();
    auto result = backend->restore(alternatives_[option], streams);
    if (result.ok()) backend_ = std::move(backend);
    return result;
  }
  [[nodiscard]] std::unique_ptr<OperatorStateBackend> take() { return std::move(backend_); }

 private:
  std::vector<std::vector<OperatorStateHandle>> alternatives_;
  std::unique_ptr<OperatorStateBackend> backend_;
};

}  // namespace

// One operator on its way to its backends.
class StreamTaskStateInitializerImpl::Initialization {
 public:
  Initialization(StreamTaskStateInitializerImpl& owner, PrioritizedOperatorSubtaskState state,
                 const OperatorStateRequest& request, Done done)
      : owner_(owner),
        request_(request),
        keyed_options_(std::move(state.managed_keyed), request),
        operator_options_(std::move(state.managed_operator)),
        keyed_(owner.ports_, keyed_options_),
        operator_(owner.ports_, operator_options_),
        context_(std::make_unique<StreamOperatorStateContext>()),
        done_(std::move(done)) {
    context_->restored = state.restored;
  }

  void start() {
    owner_.ports_.timers->schedule(Duration{}, lifeline_.bind([this] {
      if (request_.keyed) {
        restore_keyed();
      } else {
        restore_operator();
      }
    }));
  }

 private:
  void restore_keyed() {
    keyed_.create_and_restore([this](base::Result<Work, std::string> result) {
      if (!account(result, "keyed")) return;
      context_->keyed_state = keyed_options_.take();
      restore_operator();
    });
  }

  void restore_operator() {
    operator_.create_and_restore([this](base::Result<Work, std::string> result) {
      if (!account(result, "operator")) return;
      context_->operator_state = operator_options_.take();
      end(std::move(context_));
    });
  }

  // False, and this is gone, if the restore has failed.
  bool account(const base::Result<Work, std::string>& result, const char* kind) {
    if (!result.ok()) {
      end(base::Failure{"could not restore the " + std::string(kind) +
                        " state backend: " + result.error()});
      return false;
    }
    context_->restore_work.count += result.value().count;
    context_->restore_work.bytes += result.value().bytes;
    return true;
  }

  // Destroys this, then reports: whoever is told may destroy the initializer.
  void end(base::Result<std::unique_ptr<StreamOperatorStateContext>, std::string> result) {
    Done done = std::move(done_);
    std::erase_if(owner_.running_, [this](const auto& running) { return running.get() == this; });
    done(std::move(result));
  }

  StreamTaskStateInitializerImpl& owner_;
  OperatorStateRequest request_;
  KeyedOptions keyed_options_;
  OperatorOptions operator_options_;
  BackendRestorerProcedure keyed_;
  BackendRestorerProcedure operator_;
  std::unique_ptr<StreamOperatorStateContext> context_;
  Done done_;
  base::Lifeline lifeline_;
};

StreamTaskStateInitializerImpl::StreamTaskStateInitializerImpl(
    const Ports& ports, const TaskStateManagerImpl& state_manager)
    : ports_(ports), state_manager_(state_manager) {}

StreamTaskStateInitializerImpl::~StreamTaskStateInitializerImpl() = default;

void StreamTaskStateInitializerImpl::initialize(OperatorId id, const OperatorStateRequest& request,
                                                Done done) {
  running_.push_back(std::make_unique<Initialization>(
      *this, state_manager_.prioritized_operator_state(id), request, std::move(done)));
  running_.back()->start();
}

}  // namespace tailrace::engine
