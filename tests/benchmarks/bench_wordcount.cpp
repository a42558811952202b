// Words per second of CPU time through `count` of the library's wordcount, at full speed.
//
// The text of two million words is made here and read before the clock starts. The run is the whole
// program's: sources, tokenizing, buffers, credits, keyed state, checkpoints, the two-phase sink, the
// trace and the audit's input; the audit itself and the report are not part of it.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>

#include <benchmark/benchmark.h>
#include <unistd.h>

#include "scenarios/scenario_file.hpp"
#include "scenarios/world/scenario_run.hpp"
#include "sim/random.hpp"

namespace tailrace {
namespace {

constexpr std::int64_t kWords = 2'000'000;
constexpr std::int64_t kVocabulary = 20'000;

// A text of our own making, gone with the process: words with the frequencies of a language, where
// the r-th most frequent has a share of about 1 / r.
class Text {
 public:
  Text()
      : path_(std::filesystem::temp_directory_path() /
              ("tailrace-bench-" + std::to_string(::getpid()) + ".txt")) {
    std::ofstream out(path_);
    sim::RandomStream draws(1, "bench/text");
    const sim::ZipfSampler ranks(kVocabulary, 1.0);
    std::string word;
    for (std::int64_t i = 1; i <= kWords; ++i) {
      // Rank to letters: short words first, as languages have it.
      word.clear();
      for (std::int64_t rank = ranks.sample(draws); rank > 0; rank /= 26) {
        word.push_back(static_cast<char>('a' + rank % 26));
      }
      out << word << (i % 12 == 0 ? '\n' : ' ');
    }
  }
  ~Text() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;

  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

void words_ours(benchmark::State& state) {
  static const Text kText;
  const scenarios::Scenario scenario = scenarios::load_scenario(
      std::string(TAILRACE_SOURCE_DIR) + "/scenarios/library/wordcount.yaml",
      {scenarios::parse_setting("job.operators.lines.from.file=" + kText.path()),
       scenarios::parse_setting("job.operators.lines.rate=max"),
       scenarios::parse_setting("duration=~"), scenarios::parse_setting("until=idle")});
  for (auto _ : state) {
    state.PauseTiming();
    auto run = std::make_unique<scenarios::ScenarioRun>(scenario, scenarios::RunOptions{});
    state.ResumeTiming();
    run->play();
    state.PauseTiming();
    const std::int64_t committed = run->collect().result.records_out;
    run.reset();
    state.ResumeTiming();
    if (committed != kWords) {
      state.SkipWithError("words are missing");
      break;
    }
  }
  state.SetItemsProcessed(state.iterations() * kWords);
}

BENCHMARK(words_ours)->Name("wordcount/words/ours")->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace tailrace
