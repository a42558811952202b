// Words per second of CPU time through `count` of the library's wordcount, at full speed.
//
// The text of two million words is made here and read before the clock starts. The run is the whole
// program's: sources, tokenizing, buffers, credits, keyed state, checkpoints, the two-phase sink, the
// trace and the audit's input; the audit itself and the report are not part of it.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <benchmark/benchmark.h>
#include <unistd.h>

#include "scenarios/scenario_file.hpp"
#include "scenarios/world/scenario_run.hpp"
#include "sim/random.hpp"

namespace tailrace {
namespace {

constexpr std::int64_t kWords = 2'000'000;
constexpr std::int64_t kVocabulary = 20'000;

// Words with the frequencies of a language: the r-th most frequent has a share of about 1 / r.
std::filesystem::path make_text() {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() /
      ("tailrace-bench-words-" + std::to_string(static_cast<long>(::getpid())) + ".txt");
  std::ofstream out(path);
  sim::RandomStream draws(1, "bench/text");
  const sim::ZipfSampler ranks(kVocabulary, 1.0);
  for (std::int64_t i = 1; i <= kWords; ++i) {
    // Rank to letters: short words first, as languages have it.
    std::string word;
    for (std::int64_t rank = ranks.sample(draws); rank > 0; rank /= 26) {
      word.push_back(static_cast<char>('a' + rank % 26));
    }
    out << word << (i % 12 == 0 ? '\n' : ' ');
  }
  return path;
}

void words_ours(benchmark::State& state) {
  static const std::filesystem::path kText = make_text();
  const scenarios::Scenario scenario = scenarios::load_scenario(
      std::string(TAILRACE_SOURCE_DIR) + "/scenarios/library/wordcount.yaml",
      {scenarios::parse_setting("job.operators.lines.from.file=" + kText.string()),
       scenarios::parse_setting("job.operators.lines.rate=max"),
       scenarios::parse_setting("duration=~"), scenarios::parse_setting("until=sources_finished")});
  for (auto _ : state) {
    state.PauseTiming();
    scenarios::ScenarioRun run(scenario, {});
    state.ResumeTiming();
    run.play();
    state.PauseTiming();
    const scenarios::RunOutcome outcome = run.collect();
    if (outcome.result.records_out != kWords) state.SkipWithError("words are missing");
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * kWords);
}

BENCHMARK(words_ours)->Name("wordcount/words/ours")->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace tailrace
