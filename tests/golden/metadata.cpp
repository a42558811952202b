// `_metadata` files as Flink 1.20 wrote them: read, compared with what must be found, written again.
//
// What the engine has no handles for is counted by kind, and said.
#include <map>
#include <sstream>
#include <string>

#include "engine/checkpoint/metadata/metadata_reader.hpp"
#include "tests/engine/checkpoint/expected_metadata.hpp"
#include "tests/golden/golden_registry.hpp"

namespace tailrace::golden {
namespace {

class MetadataReplayer final : public Replayer {
 public:
  void replay(const Json& line) override {
    const Json& expected = line.at("expected");
    const std::filesystem::path folder = line.at("folder").get<std::string>();
    const std::vector<std::byte> bytes = engine::test::read_bytes(folder / "_metadata");
    expect_equal("fileSize", expected.at("fileSize"), bytes.size());

    const auto reading = engine::read_checkpoint_metadata(bytes);
    if (!reading.ok()) {
      throw Difference(
          "reading", "no error",
          "byte " + std::to_string(reading.error().offset) + ": " + reading.error().message);
    }
    expect_equal("content", engine::test::expected_to_json(expected),
                 engine::test::metadata_to_json(reading.value()));
    expect_equal("left out", engine::test::expected_left_out(expected),
                 engine::test::left_out_to_json(reading.value()));
    expect_equal("what differs when it is written again", "",
                 engine::test::difference_when_written_again(expected, bytes, reading.value()));

    // Who needs the whole file is told what stands in the way.
    const auto loaded = engine::load_checkpoint_metadata(bytes);
    expect_equal("loads", reading.value().left_out.empty(), loaded.ok());
    if (loaded.ok()) {
      ++whole_;
      return;
    }
    const engine::UnsupportedState& first = reading.value().left_out.front();
    expect_equal("offset of the error", first.offset, loaded.error().offset);
    for (const engine::UnsupportedState& state : reading.value().left_out) {
      if (state.type) {
        expect_equal("type byte at " + std::to_string(state.offset), *state.type,
                     std::to_integer<int>(bytes.at(state.offset)));
      }
      ++left_out_[state.kind];
    }
  }

  [[nodiscard]] std::string remark() const override {
    std::ostringstream text;
    text << whole_ << " held in full";
    const char* separator = "; left out of the others, for want of a handle: ";
    for (const auto& [kind, count] : left_out_) {
      text << separator << count << " x " << kind;
      separator = ", ";
    }
    return text.str();
  }

 private:
  int whole_ = 0;
  std::map<std::string, int> left_out_;
};

const Registration kMetadata("metadata/", [] { return std::make_unique<MetadataReplayer>(); });

}  // namespace
}  // namespace tailrace::golden
