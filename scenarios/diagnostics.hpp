// Mistakes in a scenario: collected while reading it, thrown together once.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/position.hpp"

namespace tailrace::scenarios {

// What leaves the library when the input is wrong. `what()` holds one line per mistake, each
// "source:line:column: message", in the order of the file.
class ScenarioError : public std::runtime_error {
 public:
  explicit ScenarioError(const std::string& text) : std::runtime_error(text) {}
};

class Diagnostics {
 public:
  // What positions refer to: the file as it was named, then the options as they were given.
  explicit Diagnostics(std::vector<std::string> sources);

  // One more; returns its number.
  std::int32_t add_source(std::string source) {
    sources_.push_back(std::move(source));
    return static_cast<std::int32_t>(sources_.size()) - 1;
  }
  void error(Position where, std::string message);
  [[nodiscard]] bool empty() const { return errors_.empty(); }
  [[nodiscard]] std::size_t size() const { return errors_.size(); }
  [[nodiscard]] const std::vector<std::string>& sources() const { return sources_; }

  // Throws ScenarioError if there is any mistake.
  void throw_if_any() const;

 private:
  struct Entry {
    Position where;
    std::string message;
  };
  std::vector<std::string> sources_;
  std::vector<Entry> errors_;
};

// "file.yaml:12:5", "file.yaml" without a line, or "--set a.b=c".
[[nodiscard]] std::string describe(const std::vector<std::string>& sources, Position where);

// The value in double quotes, cut if it is long, with everything that is not printable ASCII or
// UTF-8 text shown as `?`: a message is one line whatever the input holds.
[[nodiscard]] std::string in_quotes(std::string_view value);

}  // namespace tailrace::scenarios
