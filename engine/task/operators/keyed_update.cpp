#include "engine/task/operators/keyed_update.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "engine/state/heap/heap_keyed_state_backend.hpp"
#include "engine/state/java_hash.hpp"
#include "engine/state/key_group_assignment.hpp"
#include "engine/task/operators/record_key.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

constexpr std::int64_t kAll = 1'000'000;
constexpr std::size_t kCounterBytes = 8;

// Big-endian, in as many bytes as there are.
void count_update(Bytes& value) {
  for (std::size_t at = std::min(value.size(), kCounterBytes); at-- > 0;) {
    value[at] = static_cast<std::byte>(std::to_integer<unsigned>(value[at]) + 1);
    if (value[at] != std::byte{0}) return;
  }
}

class KeyedUpdate final : public StreamOperator {
 public:
  explicit KeyedUpdate(const KeyedUpdateConfig& config) : config_(&config) {}

  void initialize_state(const OperatorContext& context) override {
    output_ = context.output;
    backend_ = context.keyed_state;
    state_ = backend_->get_value_state<Bytes>(kUpdateState);
    if (!context.restored && config_->preload != nullptr) preload();
  }

  void process(const Record& record) override {
    // Of n records floor(n * share) are updates, whatever n is.
    updates_due_ppm_ += config_->update_ppm;
    if (updates_due_ppm_ >= kAll) {
      updates_due_ppm_ -= kAll;
      set_key_of(record, config_->input, *backend_);
      update();
    }
    output_->collect(record);
  }

 private:
  [[nodiscard]] Bytes fresh_value() const {
    return Bytes(static_cast<std::size_t>(config_->bytes_per_key));
  }

  void preload() {
    TAILRACE_ASSERT(config_->input == RecordType::kNumberedString);
    for (const std::int64_t key : *config_->preload) {
      const std::int32_t group =
          assign_to_key_group(java_long_hash(key), backend_->max_parallelism());
      if (!backend_->key_group_range().contains(group)) continue;
      set_number_key(key, *backend_);
      state_.update(fresh_value());
    }
  }

  // In place, because a value of some size would otherwise be allocated for every record.
  void update() {
    Bytes* value = state_.get();
    if (value != nullptr) {
      count_update(*value);
      return;
    }
    Bytes fresh = fresh_value();
    count_update(fresh);
    state_.update(std::move(fresh));
  }

  const KeyedUpdateConfig* config_;
  Output* output_ = nullptr;
  HeapKeyedStateBackend* backend_ = nullptr;
  ValueState<Bytes> state_;
  std::int64_t updates_due_ppm_ = 0;
};

class KeyedUpdateFactory final : public StreamOperatorFactory {
 public:
  explicit KeyedUpdateFactory(KeyedUpdateConfig config) : config_(std::move(config)) {
    TAILRACE_ASSERT(config_.bytes_per_key > 0);
    TAILRACE_ASSERT(config_.update_ppm >= 0 && config_.update_ppm <= kAll);
  }
  [[nodiscard]] std::unique_ptr<StreamOperator> create() const override {
    return std::make_unique<KeyedUpdate>(config_);
  }
  [[nodiscard]] bool is_keyed() const override { return true; }
  [[nodiscard]] const KeySerializer& key_serializer() const override {
    return key_serializer_of(config_.input);
  }

 private:
  KeyedUpdateConfig config_;
};

}  // namespace

std::shared_ptr<const StreamOperatorFactory> make_keyed_update_factory(KeyedUpdateConfig config) {
  return std::make_shared<KeyedUpdateFactory>(std::move(config));
}

std::uint64_t update_count(const Bytes& value) {
  std::uint64_t count = 0;
  for (std::size_t at = 0; at < std::min(value.size(), kCounterBytes); ++at) {
    count = count << 8 | std::to_integer<std::uint64_t>(value[at]);
  }
  return count;
}

}  // namespace tailrace::engine
