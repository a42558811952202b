// The program as a process: what it does when a person presses Ctrl-C.
#include <cerrno>
#include <chrono>
#include <csignal>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/scenarios/world/library_runs.hpp"

namespace tailrace::scenarios {
namespace {

// One run of the program, with what it writes in files.
class ProgramRun {
 public:
  explicit ProgramRun(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), TAILRACE_PROGRAM);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const std::string out = folder_.path("out");
    const std::string err = folder_.path("err");
    process_ = ::fork();
    if (process_ != 0) return;
    const int flags = O_WRONLY | O_CREAT | O_TRUNC;
    ::dup2(::open(out.c_str(), flags, 0600), STDOUT_FILENO);
    ::dup2(::open(err.c_str(), flags, 0600), STDERR_FILENO);
    ::execv(argv.front(), argv.data());
    ::_exit(127);
  }
  ~ProgramRun() {
    if (ended_) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  ProgramRun(const ProgramRun&) = delete;
  ProgramRun& operator=(const ProgramRun&) = delete;

  // Waits until it has computed for so long: reading a scenario takes far less. False: it has ended
  // or does not get there.
  bool wait_until_it_computes() {
    const long enough = ::sysconf(_SC_CLK_TCK) / 5;
    for (int tries = 0; tries < 6000; ++tries) {
      if (::waitpid(process_, &status_, WNOHANG) != 0) {
        ended_ = true;
        return false;
      }
      if (ticks() >= enough) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  void interrupt() { ::kill(process_, SIGINT); }
  // Its exit status; minus the signal that killed it.
  int wait() {
    while (!ended_ && ::waitpid(process_, &status_, 0) < 0 && errno == EINTR) continue;
    ended_ = true;
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : -WTERMSIG(status_);
  }
  [[nodiscard]] std::string out() const { return read_text(folder_.path("out")); }
  [[nodiscard]] std::string err() const { return read_text(folder_.path("err")); }

 private:
  // Processor time that it has used: fields 14 and 15 of /proc/PID/stat, behind the name.
  [[nodiscard]] long ticks() const {
    std::ifstream file("/proc/" + std::to_string(process_) + "/stat");
    std::string line;
    std::getline(file, line);
    std::istringstream fields(line.substr(std::min(line.size(), line.rfind(')') + 1)));
    std::string skipped;
    for (int i = 3; i < 14; ++i) fields >> skipped;
    long user = 0;
    long system = 0;
    fields >> user >> system;
    return user + system;
  }

  TestFolder folder_;
  pid_t process_ = 0;
  int status_ = 0;
  bool ended_ = false;
};

// Months of virtual time: nobody waits for the end.
std::vector<std::string> long_run(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"run",   std::string(TAILRACE_LIBRARY) + "/wordcount.yaml",
                                        "--set", "duration=2400h",
                                        "--set", "job.operators.lines.rate=max"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(CtrlC, EndsARunWith130AndASummaryMarkedIncomplete) {
  ProgramRun program(long_run({}));
  ASSERT_TRUE(program.wait_until_it_computes()) << program.err();
  program.interrupt();
  EXPECT_EQ(program.wait(), 130) << program.err();
  const std::string out = program.out();
  EXPECT_EQ(out.rfind("wordcount, seed 7, Flink 1.10\n", 0), 0u) << out;
  EXPECT_NE(out.find("INCOMPLETE"), std::string::npos) << out;
  EXPECT_EQ(out.find("8640000"), std::string::npos) << "not the whole duration";
}

TEST(CtrlC, MarksTheJsonDocumentToo) {
  ProgramRun program(long_run({"--json"}));
  ASSERT_TRUE(program.wait_until_it_computes()) << program.err();
  program.interrupt();
  EXPECT_EQ(program.wait(), 130) << program.err();
  const nlohmann::json document = nlohmann::json::parse(program.out());
  EXPECT_EQ(document.at("finished"), "interrupted");
  EXPECT_TRUE(document.at("exactly_once").at("lost").is_null());
  EXPECT_GT(document.at("checkpoints").at("completed"), 0);
}

TEST(CtrlC, LeavesNoDump) {
  const TestFolder folder;
  const std::string dump = folder.path("state.tsv");
  ProgramRun program(long_run({"--dump-state", dump}));
  ASSERT_TRUE(program.wait_until_it_computes()) << program.err();
  program.interrupt();
  EXPECT_EQ(program.wait(), 130) << program.err();
  EXPECT_FALSE(std::filesystem::exists(dump));
}

// The dump of the counts, against `uniq -c`.
TEST(Program, DumpsTheCountsOfTheText) {
  const TestFolder folder;
  const std::string dump = folder.path("out.tsv");
  ProgramRun program({"run", std::string(TAILRACE_LIBRARY) + "/wordcount-crash-rescale.yaml",
                      "--dump-state", dump, "--quiet"});
  ASSERT_EQ(program.wait(), 0) << program.err();
  std::string wanted;
  for (const auto& [word, count] :
       count_words(read_text(std::string(TAILRACE_LIBRARY) + "/text.txt"))) {
    wanted += word + '\t' + std::to_string(count) + "\tcount\n";
  }
  EXPECT_TRUE(read_text(dump) == wanted);  // too long to show
}

}  // namespace
}  // namespace tailrace::scenarios
