// Dumps of state and of committed effects: sorted, tab-separated, whole or not at all.
#pragma once

#include <string>
#include <vector>

#include "scenarios/run_scenario.hpp"

namespace tailrace::scenarios {

// A file that appears under its name only when it is complete.
//
// Opened before a run, so that a path that cannot be written is a mistake found in time; until
// `write` the bytes are in a temporary file beside it, which goes away with this object.
class DumpFile {
 public:
  // Errors: throws ScenarioError if there can be no such file.
  explicit DumpFile(std::string path);
  ~DumpFile();
  DumpFile(const DumpFile&) = delete;
  DumpFile& operator=(const DumpFile&) = delete;

  // One line per row: text, number, operator; sorted by bytes. Replaces the file.
  // Errors: throws std::runtime_error if the disk refuses.
  void write(const std::vector<DumpRow>& rows);

 private:
  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
};

// Lines of a dump. A backslash, tab or line end inside a text is written \\, \t, \r or \n.
[[nodiscard]] std::string dump_text(const std::vector<DumpRow>& rows);

}  // namespace tailrace::scenarios
