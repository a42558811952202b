#include "sim/base/assert.hpp"

#include <string_view>

namespace tailrace::base {
namespace {

// The path below the project's root: messages must not name the machine that built the program.
std::string_view below_root(std::string_view file) {
  for (const std::string_view folder :
       {"/sim/", "/engine/", "/scenarios/", "/analysis/", "/bindings/", "/tests/"}) {
    if (const auto at = file.rfind(folder); at != std::string_view::npos) {
      return file.substr(at + 1);
    }
  }
  return file;
}

std::string describe(const char* expression, const char* file, int line,
                     const std::string& detail) {
  std::string text = "invariant violated at ";
  text += below_root(file);
  text += ':' + std::to_string(line) + ": " + expression;
  if (!detail.empty()) text += " (" + detail + ")";
  return text;
}

}  // namespace

InvariantViolation::InvariantViolation(const char* expression, const char* file, int line,
                                       const std::string& detail)
    : std::logic_error(describe(expression, file, line, detail)), file_(file), line_(line) {}

void fail_assertion(const char* expression, const char* file, int line, const std::string& detail) {
  throw InvariantViolation(expression, file, line, detail);
}

}  // namespace tailrace::base
