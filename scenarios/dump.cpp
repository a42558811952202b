#include "scenarios/dump.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scenarios/diagnostics.hpp"

namespace tailrace::scenarios {
namespace {

std::string escaped(const std::string& text) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '\\':
        result += "\\\\";
        break;
      case '\t':
        result += "\\t";
        break;
      case '\r':
        result += "\\r";
        break;
      case '\n':
        result += "\\n";
        break;
      default:
        result += c;
    }
  }
  return result;
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw ScenarioError(path + ": cannot be written: " + why);
}

}  // namespace

std::string dump_text(const std::vector<DumpRow>& rows) {
  std::vector<std::string> lines;
  lines.reserve(rows.size());
  std::size_t bytes = 0;
  for (const DumpRow& row : rows) {
    lines.push_back(escaped(row.text) + '\t' + std::to_string(row.number) + '\t' +
                    escaped(row.origin) + '\n');
    bytes += lines.back().size();
  }
  std::sort(lines.begin(), lines.end());  // equal lines are interchangeable
  std::string text;
  text.reserve(bytes);
  for (const std::string& line : lines) text += line;
  return text;
}

DumpFile::DumpFile(std::string path) : path_(std::move(path)), temporary_(path_ + ".XXXXXX") {
  struct stat status {};
  if (path_.empty()) refuse("\"\"", "the name is empty");
  if (::stat(path_.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) refuse(path_, "it is a directory");
    if (!S_ISREG(status.st_mode)) refuse(path_, "it is not a regular file");
  }
  descriptor_ = ::mkstemp(temporary_.data());
  if (descriptor_ < 0) refuse(path_, std::strerror(errno));
}

DumpFile::~DumpFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void DumpFile::write(const std::vector<DumpRow>& rows) {
  const std::string text = dump_text(rows);
  const auto fail = [this] {
    throw std::runtime_error(path_ + ": cannot be written: " + std::strerror(errno));
  };
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(descriptor_, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail();
    done += static_cast<std::size_t>(written);
  }
  // mkstemp makes it private; a result is as readable as any other file of its owner.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  if (::fchmod(descriptor_, 0666 & ~mask) != 0) fail();
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail();
  ::close(descriptor_);
  descriptor_ = -1;
}

}  // namespace tailrace::scenarios
