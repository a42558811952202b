#include <array>
#include <utility>

#include "analysis/result_names.hpp"
#include "scenarios/sections.hpp"
#include "scenarios/units.hpp"

namespace tailrace::scenarios {
namespace {

using analysis::Comparison;
using analysis::Expectation;
using analysis::ExpectationKind;

constexpr std::size_t kMostExpectations = 1000;

struct Sentence {
  std::string_view text;
  ExpectationKind kind;
};
constexpr std::array kSentences =
    std::to_array<Sentence>({{"exactly once", ExpectationKind::kExactlyOnce},
                             {"at least once", ExpectationKind::kAtLeastOnce},
                             {"no orphaned state", ExpectationKind::kNoOrphanedState},
                             {"progress", ExpectationKind::kProgress}});

struct Operator {
  std::string_view text;
  Comparison comparison;
};
// The longer ones first.
constexpr std::array kOperators = std::to_array<Operator>({{"<=", Comparison::kLessEqual},
                                                           {">=", Comparison::kGreaterEqual},
                                                           {"==", Comparison::kEqual},
                                                           {"!=", Comparison::kNotEqual},
                                                           {"<", Comparison::kLess},
                                                           {">", Comparison::kGreater}});

// Words separated by single blanks.
std::string normalised(std::string_view text) {
  std::string result;
  bool gap = false;
  for (const char c : text) {
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      gap = !result.empty();
      continue;
    }
    if (gap) result += ' ';
    gap = false;
    result += c;
  }
  return result;
}

base::Failure<std::string> wrong(std::string message) {
  return {std::move(message)};
}

base::Failure<std::string> not_understood(const std::string& text) {
  std::vector<std::string_view> sentences;
  for (const Sentence& sentence : kSentences) sentences.push_back(sentence.text);
  const std::string near = did_you_mean(text, sentences);
  return wrong(in_quotes(text) + " is not understood" +
               (near.empty() ? "; write NAME < VALUE (or <= == != >= >), exactly once, at least "
                               "once, no orphaned state or progress"
                             : near));
}

base::Result<Expectation, std::string> with_bound(Expectation expectation,
                                                  const analysis::ResultName& name,
                                                  const std::string& value) {
  switch (name.unit) {
    case analysis::ResultUnit::kWord: {
      const auto words = analysis::finish_words();
      for (const std::string_view word : words) {
        if (word == value) expectation.bound_word = value;
      }
      if (expectation.bound_word.empty()) {
        return wrong(in_quotes(value) + " is not what " + expectation.name + " can be: duration, " +
                     "sources_finished, idle, stopped, canceled, job_failed or interrupted" +
                     did_you_mean(value, words));
      }
      if (expectation.comparison != Comparison::kEqual &&
          expectation.comparison != Comparison::kNotEqual) {
        return wrong(expectation.name + " is a word; compare it with == or !=");
      }
      return expectation;
    }
    case analysis::ResultUnit::kCount: {
      const Parsed<std::int64_t> number = parse_integer(value);
      if (!number.ok()) {
        return wrong(in_quotes(value) + ' ' + number.error() + ", and " + expectation.name +
                     " is one");
      }
      expectation.bound = number.value();
      return expectation;
    }
    case analysis::ResultUnit::kMilliseconds:
    case analysis::ResultUnit::kSeconds: {
      const Parsed<Duration> duration = parse_duration(value);
      if (!duration.ok()) return wrong(in_quotes(value) + ' ' + duration.error());
      expectation.bound = duration.value().ns;
      return expectation;
    }
  }
  return expectation;
}

}  // namespace

base::Result<Expectation, std::string> parse_expectation(std::string_view written) {
  Expectation expectation;
  expectation.text = normalised(written);
  const std::string& text = expectation.text;
  for (const Sentence& sentence : kSentences) {
    if (text == sentence.text) {
      expectation.kind = sentence.kind;
      return expectation;
    }
  }
  const std::size_t at = text.find_first_of("<>=!");
  if (at == std::string::npos) return not_understood(text);
  const Operator* found = nullptr;
  for (const Operator& candidate : kOperators) {
    if (text.compare(at, candidate.text.size(), candidate.text) == 0) {
      found = &candidate;
      break;
    }
  }
  if (found == nullptr) {
    return wrong(in_quotes(text) + " has no comparison; write <, <=, ==, !=, >= or >");
  }
  expectation.comparison = found->comparison;
  expectation.name = normalised(std::string_view(text).substr(0, at));
  const std::string value = normalised(std::string_view(text).substr(at + found->text.size()));
  if (expectation.name.empty() || value.empty()) return not_understood(text);
  const analysis::ResultName* name = analysis::find_result_name(expectation.name);
  if (name == nullptr) {
    std::vector<std::string_view> names;
    for (const analysis::ResultName& candidate : analysis::result_names()) {
      names.push_back(candidate.name);
    }
    return wrong("there is no result " + in_quotes(expectation.name) +
                 did_you_mean(expectation.name, names));
  }
  return with_bound(std::move(expectation), *name, value);
}

std::vector<ScenarioExpectation> parse_expectations(const yaml::Node* node,
                                                    Diagnostics& diagnostics) {
  std::vector<ScenarioExpectation> expectations;
  if (node == nullptr || node->kind == yaml::NodeKind::kNull) return expectations;
  if (!node->is_sequence() || node->items.size() > kMostExpectations) {
    diagnostics.error(node->position, "expect: must be a list of at most 1000 sentences");
    return expectations;
  }
  for (const yaml::Node& item : node->items) {
    if (!item.is_scalar()) {
      diagnostics.error(item.position,
                        "expect: each line is one sentence, not " + yaml::name_of(item));
      continue;
    }
    base::Result<Expectation, std::string> parsed = parse_expectation(item.text);
    if (parsed.ok()) {
      expectations.push_back({std::move(parsed).value(), item.position});
    } else {
      diagnostics.error(item.position, "expect: " + parsed.error());
    }
  }
  return expectations;
}

}  // namespace tailrace::scenarios
