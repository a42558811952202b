#include "engine/graph/stream_graph_hasher.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>

#include "engine/graph/chaining.hpp"
#include "engine/graph/murmur3_128.hpp"

namespace tailrace::engine {
namespace {

void put_int(std::string& bytes, std::int32_t value) {
  const auto bits = static_cast<std::uint32_t>(value);
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>((bits >> shift) & 0xff);
}

class Hasher {
 public:
  explicit Hasher(const StreamGraph& graph)
      : graph_(graph),
        topology_(graph),
        ids_(graph.nodes.size()),
        has_id_(graph.nodes.size(), false) {}

  base::Result<std::vector<OperatorId>, std::string> run() {
    // A node that waits in the queue, or has its id, is not queued again; one that was dropped
    // because an input had no id yet is queued again by the next input that gets its id.
    std::vector<bool> visited(graph_.nodes.size(), false);
    std::deque<std::int32_t> queue;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (!topology_.in_edges(static_cast<std::int32_t>(i)).empty()) continue;
      queue.push_back(static_cast<std::int32_t>(i));
      visited[i] = true;
    }
    while (!queue.empty()) {
      const std::int32_t node = queue.front();
      queue.pop_front();
      if (!generate(node)) {
        visited[static_cast<std::size_t>(node)] = false;
        continue;
      }
      if (!error_.empty()) return base::Failure{error_};
      for (const std::int32_t edge : topology_.out_edges(node)) {
        const std::int32_t target = graph_.edges[static_cast<std::size_t>(edge)].target;
        if (visited[static_cast<std::size_t>(target)]) continue;
        visited[static_cast<std::size_t>(target)] = true;
        queue.push_back(target);
      }
    }
    TAILRACE_ASSERT(count_ == static_cast<std::int32_t>(graph_.nodes.size()));
    return std::move(ids_);
  }

 private:
  // Returns: false if the node has to wait for its inputs.
  bool generate(std::int32_t node) {
    const auto at = static_cast<std::size_t>(node);
    if (graph_.nodes[at].has_uid) {
      const StreamNode& named = graph_.nodes[at];
      assign(at, OperatorId{murmur3_128(named.uid.empty() ? named.name : named.uid)});
      return true;
    }
    const std::vector<std::int32_t>& inputs = topology_.in_edges(node);
    const auto source_of = [this](std::int32_t edge) {
      return static_cast<std::size_t>(graph_.edges[static_cast<std::size_t>(edge)].source);
    };
    for (const std::int32_t edge : inputs) {
      if (!has_id_[source_of(edge)]) return false;
    }
    std::string bytes;
    put_int(bytes, count_);
    for (const std::int32_t edge : topology_.out_edges(node)) {
      if (topology_.is_chainable(edge)) put_int(bytes, count_);
    }
    OperatorId id{murmur3_128(bytes)};
    for (const std::int32_t edge : inputs) {
      const OperatorId& input = ids_[source_of(edge)];
      for (std::size_t j = 0; j < id.bytes.size(); ++j) {
        id.bytes[j] = static_cast<std::uint8_t>((id.bytes[j] * 37) ^ input.bytes[j]);
      }
    }
    assign(at, id);
    return true;
  }

  void assign(std::size_t node, const OperatorId& id) {
    for (std::size_t other = 0; other < ids_.size(); ++other) {
      if (other == node || !has_id_[other] || ids_[other] != id) continue;
      error_ = "operators '" + graph_.nodes[other].name + "' and '" + graph_.nodes[node].name +
               "' have the same id: give each its own uid";
      return;
    }
    ids_[node] = id;
    if (!has_id_[node]) ++count_;
    has_id_[node] = true;
  }

  const StreamGraph& graph_;
  StreamTopology topology_;
  std::vector<OperatorId> ids_;
  std::vector<bool> has_id_;
  std::int32_t count_ = 0;
  std::string error_;
};

}  // namespace

base::Result<std::vector<OperatorId>, std::string> generate_operator_ids(const StreamGraph& graph) {
  return Hasher(graph).run();
}

}  // namespace tailrace::engine
