#include "tests/golden/pool_rows.hpp"

#include <cstdint>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/network/network_buffer_pool.hpp"
#include "engine/network/network_config.hpp"

namespace tailrace::golden {
namespace {

using namespace engine;

std::vector<std::string> split(const std::string& word) {
  std::vector<std::string> parts;
  std::istringstream in(word);
  for (std::string part; std::getline(in, part, ':');) parts.push_back(part);
  return parts;
}

std::int32_t number(const std::vector<std::string>& parts, std::size_t index) {
  if (index >= parts.size()) throw MalformedCase("a word with too few parts");
  try {
    return std::stoi(parts[index]);
  } catch (const std::logic_error&) {
    throw MalformedCase("not a number: " + parts[index]);
  }
}

// The Pool notation.
class PoolScript {
 public:
  PoolScript(std::int32_t segments, const NetworkSemantics& semantics)
      : global_(segments, 64, semantics) {}
  ~PoolScript() { give_everything_back(); }

  void run(const Json& step, const std::string& where) {
    const std::string op = step.at("op");
    const std::vector<std::string> parts = split(op);
    if (parts.size() < 2) throw MalformedCase("unknown word: " + op);
    const Json got = parts[0] == "excl" || parts[0] == "back" ? exclusive(parts) : pool(parts);
    for (const char* member : {"got", "error"}) {
      expect_equal(where + member, step.value(member, Json()), got.value(member, Json()));
    }
    Json state = Json::object();
    for (const auto& [name, one] : pools_) {
      state[name] = {{"size", one->size()},
                     {"available", one->is_available()},
                     {"free", one->free_segments()},
                     {"used", one->used_segments()}};
    }
    expect_equal(where + "pools", step.at("pools"), state);
    expect_equal(where + "globalFree", step.at("globalFree"), global_.available_segments());
  }

  void finish() {
    give_everything_back();
    expect_equal("segments that did not come back", 0, global_.outstanding_segments());
  }

 private:
  Json exclusive(const std::vector<std::string>& parts) {
    if (parts[0] == "back") {
      const std::vector<NetworkBuffer*> segments = std::exchange(exclusive_[parts[1]], {});
      global_.return_segments(segments);
      global_.release_unpooled(static_cast<std::int32_t>(segments.size()));
      return Json::object();
    }
    if (parts.size() < 3) throw MalformedCase("excl without a name");
    const std::int32_t count = number(parts, 1);
    if (!global_.reserve_unpooled(count, nullptr)) return {{"error", true}};
    for (std::int32_t i = 0; i < count; ++i) {
      NetworkBuffer* segment = global_.request_memory_segment();
      if (segment == nullptr) throw MalformedCase("excl would have to wait");
      exclusive_[parts[2]].push_back(segment);
    }
    return Json::object();
  }

  Json pool(const std::vector<std::string>& parts) {
    const std::string& name = parts[0];
    const std::string& verb = parts[1];
    if (verb == "new") {
      BufferPoolSpec spec{.required = number(parts, 2), .max = number(parts, 3)};
      if (parts.size() > 4) {
        spec.subpartitions = number(parts, 4);
        spec.max_buffers_per_channel = number(parts, 5);
        spec.max_overdraft_buffers = number(parts, 6);
      }
      LocalBufferPool* made = global_.create_buffer_pool(spec, nullptr);
      if (made == nullptr) return {{"error", true}};
      pools_[name] = made;
      return Json::object();
    }
    const auto found = pools_.find(name);
    if (found == pools_.end()) throw MalformedCase("there is no pool " + name);
    if (verb == "get") {
      NetworkBuffer* segment =
          found->second->request_buffer(parts.size() > 3 ? number(parts, 3) : kUnknownSubpartition);
      if (segment != nullptr) held_[name + parts.at(2)] = Buffer(*segment, 0, 0);
      return {{"got", segment != nullptr}};
    }
    if (verb == "ret") {
      held_.at(name + parts.at(2)).reset();
    } else if (verb == "set") {
      found->second->set_num_buffers(number(parts, 2));
    } else if (verb == "drop") {
      LocalBufferPool* dropped = found->second;
      pools_.erase(found);
      dropped->lazy_destroy();
    } else {
      throw MalformedCase("unknown word: " + verb);
    }
    return Json::object();
  }

  void give_everything_back() {
    held_.clear();
    for (auto& [name, segments] : exclusive_) global_.return_segments(std::exchange(segments, {}));
    for (const auto& [name, one] : std::exchange(pools_, {})) one->lazy_destroy();
  }

  NetworkBufferPool global_;
  std::map<std::string, LocalBufferPool*> pools_;
  std::map<std::string, Buffer> held_;
  std::map<std::string, std::vector<NetworkBuffer*>> exclusive_;
};

// J26 to J28: floating guaranteed, floating in all, exclusive per channel, in all.
struct GateCase {
  ResultPartitionType type;
  std::int32_t exclusive;
  std::vector<std::int32_t> channels;
  bool with_target;
};

const std::map<std::string, GateCase>& gate_cases() {
  using enum ResultPartitionType;
  static const std::map<std::string, GateCase> kCases = {
      {"J26", {PIPELINED, 2, {499, 500, 999, 1000}, true}},
      {"J27", {BLOCKING, 2, {499, 500, 999, 1000}, false}},
      {"J28", {PIPELINED, 0, {1001}, true}},
  };
  return kCases;
}

void replay_gate_sizes(const Json& line, const GateCase& row, const NetworkSemantics& semantics) {
  NetworkConfig config;
  config.semantics = &semantics;
  config.exclusive_per_channel = row.exclusive;
  std::string got;
  for (const std::int32_t channels : row.channels) {
    const auto made = semantics.gate_buffers(config, row.type, channels);
    const GateBuffersSpec& spec = made.value();
    if (!got.empty()) got += ' ';
    got += std::to_string(spec.required_floating) + "," + std::to_string(spec.total_floating) +
           "," + std::to_string(spec.exclusive_per_channel);
    if (row.with_target) got += "," + std::to_string(spec.target_total);
  }
  expect_equal("sizes", line.at("got"), got);
}

void replay_partition_sizes(const Json& line, const NetworkSemantics& semantics) {
  NetworkConfig config;
  config.semantics = &semantics;
  for (const auto& [member, type] : {std::pair{"bounded", ResultPartitionType::PIPELINED_BOUNDED},
                                     std::pair{"unbounded", ResultPartitionType::PIPELINED}}) {
    const BufferPoolSpec spec = semantics.partition_buffers(config, type, 4);
    expect_equal(member, line.at(member), Json{spec.required, spec.max});
  }
}

}  // namespace

bool is_pool_row(const Json& line) {
  const std::string id = line.value("id", std::string());
  return line.contains("segments") || gate_cases().contains(id) || id == "J32";
}

void replay_pool_row(const Json& line, const NetworkSemantics& semantics) {
  const std::string id = line.at("id");
  if (const auto found = gate_cases().find(id); found != gate_cases().end()) {
    return replay_gate_sizes(line, found->second, semantics);
  }
  if (id == "J32") return replay_partition_sizes(line, semantics);
  const auto segments = line.at("segments").get<std::int64_t>();
  if (segments < 1 || segments > 1 << 20) {
    throw MalformedCase("segments: " + std::to_string(segments));
  }
  PoolScript script(static_cast<std::int32_t>(segments), semantics);
  std::size_t index = 0;
  for (const Json& step : line.at("steps")) {
    script.run(step,
               "step " + std::to_string(index++) + " (" + step.at("op").get<std::string>() + "): ");
  }
  script.finish();
}

}  // namespace tailrace::golden
