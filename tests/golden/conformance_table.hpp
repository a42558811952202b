// The conformance cases that a specification lists in its tables.
#pragma once

#include <istream>
#include <set>
#include <string>

namespace tailrace::golden {

// One case in one of the generations that it is stated for, e.g. {"C-14", "f110"}.
struct ConformanceCase {
  std::string id;
  std::string generation;

  auto operator<=>(const ConformanceCase&) const = default;
};

// Reads the tables of the section whose heading begins with `## NUMBER.`: lines that begin with
// `| C-NN | V |`, perhaps with a dagger behind the id, where V is 10, 20 or both. Cases that are
// marked (U), unverified, are left out.
// Errors: throws std::runtime_error for a line with an id but without a V that it knows.
std::set<ConformanceCase> read_conformance_tables(std::istream& specification, int section);

// The ids of the rows of all tables of that section that begin with ids of a letter and a number,
// `| A1 | …` or `| D1, D2 | …`.
std::set<std::string> read_row_ids(std::istream& specification, int section);

}  // namespace tailrace::golden
