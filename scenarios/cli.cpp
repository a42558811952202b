#include "scenarios/cli.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <ostream>
#include <string_view>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "scenarios/diagnostics.hpp"
#include "scenarios/library_folder.hpp"
#include "scenarios/map_reader.hpp"
#include "scenarios/run_command.hpp"
#include "scenarios/scenario_file.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::scenarios {
namespace {

constexpr const char* kVersion = "tailrace 0.1.0";

struct Arguments {
  RunCommand run;
  std::string scenario;
  std::string seed;
  std::string until;
  std::optional<std::string> series;
  std::vector<std::string> sets;
};

void add_common_options(CLI::App& command, Arguments& arguments) {
  command.add_option("SCENARIO", arguments.scenario, "a scenario file, or a name from `list`")
      ->required();
  command.add_option("--seed", arguments.seed, "the seed of all random draws")->type_name("N");
  command
      .add_option("--set", arguments.sets, "override a value, such as job.operators.count.cost=5us")
      ->type_name("PATH=VALUE")
      ->expected(1)
      ->take_all();
  command
      .add_option("--until", arguments.until,
                  "end at that time (60s), or at sources_finished or idle")
      ->type_name("T");
}

std::vector<Setting> given_settings(const Arguments& arguments) {
  return settings_of(arguments.seed, arguments.until, arguments.sets);
}

int check(const Arguments& arguments, const Console& console) {
  const Scenario scenario = load_scenario(arguments.run.path, given_settings(arguments));
  for (const std::string& note : scenario.notes) *console.err << "note: " << note << '\n';
  *console.out << arguments.run.path << ": ok\n";
  return kExitDone;
}

int list(const std::string& library, const Console& console) {
  if (library.empty()) {
    *console.err << "tailrace: no library of scenarios is installed with this program\n";
    return kExitBadInput;
  }
  const std::vector<LibraryEntry> entries = list_library(library);
  std::size_t width = 0;
  for (const LibraryEntry& entry : entries) width = std::max(width, entry.name.size());
  for (const LibraryEntry& entry : entries) {
    *console.out << entry.name << std::string(width - entry.name.size() + 2, ' ') << entry.about
                 << '\n';
  }
  return kExitDone;
}

// CLI11 would say of a misspelt command that a command is missing.
void refuse_unknown_command(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.empty() || words.front().starts_with('-')) return;
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  std::string all;
  for (const std::string& name : names) {
    if (name == words.front()) return;
    all += (all.empty() ? "" : ", ") + name;
  }
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  const std::string near = did_you_mean(words.front(), candidates);
  throw ScenarioError("tailrace: there is no command " + in_quotes(words.front()) +
                      (near.empty() ? "; the commands are " + all : near));
}

int parse_and_run(const std::vector<std::string>& words, const Console& console) {
  Arguments arguments;
  CLI::App app("Runs scenarios of checkpointing and rescaling in a Flink-style stream processor.",
               "tailrace");
  app.set_version_flag("--version", kVersion);
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 done and every expectation holds, 1 an expectation does not hold,\n"
      "2 bad usage or bad input, 3 internal error, 130 interrupted.");

  CLI::App* run = app.add_subcommand("run", "run a scenario and print what happened");
  add_common_options(*run, arguments);
  run->add_flag("--json", arguments.run.json, "print one JSON document instead of a summary");
  run->add_flag("--quiet", arguments.run.quiet, "no progress, no notes; of the summary the trace");
  run->add_option("--series", arguments.series,
                  "with --json: throughput, latency and metrics in windows of that length")
      ->type_name("SPAN");
  run->add_option("--dump-state", arguments.run.dump_state, "write the keyed state at the end")
      ->type_name("FILE");
  run->add_option("--dump-sink", arguments.run.dump_sink, "write all committed effects")
      ->type_name("FILE");
  CLI::App* check_command = app.add_subcommand("check", "say whether a scenario is valid");
  add_common_options(*check_command, arguments);
  CLI::App* list_command = app.add_subcommand("list", "list the scenarios of the library");

  if (words.empty()) {
    *console.err << app.help();
    return kExitBadInput;
  }
  refuse_unknown_command(app, words);
  try {
    // CLI11 takes them from the back.
    std::vector<std::string> reversed(words.rbegin(), words.rend());
    app.parse(std::move(reversed));
  } catch (const CLI::ParseError& e) {
    const int status = app.exit(e, *console.out, *console.err);
    return status == 0 ? kExitDone : kExitBadInput;
  }

  const std::string library = find_library(console.program_folder);
  if (list_command->parsed()) return list(library, console);
  arguments.run.path = resolve_scenario(arguments.scenario, library);
  if (check_command->parsed()) return check(arguments, console);
  arguments.run.settings = given_settings(arguments);
  if (arguments.series) {
    if (!arguments.run.json) {
      throw ScenarioError("--series is a member of the document that --json prints; add --json");
    }
    arguments.run.series = parse_series("--series", *arguments.series);
  }
  arguments.run.replay = "tailrace";
  for (const std::string& word : words) arguments.run.replay += ' ' + word;
  return run_and_report(arguments.run, console);
}

}  // namespace

int run_command_line(const std::vector<std::string>& arguments, const Console& console) {
  try {
    const int status = parse_and_run(arguments, console);
    console.out->flush();
    if (!console.out->good()) {
      *console.err << "tailrace: the results cannot be written\n";
      return kExitInternal;
    }
    return status;
  } catch (const ScenarioError& e) {
    *console.err << e.what() << '\n';
    return kExitBadInput;
  } catch (const std::exception& e) {
    *console.err << "tailrace: internal error: " << e.what() << '\n';
    return kExitInternal;
  }
}

}  // namespace tailrace::scenarios
