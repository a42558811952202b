#include "engine/task/operator_chain.hpp"

#include <utility>

#include "engine/network/record_writer.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

// Flink 1.10 OperatorChain.ChainingOutput.
class ChainingOutput final : public Output {
 public:
  ChainingOutput(StreamOperator& next, Duration price, Duration& spent)
      : next_(&next), price_(price), spent_(&spent) {}
  void collect(const Record& record) override {
    *spent_ += price_;
    next_->process(record);
  }

 private:
  StreamOperator* next_;
  Duration price_;
  Duration* spent_;
};

// Flink 1.10 RecordWriterOutput.
class RecordWriterOutput final : public Output {
 public:
  explicit RecordWriterOutput(RecordWriter& writer) : writer_(&writer) {}
  void collect(const Record& record) override { writer_->emit(record); }

 private:
  RecordWriter* writer_;
};

// Flink 1.10 OperatorChain.BroadcastingOutputCollector; without targets, the end of a sink.
class FanOut final : public Output {
 public:
  explicit FanOut(std::vector<Output*> targets) : targets_(std::move(targets)) {}
  void collect(const Record& record) override {
    for (Output* target : targets_) target->collect(record);
  }

 private:
  std::vector<Output*> targets_;
};

template <typename Wire, typename... Args>
std::unique_ptr<Output, void (*)(Output*)> make_wire(Args&&... args) {
  return {new Wire(std::forward<Args>(args)...),
          [](Output* output) { delete static_cast<Wire*>(output); }};
}

}  // namespace

OperatorChain::OperatorChain(const JobVertex& vertex,
                             const std::vector<std::unique_ptr<RecordWriter>>& writers,
                             const Compute& compute) {
  TAILRACE_ASSERT(!vertex.chain.empty());
  const auto price_of = [&compute](const ChainedOperator& op) {
    return compute.price({WorkKind::kOperatorRecord, op.stream_node, 1, 0});
  };
  for (const ChainedOperator& op : vertex.chain) operators_.push_back(op.factory->create());
  head_price_ = price_of(vertex.chain.front());
  if (vertex.is_source()) {
    source_ = dynamic_cast<SourceOperator*>(operators_.front().get());
    TAILRACE_ASSERT_MSG(source_ != nullptr, "a vertex without inputs must begin with a source");
  }

  for (const ChainedOperator& op : vertex.chain) {
    std::vector<Output*> targets;
    for (const ChainedOperator::Out& out : op.outs) {
      const auto target = static_cast<std::size_t>(out.target);
      wires_.push_back(out.chained
                           ? make_wire<ChainingOutput>(*operators_[target],
                                                       price_of(vertex.chain[target]), spent_)
                           : make_wire<RecordWriterOutput>(*writers[target]));
      targets.push_back(wires_.back().get());
    }
    if (targets.size() == 1) {
      outputs_.push_back(targets.front());
    } else {
      wires_.push_back(make_wire<FanOut>(std::move(targets)));
      outputs_.push_back(wires_.back().get());
    }
  }
}

OperatorChain::~OperatorChain() = default;

}  // namespace tailrace::engine
