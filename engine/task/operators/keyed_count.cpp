#include "engine/task/operators/keyed_count.hpp"

#include "engine/state/heap/heap_keyed_state_backend.hpp"
#include "engine/task/operators/record_key.hpp"

namespace tailrace::engine {
namespace {

class KeyedCount final : public StreamOperator {
 public:
  explicit KeyedCount(RecordType input) : input_(input) {}

  void initialize_state(const OperatorContext& context) override {
    output_ = context.output;
    backend_ = context.keyed_state;
    count_ = backend_->get_value_state<std::int64_t>(kCountState);
  }

  void process(const Record& record) override {
    set_key_of(record, input_, *backend_);
    const std::int64_t count = count_.transform(
        [](const std::int64_t* old) { return old == nullptr ? std::int64_t{1} : *old + 1; });
    output_->collect({record.text, count, record.created});
  }

 private:
  RecordType input_;
  Output* output_ = nullptr;
  HeapKeyedStateBackend* backend_ = nullptr;
  ValueState<std::int64_t> count_;
};

class KeyedCountFactory final : public StreamOperatorFactory {
 public:
  explicit KeyedCountFactory(RecordType input) : input_(input) {}
  [[nodiscard]] std::unique_ptr<StreamOperator> create() const override {
    return std::make_unique<KeyedCount>(input_);
  }
  [[nodiscard]] bool is_keyed() const override { return true; }
  [[nodiscard]] const KeySerializer& key_serializer() const override {
    return key_serializer_of(input_);
  }

 private:
  RecordType input_;
};

}  // namespace

std::shared_ptr<const StreamOperatorFactory> make_keyed_count_factory(RecordType input) {
  return std::make_shared<KeyedCountFactory>(input);
}

}  // namespace tailrace::engine
