#include "tests/engine/checkpoint/recordings.hpp"

#include <cstdlib>

namespace tailrace::engine::test {

std::vector<std::filesystem::path> recording_roots() {
  const std::filesystem::path source = TAILRACE_SOURCE_DIR;
  std::vector<std::filesystem::path> roots;
  if (const char* shared = std::getenv("TAILRACE_SHARED")) {
    roots.emplace_back(shared);
  } else {
    roots.push_back(source.parent_path() / "shared");
  }
  roots.push_back(source / "tests" / "data");
  return roots;
}

std::filesystem::path find_recording(const std::string& name) {
  for (const std::filesystem::path& root : recording_roots()) {
    if (std::filesystem::exists(root / name)) return root / name;
  }
  return {};
}

void for_each_case(const std::filesystem::path& file,
                   const std::function<void(const nlohmann::json&)>& visit) {
  std::ifstream in(file);
  for (std::string text; std::getline(in, text);) {
    const nlohmann::json line = nlohmann::json::parse(text);
    if (line.contains("steps")) visit(line);
  }
}

}  // namespace tailrace::engine::test
