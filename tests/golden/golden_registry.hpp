// Who replays which recording.
//
// A replayer takes the lines of one file (or the folders of one folder, each as a line), drives classes of the engine with the recorded input and
// compares what they do with what Flink did. Each file of replayers registers its own:
//
//   const Registration kRegistration("keygroups/keygroups_murmur.jsonl", &replay_murmur);
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace tailrace::golden {

using Json = nlohmann::json;

// The recording itself is wrong: a value that its schema forbids. (A missing member or one of
// another type is reported in the same way by the Json that throws.)
class MalformedCase : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Where engine and recording part. Thrown, because what follows in the same case says nothing new:
// a case counts as one difference.
class Difference : public std::runtime_error {
 public:
  Difference(const std::string& where, const std::string& expected, const std::string& got)
      : std::runtime_error(where + ": expected " + expected + ", got " + got) {}
};

// Throws Difference unless both are equal. `where`: step and member.
void expect_equal(std::string_view where, const Json& expected, const Json& got);

// One pass over one file.
class Replayer {
 public:
  virtual ~Replayer() = default;
  // Leading lines that hold no input are not cases. Asked only until the first case.
  [[nodiscard]] virtual bool is_preamble(const Json& line) { return line.contains("meta"); }
  virtual void read_preamble(const Json&) {}
  // Throws Difference. Anything else that it throws is taken for a difference of this case too,
  // except MalformedCase and Json's own exceptions.
  virtual void replay(const Json& line) = 0;
  // What a reader of the results should know, such as how much of the cases was not compared.
  [[nodiscard]] virtual std::string remark() const { return {}; }
};

using MakeReplayer = std::function<std::unique_ptr<Replayer>()>;
using ReplayLine = void (*)(const Json& line);

// `pattern`: a path below golden/, where `*` stands for any characters but a slash.
void register_replayer(std::string pattern, MakeReplayer make);
void register_replayer(std::string pattern, ReplayLine replay);

// Null: nobody reads that file. The longest pattern that fits wins.
[[nodiscard]] std::unique_ptr<Replayer> make_replayer(std::string_view path);

// Registers before main().
struct Registration {
  template <typename F>
  Registration(std::string pattern, F replayer) {
    register_replayer(std::move(pattern), std::move(replayer));
  }
};

}  // namespace tailrace::golden
