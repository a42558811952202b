#include "scenarios/yaml/tree_builder.hpp"

#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

namespace tailrace::scenarios::yaml {
namespace {

constexpr std::string_view kMergeKey = "<<";
constexpr std::string_view kStringTag = "tag:yaml.org,2002:str";

// Ends the parse from inside an event: what is wrong has been reported.
struct Stop : std::runtime_error {
  Stop() : std::runtime_error("stop") {}
};

std::int64_t count_nodes(const Node& node) {
  std::int64_t count = 1;
  for (const Node& item : node.items) count += count_nodes(item);
  for (const Entry& entry : node.entries) count += 1 + count_nodes(entry.value);
  return count;
}

std::int32_t depth_of(const Node& node) {
  std::int32_t deepest = 0;
  for (const Node& item : node.items) deepest = std::max(deepest, depth_of(item));
  for (const Entry& entry : node.entries) deepest = std::max(deepest, depth_of(entry.value));
  return deepest + (node.is_sequence() || node.is_mapping() ? 1 : 0);
}

// The depth limit is enforced here, in the event, and not by looking at the text first: yaml-cpp
// announces each level before it goes into it, so throwing bounds its recursion as well.
class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(std::int32_t source, Diagnostics& diagnostics)
      : source_(source), diagnostics_(diagnostics) {}

  [[nodiscard]] Node take_root() { return std::move(root_); }
  [[nodiscard]] std::int32_t documents() const { return documents_; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) {
      stop(position(mark), "a second document begins here; one file is one scenario");
    }
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Node node;
    node.position = position(mark);
    complete(std::move(node), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const Position here = position(mark);
    const auto known = anchors_.find(anchor);
    if (known == anchors_.end()) stop(here, "this alias is inside what it stands for");
    if (static_cast<std::int32_t>(open_.size()) + known->second.depth > kMaxDepth) too_deep(here);
    charge(known->second.nodes, here);
    complete(known->second.node, 0);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    Node node;
    node.kind = NodeKind::kScalar;
    node.position = position(mark);
    node.quoted = tag == "!" || tag == kStringTag;
    node.text = value;
    check_tag(tag, node.position);
    complete(std::move(node), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    begin(NodeKind::kSequence, position(mark), tag, anchor);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    begin(NodeKind::kMapping, position(mark), tag, anchor);
  }
  void OnMapEnd() override { end(); }

 private:
  struct Open {
    Node node;
    YAML::anchor_t anchor = 0;
    bool has_key = false;  // mappings: the next value belongs to `key`
    std::string key;
    Position key_position;
    std::vector<Node> merges;  // values of `<<`, applied at the end
  };
  struct Anchored {
    Node node;
    std::int64_t nodes = 0;
    std::int32_t depth = 0;
  };

  [[noreturn]] void stop(Position where, std::string message) {
    diagnostics_.error(where, std::move(message));
    throw Stop();
  }
  [[noreturn]] void too_deep(Position where) {
    stop(where, "nested more than " + std::to_string(kMaxDepth) + " levels deep");
  }

  Position position(const YAML::Mark& mark) const {
    return {source_, mark.line + 1, mark.column + 1};
  }

  void charge(std::int64_t nodes, Position where) {
    nodes_ += nodes;
    if (nodes_ > kMaxNodes) {
      stop(where,
           "more than " + std::to_string(kMaxNodes) + " values, counting what aliases stand for");
    }
  }

  void check_tag(const std::string& tag, Position where) {
    if (tag.empty() || tag == "?" || tag == "!" || tag == kStringTag) return;
    diagnostics_.error(where,
                       "the tag " + in_quotes(tag) + " is not allowed: values are plain text");
  }

  void begin(NodeKind kind, Position where, const std::string& tag, YAML::anchor_t anchor) {
    if (static_cast<std::int32_t>(open_.size()) >= kMaxDepth) too_deep(where);
    check_tag(tag, where);
    Open open;
    open.node.kind = kind;
    open.node.position = where;
    open.anchor = anchor;
    open_.push_back(std::move(open));
  }

  void end() {
    Open open = std::move(open_.back());
    open_.pop_back();
    for (const Node& merge : open.merges) apply_merge(open.node, merge);
    complete(std::move(open.node), open.anchor);
  }

  // A complete node goes to whatever is open around it.
  void complete(Node node, YAML::anchor_t anchor) {
    charge(1, node.position);
    if (anchor != 0) {
      Anchored& anchored = anchors_[anchor];
      anchored.nodes = count_nodes(node);
      anchored.depth = depth_of(node);
      anchored.node = node;
    }
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& around = open_.back();
    if (around.node.is_sequence()) {
      around.node.items.push_back(std::move(node));
    } else if (!around.has_key) {
      take_key(around, node);
    } else {
      around.has_key = false;
      take_value(around, std::move(node));
    }
  }

  void take_key(Open& around, const Node& node) {
    if (!node.is_scalar()) stop(node.position, "a key must be a name, not " + name_of(node));
    around.has_key = true;
    around.key = node.text;
    around.key_position = node.position;
  }

  void take_value(Open& around, Node node) {
    if (around.key == kMergeKey) {
      take_merge(around, std::move(node));
      return;
    }
    for (const Entry& entry : around.node.entries) {
      if (entry.key != around.key) continue;
      diagnostics_.error(around.key_position, "the key " + in_quotes(around.key) +
                                                  " is here twice; the first one is in line " +
                                                  std::to_string(entry.key_position.line));
      return;
    }
    if (around.node.entries.size() >= kMaxKeys) {
      stop(around.key_position, "more than " + std::to_string(kMaxKeys) + " keys in one mapping");
    }
    around.node.entries.push_back({around.key, around.key_position, std::move(node)});
  }

  void take_merge(Open& around, Node node) {
    if (node.is_mapping()) {
      around.merges.push_back(std::move(node));
      return;
    }
    bool all_mappings = node.is_sequence();
    for (const Node& item : node.items) all_mappings = all_mappings && item.is_mapping();
    if (!all_mappings) {
      diagnostics_.error(node.position,
                         "<< takes a mapping or a list of mappings, not " + name_of(node));
      return;
    }
    for (Node& item : node.items) around.merges.push_back(std::move(item));
  }

  // Keys of the mapping itself win; of several merged ones the earlier wins (YAML merge key type).
  static void apply_merge(Node& into, const Node& merge) {
    for (const Entry& entry : merge.entries) {
      if (into.find(entry.key) == nullptr) into.entries.push_back(entry);
    }
  }

  // Mappings are searched from front to back; this bounds the square.
  static constexpr std::size_t kMaxKeys = 2000;

  std::int32_t source_;
  Diagnostics& diagnostics_;
  std::map<YAML::anchor_t, Anchored> anchors_;
  std::vector<Open> open_;
  Node root_;
  std::int64_t nodes_ = 0;
  std::int32_t documents_ = 0;
};

}  // namespace

Node build_tree(std::string_view text, std::int32_t source, Diagnostics& diagnostics) {
  TreeBuilder builder(source, diagnostics);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
    if (builder.documents() == 0) {
      diagnostics.error({source, 0, 0}, "holds no YAML document, only blanks and comments");
    }
  } catch (const Stop&) {
    return {};
  } catch (const YAML::Exception& e) {
    const Position where = e.mark.is_null() ? Position{source, 0, 0}
                                            : Position{source, e.mark.line + 1, e.mark.column + 1};
    diagnostics.error(where, "not valid YAML: " + e.msg);
    return {};
  }
  return builder.take_root();
}

}  // namespace tailrace::scenarios::yaml
