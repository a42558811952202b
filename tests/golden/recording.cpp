#include "tests/golden/recording.hpp"

#include <algorithm>
#include <charconv>
#include <exception>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string_view>
#include <system_error>
#include <utility>

namespace tailrace::golden {
namespace {

constexpr std::size_t kExplainedPerFile = 5;

// What a line is called in messages: its id if it has one.
std::string name_of(const Json& line, std::size_t line_number) {
  std::string name = "line " + std::to_string(line_number);
  if (!line.is_object()) return name;
  const auto id = line.find("id");
  if (id == line.end()) return name;
  return name + ", case " + id->dump(-1, ' ', true, Json::error_handler_t::replace);
}

class FileReplay {
 public:
  FileReplay(std::unique_ptr<Replayer> replayer, std::string path, std::ostream& log)
      : replayer_(std::move(replayer)), path_(std::move(path)), log_(log) {}

  void take(const std::string& text) {
    ++line_number_;
    if (text.find_first_not_of(" \t\r") == std::string::npos) return;
    Json line;
    try {
      line = Json::parse(without_lone_surrogates(text));
      if (result_.cases == 0 && replayer_->is_preamble(line)) {
        replayer_->read_preamble(line);
        return;
      }
    } catch (const std::exception& error) {
      ++result_.cases;
      unparsed(error.what());
      return;
    }
    ++result_.cases;
    try {
      replayer_->replay(line);
    } catch (const Difference& difference) {
      differs(line, difference.what());
    } catch (const MalformedCase& error) {
      unparsed(error.what());
    } catch (const Json::exception& error) {
      unparsed(error.what());
    } catch (const std::exception& error) {
      differs(line, std::string("nothing thrown was expected, got ") + error.what());
    }
  }

  void unparsed(std::string_view why) {
    if (result_.unparsed_lines++ < kExplainedPerFile) {
      log_ << path_ << ": line " << line_number_ << " cannot be read: " << why << '\n';
    }
  }

  FileResult finish() {
    if (line_number_ == 0) unparsed("the file is empty");
    const std::string remark = replayer_->remark();
    if (!remark.empty()) log_ << path_ << ": " << remark << '\n';
    result_.read = true;
    return result_;
  }

 private:
  void differs(const Json& line, std::string_view what) {
    if (result_.differences++ < kExplainedPerFile) {
      log_ << path_ << ": " << name_of(line, line_number_) << ": " << what << '\n';
    }
  }

  std::unique_ptr<Replayer> replayer_;
  std::string path_;
  std::ostream& log_;
  std::size_t line_number_ = 0;
  FileResult result_;
};

// The four hex digits at `at`, or -1.
int unit_at(std::string_view text, std::size_t at) {
  if (at + 4 > text.size()) return -1;
  int unit = 0;
  const char* end = text.data() + at + 4;
  const auto [stop, error] = std::from_chars(text.data() + at, end, unit, 16);
  return error == std::errc{} && stop == end ? unit : -1;
}

bool is_high(int unit) {
  return unit >= 0xD800 && unit <= 0xDBFF;
}
bool is_low(int unit) {
  return unit >= 0xDC00 && unit <= 0xDFFF;
}

std::vector<std::filesystem::path> list_folders(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_directory()) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::string case_of_folder(const std::filesystem::path& folder) {
  std::ifstream file(folder / "expected.json", std::ios::binary);
  const std::string expected(std::istreambuf_iterator<char>(file), {});
  return R"({"id":)" + Json(folder.filename().string()).dump() + R"(,"folder":)" +
         Json(folder.string()).dump() + R"(,"expected":)" + expected + "}";
}

}  // namespace

std::string without_lone_surrogates(std::string line) {
  for (std::size_t at = line.find('\\'); at != std::string::npos; at = line.find('\\', at)) {
    if (at + 1 >= line.size() || line[at + 1] != 'u') {
      at += 2;
      continue;
    }
    const int unit = unit_at(line, at + 2);
    if (is_high(unit) && line.compare(at + 6, 2, "\\u") == 0 && is_low(unit_at(line, at + 8))) {
      at += 12;
      continue;
    }
    if (is_high(unit) || is_low(unit)) line.replace(at + 2, 4, "fffd");
    at += 6;
  }
  return line;
}

FileResult replay_file(const std::filesystem::path& folder, const std::string& path,
                       std::ostream& log) {
  std::unique_ptr<Replayer> replayer = make_replayer(path);
  if (replayer == nullptr) return {};
  FileReplay replay(std::move(replayer), path, log);
  if (path.ends_with('/')) {
    for (const std::filesystem::path& name : list_folders(folder / path)) {
      replay.take(case_of_folder(name));
    }
    return replay.finish();
  }
  std::ifstream file(folder / path, std::ios::binary);
  std::string text;
  while (std::getline(file, text)) replay.take(text);
  if (!file.is_open() || file.bad()) replay.unparsed("the file cannot be opened or read");
  return replay.finish();
}

std::vector<std::string> list_recordings(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  std::vector<std::string> paths;
  constexpr auto kOptions = fs::directory_options::follow_directory_symlink;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder, kOptions)) {
    if (entry.path().extension() != ".jsonl" || entry.is_directory()) continue;
    paths.push_back(entry.path().lexically_relative(folder).generic_string());
  }
  if (fs::is_directory(folder / "metadata")) paths.push_back("metadata/");
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace tailrace::golden
