// Prints the tables of scenarios/LANGUAGE.md from the tables that the parser uses, each between the
// marks that tests/readme/documents.py looks for. What the parser knows and the document does not
// say is so a difference that a test sees.
#include <iostream>
#include <limits>
#include <string>

#include "analysis/result_names.hpp"
#include "scenarios/flink_parser.hpp"
#include "scenarios/schema.hpp"

namespace {

using tailrace::analysis::ResultUnit;
using tailrace::scenarios::KeySpec;
using tailrace::scenarios::Presence;
using tailrace::scenarios::SectionSpec;
using tailrace::scenarios::ValueType;

std::string code(std::string_view text) {
  return '`' + std::string(text) + '`';
}

std::string integer_range(const KeySpec& key) {
  const std::string least = std::to_string(key.min);
  if (key.max == std::numeric_limits<std::int64_t>::max()) return "integer, at least " + least;
  if (key.min == key.max) return "integer, " + least;
  return "integer, " + least + " to " + std::to_string(key.max);
}

std::string choices(std::string_view text) {
  std::string result;
  while (true) {
    const std::size_t bar = text.find('|');
    result += code(text.substr(0, bar));
    if (bar == std::string_view::npos) return result;
    result += ", ";
    text.remove_prefix(bar + 1);
  }
}

std::string value_of(const KeySpec& key) {
  switch (key.type) {
    case ValueType::kText:
      return "text";
    case ValueType::kName:
      return "name";
    case ValueType::kInteger:
      return integer_range(key);
    case ValueType::kMilli:
      return "number, up to three decimals";
    case ValueType::kBoolean:
      return "`true`, `false`";
    case ValueType::kDuration:
      return key.min > 0 ? "duration, not 0" : "duration";
    case ValueType::kSize:
      return "size, " + std::to_string(key.min) + "B to " + std::to_string(key.max) + "B";
    case ValueType::kBandwidth:
      return "bandwidth";
    case ValueType::kPercent:
      return "percentage";
    case ValueType::kChoice:
      return choices(key.choices);
    case ValueType::kSection:
      return "section";
    case ValueType::kOther:
      return "see below";
    case ValueType::kFlag:
      return "nothing";
  }
  return {};
}

void print(const SectionSpec& section) {
  std::cout << "<!-- table: section " << (section.name.empty() ? "scenario" : section.name)
            << " -->\n| key | value | default | meaning |\n| --- | --- | --- | --- |\n";
  std::string not_yet;
  for (const KeySpec& key : section.keys) {
    if (key.presence == Presence::kNotYet) {
      not_yet += (not_yet.empty() ? "" : ", ") + code(key.key);
      continue;
    }
    const std::string fallback = key.presence == Presence::kRequired ? "required"
                                 : key.fallback.empty()              ? ""
                                                                     : code(key.fallback);
    std::cout << "| " << code(key.key) << " | " << value_of(key) << " | " << fallback << " | "
              << key.about << " |\n";
  }
  if (!not_yet.empty()) std::cout << "\nNot modelled yet, and an error: " << not_yet << ".\n";
  std::cout << "<!-- end -->\n";
}

void print_flink_options() {
  std::cout << "<!-- table: flink -->\n| key | value | only in | also called |\n| --- | --- | --- "
               "| --- |\n";
  for (const tailrace::scenarios::ModelledOption& option :
       tailrace::scenarios::modelled_flink_options()) {
    std::string others;
    for (const std::string_view name : option.other_names) {
      others += (others.empty() ? "" : ", ") + code(name);
    }
    std::cout << "| " << code(option.name) << " | " << option.value << " | " << option.only_in
              << " | " << others << " |\n";
  }
  std::cout << "<!-- end -->\n";
}

void print_results() {
  std::cout << "<!-- table: results -->\n| name | compared with |\n| --- | --- |\n";
  for (const tailrace::analysis::ResultName& name : tailrace::analysis::result_names()) {
    const char* unit = "";
    switch (name.unit) {
      case ResultUnit::kCount:
        unit = "a whole number";
        break;
      case ResultUnit::kMilliseconds:
      case ResultUnit::kSeconds:
        unit = "a duration";
        break;
      case ResultUnit::kWord:
        unit = "a word";
        break;
    }
    std::cout << "| " << code(name.name) << " | " << unit << " |\n";
  }
  std::cout << "<!-- end -->\n";
}

}  // namespace

int main() {
  for (const SectionSpec* section : tailrace::scenarios::all_sections()) print(*section);
  print_flink_options();
  print_results();
}
