// Assertions that stay on in every build type.
//
// A failed one throws InvariantViolation; the run loop adds the virtual time and the component, the
// command line prints it with the command that replays the run and exits with status 3. Use it for
// our own mistakes only: what the modelled world or the user does wrong is a value or a
// ScenarioError.
#pragma once

#include <stdexcept>
#include <string>

namespace tailrace::base {

class InvariantViolation : public std::logic_error {
 public:
  InvariantViolation(const char* expression, const char* file, int line, const std::string& detail);

  [[nodiscard]] const char* file() const { return file_; }
  [[nodiscard]] int line() const { return line_; }

 private:
  const char* file_;
  int line_;
};

[[noreturn]] void fail_assertion(const char* expression, const char* file, int line,
                                 const std::string& detail = {});

}  // namespace tailrace::base

#define TAILRACE_ASSERT(condition)    \
  ((condition) ? static_cast<void>(0) \
               : ::tailrace::base::fail_assertion(#condition, __FILE__, __LINE__))

// `detail` is a std::string, built only when the condition is false.
#define TAILRACE_ASSERT_MSG(condition, detail) \
  ((condition) ? static_cast<void>(0)          \
               : ::tailrace::base::fail_assertion(#condition, __FILE__, __LINE__, (detail)))
