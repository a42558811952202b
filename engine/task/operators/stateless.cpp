#include "engine/task/operators/stateless.hpp"

#include <cstddef>
#include <string_view>

namespace tailrace::engine {
namespace {

constexpr bool is_ascii_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

class Tokenize final : public StreamOperator {
 public:
  void initialize_state(const OperatorContext& context) override { output_ = context.output; }

  void process(const Record& record) override {
    const std::string_view text = record.text;
    std::size_t at = 0;
    while (at < text.size()) {
      while (at < text.size() && !is_ascii_letter(text[at])) ++at;
      const std::size_t begin = at;
      while (at < text.size() && is_ascii_letter(text[at])) ++at;
      if (at > begin) output_->collect({text.substr(begin, at - begin), 0, record.created});
    }
  }

 private:
  Output* output_ = nullptr;
};

class Identity final : public StreamOperator {
 public:
  void initialize_state(const OperatorContext& context) override { output_ = context.output; }
  void process(const Record& record) override { output_->collect(record); }

 private:
  Output* output_ = nullptr;
};

template <typename Operator>
class SimpleFactory final : public StreamOperatorFactory {
 public:
  [[nodiscard]] std::unique_ptr<StreamOperator> create() const override {
    return std::make_unique<Operator>();
  }
};

}  // namespace

std::shared_ptr<const StreamOperatorFactory> make_tokenize_factory() {
  return std::make_shared<SimpleFactory<Tokenize>>();
}

std::shared_ptr<const StreamOperatorFactory> make_identity_factory() {
  return std::make_shared<SimpleFactory<Identity>>();
}

}  // namespace tailrace::engine
