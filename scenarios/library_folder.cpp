#include "scenarios/library_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "scenarios/map_reader.hpp"
#include "scenarios/yaml/load.hpp"

namespace tailrace::scenarios {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExtension = ".yaml";

std::string about_of(const std::string& path) {
  Diagnostics diagnostics({path});
  const std::string text = yaml::read_text_file(path, yaml::kMaxFileBytes, {}, diagnostics);
  if (!diagnostics.empty()) return "(cannot be read)";
  const yaml::Node root = yaml::parse(text, 0, diagnostics);
  const yaml::Node* about = root.find("about");
  return about != nullptr && about->is_scalar() ? first_sentence(about->text) : "";
}

}  // namespace

std::string first_sentence(const std::string& text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '.' && (at + 1 == text.size() || text[at + 1] == ' ' || text[at + 1] == '\n')) {
      return text.substr(0, at + 1);
    }
  }
  std::string whole = text;
  while (!whole.empty() && whole.back() == '\n') whole.pop_back();
  return whole;
}

std::string find_library(const std::string& program_folder) {
  std::error_code ignored;
  for (fs::path folder = program_folder; !folder.empty(); folder = folder.parent_path()) {
    for (const char* place : {"share/tailrace/scenarios", "scenarios/library"}) {
      if (fs::is_directory(folder / place, ignored)) return (folder / place).string();
    }
    if (folder == folder.parent_path()) break;
  }
  return {};
}

std::vector<LibraryEntry> list_library(const std::string& folder) {
  std::vector<LibraryEntry> entries;
  std::error_code ignored;
  for (const fs::directory_entry& file : fs::directory_iterator(folder, ignored)) {
    if (file.path().extension() != kExtension) continue;
    const std::string path = file.path().string();
    entries.push_back({file.path().stem().string(), path, about_of(path)});
  }
  // A folder lists its files in no order; names are unique in it.
  std::sort(entries.begin(), entries.end(),
            [](const LibraryEntry& a, const LibraryEntry& b) { return a.name < b.name; });
  return entries;
}

std::string resolve_scenario(const std::string& name, const std::string& library) {
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(name, ignored)) || library.empty() ||
      name.find('/') != std::string::npos) {
    return name;
  }
  for (const std::string& candidate : {name, name + kExtension}) {
    const fs::path path = fs::path(library) / candidate;
    if (path.extension() == kExtension && fs::is_regular_file(path, ignored)) return path.string();
  }
  const std::vector<LibraryEntry> entries = list_library(library);
  std::vector<std::string_view> names;
  for (const LibraryEntry& entry : entries) names.push_back(entry.name);
  std::string stem = name;
  if (stem.ends_with(kExtension)) stem.resize(stem.size() - std::string_view(kExtension).size());
  throw ScenarioError((name.empty() ? "\"\"" : name) +
                      ": there is no such file, and no such scenario in the library" +
                      did_you_mean(stem, names));
}

}  // namespace tailrace::scenarios
