// Replays the recordings of real Flink and says, file by file, whether the engine does the same.
//
//   tailrace_golden [CHECKOUT]
//
// Recordings are found in $TAILRACE_SHARED/golden, else in ../shared/golden beside the checkout
// (default: the working directory), else in its tests/data/golden. Results go to standard output,
// sorted by path, one line a file; explanations to standard error.
// Exit status: 0 no difference; 1 a difference, or a file that cannot be read; 2 no recordings.
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <system_error>

#include "tests/golden/recording.hpp"

namespace fs = std::filesystem;

namespace {

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

std::optional<fs::path> find_recordings(const fs::path& checkout) {
  if (const char* shared = std::getenv("TAILRACE_SHARED"); shared != nullptr && *shared != '\0') {
    fs::path folder = fs::path(shared) / "golden";
    if (is_folder(folder)) return folder;
    std::cerr << "golden: TAILRACE_SHARED names " << shared << ", which has no folder golden\n";
    return std::nullopt;
  }
  fs::path beside = checkout / ".." / "shared" / "golden";
  if (is_folder(beside)) return beside;
  fs::path sample = checkout / "tests" / "data" / "golden";
  if (is_folder(sample)) {
    std::cerr << "golden: TAILRACE_SHARED is not set and there is no ../shared/golden; reading the "
                 "sample in tests/data/golden\n";
    return sample;
  }
  std::cerr << "golden: no recordings: set TAILRACE_SHARED, or run this in the checkout\n";
  return std::nullopt;
}

std::string verdict(const tailrace::golden::FileResult& result) {
  if (!result.read) return "not read yet";
  std::string text = std::to_string(result.cases) + " cases, " +
                     std::to_string(result.differences) + " differences";
  if (result.unparsed_lines > 0) {
    text += ", " + std::to_string(result.unparsed_lines) + " lines that cannot be read";
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<fs::path> folder = find_recordings(argc > 1 ? argv[1] : ".");
  if (!folder) return 2;
  bool failed = false;
  try {
    for (const std::string& path : tailrace::golden::list_recordings(*folder)) {
      const tailrace::golden::FileResult result =
          tailrace::golden::replay_file(*folder, path, std::cerr);
      std::cout << "golden " << path << ": " << verdict(result) << std::endl;
      failed = failed || result.failed();
    }
  } catch (const fs::filesystem_error& error) {
    std::cerr << "golden: " << error.what() << '\n';
    return 1;
  }
  return failed ? 1 : 0;
}
