// Replays a recording case by case inside a test.
#pragma once

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tailrace::engine {

using Json = nlohmann::json;

// A case differs if `replay` throws. `path` is relative to the folder golden/, which is looked for
// below $TAILRACE_SHARED, beside the checkout and in tests/data.
template <typename Replay>
void replay_recording(const std::string& path, Replay replay) {
  std::filesystem::path file;
  const std::filesystem::path source(TAILRACE_SOURCE_DIR);
  const char* shared = std::getenv("TAILRACE_SHARED");
  for (const std::filesystem::path& root : {std::filesystem::path(shared == nullptr ? "" : shared),
                                            source / ".." / "shared", source / "tests" / "data"}) {
    if (root.empty() || !std::filesystem::exists(root / "golden" / path)) continue;
    file = root / "golden" / path;
    break;
  }
  if (file.empty()) GTEST_SKIP() << "no recording golden/" << path;

  std::ifstream lines(file);
  std::string text;
  int cases = 0;
  int differences = 0;
  while (std::getline(lines, text)) {
    const Json line = Json::parse(text);
    if (line.contains("meta")) continue;
    ++cases;
    try {
      replay(line);
    } catch (const std::exception& difference) {
      if (++differences > 5) continue;
      ADD_FAILURE() << path << ", case " << (line.contains("id") ? line["id"].dump() : "?") << ": "
                    << difference.what();
    }
  }
  EXPECT_EQ(differences, 0) << "of " << cases << " cases";
  EXPECT_GT(cases, 0);
  ::testing::Test::RecordProperty("cases", cases);
}

inline void expect_same(const std::string& what, const Json& expected, const Json& got) {
  if (expected == got) return;
  throw std::runtime_error(what + ": expected " + expected.dump() + ", got " + got.dump());
}

}  // namespace tailrace::engine
