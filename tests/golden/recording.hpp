// Reading recordings: one JSON value a line.
#pragma once

#include <cstddef>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "tests/golden/golden_registry.hpp"

namespace tailrace::golden {

// What replaying one file came to.
struct FileResult {
  bool read = false;               // somebody replays this file
  std::size_t cases = 0;           // all lines but the leading ones without input, and blank ones
  std::size_t differences = 0;     // cases that differ
  std::size_t unparsed_lines = 0;  // one for a file that is empty or cannot be opened

  [[nodiscard]] bool failed() const { return differences > 0 || unparsed_lines > 0; }
};

// Replays one file; explains the first few differences and bad lines on `log`, and what the replayer
// remarks. `path` is relative to `folder`, with slashes.
// A path that ends in a slash is a folder of cases: each of its folders is replayed as the line
//   {"id": its name, "folder": its path, "expected": its expected.json}
FileResult replay_file(const std::filesystem::path& folder, const std::string& path,
                       std::ostream& log);

// Paths of all *.jsonl below `folder`, sorted by bytes, with slashes; "metadata/" stands for the
// folder of that name, which holds its cases as folders.
// Errors: throws std::filesystem::filesystem_error, rather than list only a part.
std::vector<std::string> list_recordings(const std::filesystem::path& folder);

// Java strings may hold one half of a surrogate pair, which JSON texts may escape and JSON parsers
// refuse: such an escape becomes \ufffd. Recordings have the units as numbers beside the string.
std::string without_lone_surrogates(std::string line);

}  // namespace tailrace::golden
