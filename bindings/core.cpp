// The module tailrace._core: what the package tailrace stands on. Not for use by itself.
//
// A run holds the interpreter's lock only while Python is asked whether Ctrl-C was pressed, so runs
// of several threads go on side by side.
#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "analysis/report.hpp"
#include "scenarios/library_folder.hpp"
#include "scenarios/run_command.hpp"
#include "scenarios/scenario_file.hpp"

namespace py = pybind11;
namespace scenarios = tailrace::scenarios;

namespace {

// How often Python is asked whether the run should end.
constexpr std::chrono::milliseconds kAskEvery{50};

std::vector<scenarios::Setting> settings_of(const std::optional<std::string>& seed,
                                            const std::optional<std::string>& until,
                                            const std::vector<std::string>& sets) {
  std::vector<scenarios::Setting> settings =
      scenarios::settings_of(seed.value_or(""), until.value_or(""), sets);
  // Messages call them by their names in Python: `set`, not `--set`.
  for (scenarios::Setting& setting : settings) setting.shown.erase(0, 2);
  return settings;
}

std::string resolve(const std::string& scenario, const std::string& package_folder) {
  return scenarios::resolve_scenario(scenario, scenarios::find_library(package_folder));
}

std::string run(const std::string& scenario, const std::optional<std::string>& seed,
                const std::optional<std::string>& until, const std::vector<std::string>& sets,
                const std::optional<std::string>& series, const std::string& package_folder) {
  std::atomic<bool> interrupted{false};
  bool error_is_set = false;
  std::string json;
  {
    const py::gil_scoped_release unlocked;
    const scenarios::Scenario checked =
        scenarios::load_scenario(resolve(scenario, package_folder), settings_of(seed, until, sets));
    scenarios::RunOptions options;
    if (series) options.series = scenarios::parse_series("series", *series);
    options.interrupted = &interrupted;
    // Waiting for the lock takes milliseconds when other threads compute. A real clock may say when
    // to ask, because the answer ends the run or changes nothing.
    auto asked = std::chrono::steady_clock::now();
    options.progress = [&](const scenarios::Progress&) {
      const auto now = std::chrono::steady_clock::now();
      if (now - asked < kAskEvery) return;
      asked = now;
      const py::gil_scoped_acquire locked;
      if (!error_is_set && PyErr_CheckSignals() != 0) {
        error_is_set = true;
        interrupted = true;
      }
    };
    scenarios::RunOutcome outcome = scenarios::run_and_time(checked, options);
    static_cast<void>(scenarios::judge(checked, outcome));
    if (!error_is_set) json = tailrace::analysis::to_json(outcome.result);
  }
  if (error_is_set) throw py::error_already_set();
  return json;
}

std::vector<std::string> check(const std::string& scenario, const std::optional<std::string>& seed,
                               const std::optional<std::string>& until,
                               const std::vector<std::string>& sets,
                               const std::string& package_folder) {
  const py::gil_scoped_release unlocked;
  return scenarios::load_scenario(resolve(scenario, package_folder), settings_of(seed, until, sets))
      .notes;
}

}  // namespace

PYBIND11_MODULE(_core, module) {
  module.doc() = "The machinery of the package tailrace.";
  py::register_exception<scenarios::ScenarioError>(module, "ScenarioError", PyExc_ValueError);
  module.def("run", &run, py::arg("scenario"), py::arg("seed"), py::arg("until"), py::arg("sets"),
             py::arg("series"), py::arg("package_folder"));
  module.def("check", &check, py::arg("scenario"), py::arg("seed"), py::arg("until"),
             py::arg("sets"), py::arg("package_folder"));
}
