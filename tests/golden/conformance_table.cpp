#include "tests/golden/conformance_table.hpp"

#include <regex>
#include <stdexcept>

namespace tailrace::golden {

std::set<ConformanceCase> read_conformance_tables(std::istream& specification, int section) {
  static const std::regex kIsCase(R"(\|\s*C-.*)");
  static const std::regex kCase(R"(\|\s*(C-\d+[a-z]?)\s*(?:†)?\s*\|\s*(10|20|both)\s*\|.*)");
  const std::string heading = "## " + std::to_string(section) + ".";
  std::set<ConformanceCase> cases;
  bool inside = false;
  for (std::string line; std::getline(specification, line);) {
    if (line.starts_with("## ")) inside = line.starts_with(heading);
    if (!inside || !std::regex_match(line, kIsCase)) continue;
    std::smatch match;
    if (!std::regex_match(line, match, kCase)) {
      throw std::runtime_error("not a row of a table of cases: " + line);
    }
    if (line.find("(U)") != std::string::npos) continue;
    if (match[2] != "20") cases.insert({match[1], "f110"});
    if (match[2] != "10") cases.insert({match[1], "f120"});
  }
  return cases;
}

std::set<std::string> read_row_ids(std::istream& specification, int section) {
  static const std::regex kRow(R"(\|\s*([A-Z]\d+[a-z]?(?:,\s*[A-Z]\d+[a-z]?)*)\s*\|.*)");
  static const std::regex kId(R"([A-Z]\d+[a-z]?)");
  const std::string heading = "## " + std::to_string(section) + ".";
  std::set<std::string> ids;
  bool inside = false;
  for (std::string line; std::getline(specification, line);) {
    if (line.starts_with("## ")) inside = line.starts_with(heading);
    std::smatch match;
    if (!inside || !std::regex_match(line, match, kRow)) continue;
    const std::string names = match[1];
    for (std::sregex_iterator id(names.begin(), names.end(), kId), end; id != end; ++id) {
      ids.insert(id->str());
    }
  }
  return ids;
}

}  // namespace tailrace::golden
