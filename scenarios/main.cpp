#include <atomic>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>
#include <vector>

#include <signal.h>
#include <unistd.h>

#include "scenarios/cli.hpp"

namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch those");

void on_interrupt(int) {
  interrupted.store(true);
}

// The first Ctrl-C ends the run in good order, a second one at once.
void listen_for_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
}

std::string program_folder() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path().string();
}

}  // namespace

int main(int argc, char** argv) {
  listen_for_interrupts();
  tailrace::scenarios::Console console;
  console.out = &std::cout;
  console.err = &std::cerr;
  console.err_is_terminal = ::isatty(STDERR_FILENO) == 1;
  console.program_folder = program_folder();
  console.interrupted = &interrupted;
  return tailrace::scenarios::run_command_line(std::vector<std::string>(argv + 1, argv + argc),
                                               console);
}
