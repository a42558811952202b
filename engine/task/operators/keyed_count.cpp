#include "engine/task/operators/keyed_count.hpp"

#include "engine/state/heap/heap_keyed_state_backend.hpp"

namespace tailrace::engine {
namespace {

class KeyedCount final : public StreamOperator {
 public:
  void initialize_state(const OperatorContext& context) override {
    output_ = context.output;
    backend_ = context.keyed_state;
    count_ = backend_->get_value_state<std::int64_t>(kCountState);
  }

  void process(const Record& record) override {
    backend_->set_current_key(record.text);
    const std::int64_t count = count_.transform(
        [](const std::int64_t* old) { return old == nullptr ? std::int64_t{1} : *old + 1; });
    output_->collect({record.text, count, record.created});
  }

 private:
  Output* output_ = nullptr;
  HeapKeyedStateBackend* backend_ = nullptr;
  ValueState<std::int64_t> count_;
};

class KeyedCountFactory final : public StreamOperatorFactory {
 public:
  [[nodiscard]] std::unique_ptr<StreamOperator> create() const override {
    return std::make_unique<KeyedCount>();
  }
  [[nodiscard]] bool is_keyed() const override { return true; }
};

}  // namespace

std::shared_ptr<const StreamOperatorFactory> make_keyed_count_factory() {
  return std::make_shared<KeyedCountFactory>();
}

}  // namespace tailrace::engine
