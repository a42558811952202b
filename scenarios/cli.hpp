// The command line: what to do, what to print, and how it went.
#pragma once

#include <atomic>
#include <iosfwd>
#include <string>
#include <vector>

namespace tailrace::scenarios {

inline constexpr int kExitDone = 0;      // and every expectation holds
inline constexpr int kExitNotHeld = 1;   // an expectation does not
inline constexpr int kExitBadInput = 2;  // or bad usage
inline constexpr int kExitInternal = 3;  // a mistake of ours
inline constexpr int kExitInterrupted = 130;

// The world around the program.
struct Console {
  std::ostream* out = nullptr;  // results
  std::ostream* err = nullptr;  // progress and diagnostics
  bool err_is_terminal = false;
  std::string program_folder;                      // where the library is looked for
  const std::atomic<bool>* interrupted = nullptr;  // set by whoever hears the signal
};

// `arguments` without the program's name. Returns the exit status; throws nothing.
[[nodiscard]] int run_command_line(const std::vector<std::string>& arguments,
                                   const Console& console);

}  // namespace tailrace::scenarios
