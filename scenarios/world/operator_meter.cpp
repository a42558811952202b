#include "scenarios/world/operator_meter.hpp"

#include <optional>
#include <utility>

#include "analysis/series.hpp"
#include "scenarios/world/series_recorder.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::scenarios {
namespace {

// What both kinds of meters know of the attempt that they belong to.
class Gauge {
 public:
  Gauge(SeriesRecorder& recorder, std::int32_t op) : recorder_(&recorder), op_(op) {}

  void begin(const engine::OperatorContext& context) {
    meter_ = &recorder_->meter_of(op_, context.subtask);
    row_ = &recorder_->begin_attempt(op_, context);
  }
  void restored_source(const engine::OperatorContext& context) {
    recorder_->source_restored(op_, context);
  }
  void opened() { row_->opened = recorder_->now(); }
  void record() {
    const base::Time now = recorder_->now();
    if (!row_->first_record) row_->first_record = now;
    meter_->count(now);
  }
  void nothing_overdue() {
    if (!row_->caught_up) row_->caught_up = recorder_->now();
  }

 private:
  SeriesRecorder* recorder_;
  std::int32_t op_;
  SubtaskMeter* meter_ = nullptr;
  analysis::AttemptRow* row_ = nullptr;
};

// Forwards everything that both kinds share. Base: StreamOperator, or SourceOperator.
template <typename Base>
class Metered : public Base {
 public:
  Metered(Gauge gauge, std::unique_ptr<engine::StreamOperator> inner)
      : gauge_(gauge), inner_(std::move(inner)) {}

  void initialize_state(const engine::OperatorContext& context) override {
    inner_->initialize_state(context);
    gauge_.begin(context);
  }
  void open() override {
    gauge_.opened();
    inner_->open();
  }
  void prepare_snapshot_pre_barrier(engine::CheckpointId checkpoint) override {
    inner_->prepare_snapshot_pre_barrier(checkpoint);
  }
  void snapshot_state(engine::CheckpointId checkpoint) override {
    inner_->snapshot_state(checkpoint);
  }
  void notify_checkpoint_complete(engine::CheckpointId checkpoint) override {
    inner_->notify_checkpoint_complete(checkpoint);
  }
  void notify_checkpoint_aborted(engine::CheckpointId checkpoint) override {
    inner_->notify_checkpoint_aborted(checkpoint);
  }
  void end_input() override { inner_->end_input(); }
  void finish() override { inner_->finish(); }
  void close() override { inner_->close(); }

 protected:
  Gauge gauge_;
  std::unique_ptr<engine::StreamOperator> inner_;
};

class MeteredOperator final : public Metered<engine::StreamOperator> {
 public:
  using Metered::Metered;
  void process(const engine::Record& record) override {
    gauge_.record();
    inner_->process(record);
  }
};

class MeteredSource final : public Metered<engine::SourceOperator> {
 public:
  MeteredSource(Gauge gauge, std::unique_ptr<engine::StreamOperator> inner)
      : Metered(gauge, std::move(inner)),
        source_(dynamic_cast<engine::SourceOperator*>(inner_.get())) {
    TAILRACE_ASSERT_MSG(source_ != nullptr, "the factory of a source made something else");
  }

  void initialize_state(const engine::OperatorContext& context) override {
    Metered::initialize_state(context);
    if (context.restored) gauge_.restored_source(context);
  }
  bool emit_next() override {
    if (!source_->emit_next()) {
      gauge_.nothing_overdue();
      return false;
    }
    gauge_.record();
    return true;
  }
  [[nodiscard]] std::optional<base::Time> next_due() const override { return source_->next_due(); }
  [[nodiscard]] bool finished() const override { return source_->finished(); }

 private:
  engine::SourceOperator* source_;
};

class MeteredFactory final : public engine::StreamOperatorFactory {
 public:
  MeteredFactory(Gauge gauge, std::shared_ptr<const engine::StreamOperatorFactory> inner)
      : gauge_(gauge), inner_(std::move(inner)) {}

  [[nodiscard]] std::unique_ptr<engine::StreamOperator> create() const override {
    if (inner_->is_source()) return std::make_unique<MeteredSource>(gauge_, inner_->create());
    return std::make_unique<MeteredOperator>(gauge_, inner_->create());
  }
  [[nodiscard]] bool is_source() const override { return inner_->is_source(); }
  [[nodiscard]] bool is_keyed() const override { return inner_->is_keyed(); }
  [[nodiscard]] const engine::KeySerializer& key_serializer() const override {
    return inner_->key_serializer();
  }

 private:
  Gauge gauge_;
  std::shared_ptr<const engine::StreamOperatorFactory> inner_;
};

}  // namespace

std::shared_ptr<const engine::StreamOperatorFactory> make_metered_factory(
    SeriesRecorder& recorder, std::int32_t op,
    std::shared_ptr<const engine::StreamOperatorFactory> factory) {
  return std::make_shared<MeteredFactory>(Gauge(recorder, op), std::move(factory));
}

}  // namespace tailrace::scenarios
