#include "engine/task/operator_chain.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/network/record_writer.hpp"
#include "engine/state/operator_state_backend.hpp"
#include "engine/task/operators/line_source.hpp"
#include "engine/task/operators/stateless.hpp"
#include "tests/engine/task/operator_fixture.hpp"

namespace tailrace::engine {
namespace {

// Stream node n costs 10^n microseconds a record.
class PriceList final : public Compute {
 public:
  [[nodiscard]] Duration price(const Work& work) const override {
    EXPECT_EQ(work.kind, WorkKind::kOperatorRecord);
    EXPECT_EQ(work.count, 1);
    Duration price = Duration::micros(1);
    for (std::int32_t i = 0; i < work.op; ++i) price = price * 10;
    return price;
  }
  [[nodiscard]] Duration slice() const override { return Duration::millis(1); }
  void run(ComputeClient, Duration, Callback) override { FAIL(); }
};

// Writes down what it is given, under its name.
class Probe final : public StreamOperator {
 public:
  Probe(std::string name, std::vector<std::string>& seen) : name_(std::move(name)), seen_(&seen) {}
  void initialize_state(const OperatorContext& context) override { output_ = context.output; }
  void process(const Record& record) override {
    seen_->push_back(name_ + ' ' + std::string(record.text));
    output_->collect(record);
  }

 private:
  std::string name_;
  std::vector<std::string>* seen_;
  Output* output_ = nullptr;
};

class ProbeFactory final : public StreamOperatorFactory {
 public:
  ProbeFactory(std::string name, std::vector<std::string>& seen)
      : name_(std::move(name)), seen_(&seen) {}
  [[nodiscard]] std::unique_ptr<StreamOperator> create() const override {
    return std::make_unique<Probe>(name_, *seen_);
  }

 private:
  std::string name_;
  std::vector<std::string>* seen_;
};

class OperatorChainTest : public testing::Test {
 protected:
  void add(std::shared_ptr<const StreamOperatorFactory> factory, std::vector<std::int32_t> next) {
    ChainedOperator op;
    op.stream_node = static_cast<std::int32_t>(vertex_.chain.size());
    op.factory = std::move(factory);
    for (const std::int32_t target : next) op.outs.push_back({true, target});
    vertex_.chain.push_back(std::move(op));
  }
  void add_probe(const std::string& name, std::vector<std::int32_t> next) {
    add(std::make_shared<ProbeFactory>(name, seen_), std::move(next));
  }
  // Not a source: it has an input.
  void open(bool source = false) {
    if (!source) vertex_.inputs.emplace_back();
    chain_ = std::make_unique<OperatorChain>(vertex_, writers_, prices_);
    for (std::size_t i = 0; i < chain_->size(); ++i) {
      OperatorContext context;
      context.output = &chain_->output_of(i);
      context.clock = &clock_;
      context.operator_state = &state_;
      chain_->at(i).initialize_state(context);
    }
  }

  PriceList prices_;
  FakeClock clock_;
  OperatorStateBackend state_;
  JobVertex vertex_;
  std::vector<std::unique_ptr<RecordWriter>> writers_;
  std::vector<std::string> seen_;
  std::unique_ptr<OperatorChain> chain_;
};

TEST_F(OperatorChainTest, HandsRecordsOnByACallAndPricesEveryOperator) {
  add(make_tokenize_factory(), {1});
  add_probe("a", {2});
  add_probe("b", {});
  open();
  chain_->process({"two words", 0, {}});
  EXPECT_EQ(seen_, (std::vector<std::string>{"a two", "b two", "a words", "b words"}));
  // One line through the head (1 us), two words through each of the others (10 us, 100 us).
  EXPECT_EQ(chain_->spent(), Duration::micros(1 + 2 * 10 + 2 * 100));
  EXPECT_EQ(chain_->take_spent(), Duration::micros(221));
  EXPECT_EQ(chain_->spent(), Duration{});
}

TEST_F(OperatorChainTest, AForkGivesEveryBranchTheRecordInTheOrderOfTheEdges) {
  add_probe("head", {2, 1});
  add_probe("left", {});
  add_probe("right", {3});
  add_probe("tail", {});
  open();
  chain_->process({"x", 0, {}});
  EXPECT_EQ(seen_, (std::vector<std::string>{"head x", "right x", "tail x", "left x"}));
  EXPECT_EQ(chain_->take_spent(), Duration::micros(1 + 10 + 100 + 1000));
}

TEST_F(OperatorChainTest, ASourceIsChargedForWhatItEmitsOnly) {
  const FakeLog log({{{"a", Time{}}, {"b", Time{} + Duration::millis(5)}}});
  add(make_line_source_factory(log), {1});
  add_probe("next", {});
  open(true);
  EXPECT_TRUE(chain_->emit_next());
  EXPECT_EQ(chain_->take_spent(), Duration::micros(11));
  EXPECT_FALSE(chain_->emit_next());
  EXPECT_EQ(chain_->take_spent(), Duration{});
  EXPECT_EQ(chain_->source().next_due(), Time{} + Duration::millis(5));
  EXPECT_EQ(seen_, std::vector<std::string>{"next a"});
}

}  // namespace
}  // namespace tailrace::engine
