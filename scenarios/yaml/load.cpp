#include "scenarios/yaml/load.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>

#include <sys/stat.h>

#include "scenarios/yaml/text_check.hpp"
#include "scenarios/yaml/tree_builder.hpp"

namespace tailrace::scenarios::yaml {

const Node* Node::find(std::string_view key) const {
  for (const Entry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

Node* Node::find(std::string_view key) {
  for (Entry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

std::string name_of(const Node& node) {
  switch (node.kind) {
    case NodeKind::kNull:
      return "nothing";
    case NodeKind::kScalar:
      return in_quotes(node.text);
    case NodeKind::kSequence:
      return "a list";
    case NodeKind::kMapping:
      return "a mapping";
  }
  return {};
}

std::string read_text_file(const std::string& path, std::int64_t max_bytes, Position where,
                           Diagnostics& diagnostics) {
  struct stat status {};
  if (path.empty() || ::stat(path.c_str(), &status) != 0) {
    const int reason = path.empty() ? ENOENT : errno;
    struct stat link {};
    const bool dangling = reason == ENOENT && ::lstat(path.c_str(), &link) == 0;
    diagnostics.error(where, dangling ? "is a link to a file that does not exist"
                                      : std::string("cannot be opened: ") + std::strerror(reason));
    return {};
  }
  if (S_ISDIR(status.st_mode)) {
    diagnostics.error(where, "is a directory, not a file");
    return {};
  }
  if (!S_ISREG(status.st_mode)) {
    diagnostics.error(where, "is not a regular file");
    return {};
  }
  if (status.st_size > max_bytes) {
    diagnostics.error(where, "has " + std::to_string(status.st_size) + " bytes; at most " +
                                 std::to_string(max_bytes) + " are allowed");
    return {};
  }
  std::ifstream file(path, std::ios::binary);
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) {
    diagnostics.error(where, "cannot be read: " + std::string(std::strerror(errno)));
    return {};
  }
  text.resize(static_cast<std::size_t>(file.gcount()));  // it may have shrunk meanwhile
  if (text.empty()) diagnostics.error(where, "is empty");
  return text;
}

Node parse(std::string_view text, std::int32_t source, Diagnostics& diagnostics) {
  if (!check_text(text, source, diagnostics)) return {};
  return build_tree(text, source, diagnostics);
}

}  // namespace tailrace::scenarios::yaml
