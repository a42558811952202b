// The operators of one subtask and the wires between them.
//
// Flink 1.10 OperatorChain. Records go from operator to operator by a call (chained) or into a
// record writer (the network). Every record that an operator is given is priced; the task takes
// the sum and pays for it in virtual time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/graph/job_graph.hpp"
#include "engine/ports.hpp"
#include "engine/task/stream_operator.hpp"

namespace tailrace::engine {

class RecordWriter;

class OperatorChain {
 public:
  // `writers[i]` belongs to vertex.outputs[i]. All arguments must outlive the chain.
  OperatorChain(const JobVertex& vertex, const std::vector<std::unique_ptr<RecordWriter>>& writers,
                const Compute& compute);
  ~OperatorChain();
  OperatorChain(const OperatorChain&) = delete;
  OperatorChain& operator=(const OperatorChain&) = delete;

  [[nodiscard]] std::size_t size() const { return operators_.size(); }
  // Index 0 is the head.
  [[nodiscard]] StreamOperator& at(std::size_t index) { return *operators_[index]; }
  [[nodiscard]] Output& output_of(std::size_t index) { return *outputs_[index]; }
  // The head as a source. Requires: the vertex is one.
  [[nodiscard]] SourceOperator& source() { return *source_; }

  // Gives a record to the head.
  void process(const Record& record) {
    spent_ += head_price_;
    operators_.front()->process(record);
  }
  // Lets the source emit; see SourceOperator::emit_next.
  bool emit_next() {
    if (!source_->emit_next()) return false;
    spent_ += head_price_;
    return true;
  }

  // What the records since the last call cost, on an idle core of speed 1.
  [[nodiscard]] Duration take_spent() {
    const Duration spent = spent_;
    spent_ = {};
    return spent;
  }
  [[nodiscard]] Duration spent() const { return spent_; }

 private:
  std::vector<std::unique_ptr<StreamOperator>> operators_;
  // Where each operator puts its records; owned here, wired at construction.
  std::vector<std::unique_ptr<Output, void (*)(Output*)>> wires_;
  std::vector<Output*> outputs_;
  SourceOperator* source_ = nullptr;
  Duration head_price_;
  Duration spent_;
};

}  // namespace tailrace::engine
