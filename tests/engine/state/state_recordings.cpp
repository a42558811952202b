#include "tests/engine/state/state_recordings.hpp"

#include <map>
#include <set>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "engine/state/heap/copy_on_write_state_map.hpp"
#include "engine/state/heap/heap_keyed_state_backend.hpp"
#include "engine/state/heap/heap_restore_operation.hpp"
#include "engine/state/operator_state_backend.hpp"

namespace tailrace::engine::test {
namespace {

void expect(const std::string& where, const Json& expected, const Json& got) {
  if (expected != got) {
    throw std::runtime_error(where + ": expected " + expected.dump() + ", got " + got.dump());
  }
}

std::vector<std::byte> from_base64(const std::string& text) {
  static constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<std::byte> bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = (bits << 6) | static_cast<std::uint32_t>(kAlphabet.find(c));
    if ((count += 6) >= 8) {
      count -= 8;
      bytes.push_back(static_cast<std::byte>((bits >> count) & 0xFFU));
    }
  }
  return bytes;
}

void expect_bytes(const std::string& where, const std::vector<std::byte>& expected,
                  const std::vector<std::byte>& got) {
  for (std::size_t i = 0; i < std::min(expected.size(), got.size()); ++i) {
    if (expected[i] != got[i]) {
      throw std::runtime_error(where + ": byte " + std::to_string(i) + " differs");
    }
  }
  expect(where + ": length", expected.size(), got.size());
}

// Runs a snapshot to its end; its stream and what it files.
struct Finished {
  std::vector<std::byte> bytes;
  OperatorSubtaskState state;
};
Finished finish(SnapshotFuture& future) {
  Finished result;
  while (future.step().has_value()) {
  }
  result.bytes = future.take_stream();
  future.finish(
      std::make_shared<const StreamStateHandle>(ByteStreamStateHandle{"recorded", result.bytes}),
      result.state);
  return result;
}

// The copy-on-write map.

using IntArray = std::shared_ptr<std::vector<int>>;
using IntMap = CopyOnWriteStateMap<int, int, IntArray>;

Json to_json(const IntArray& state) {
  return state == nullptr ? Json() : Json(*state);
}
Json to_json(const IntMap::Entry& entry) {
  return Json::array({entry.key, entry.name_space, to_json(entry.state)});
}
Json to_json(const std::optional<IntArray>& state) {
  return state.has_value() ? to_json(*state) : Json();
}

std::set<const IntMap::Entry*> entries_of(const IntMap& map) {
  std::set<const IntMap::Entry*> entries;
  map.for_each([&](const IntMap::Entry& entry) { entries.insert(&entry); });
  return entries;
}

IntArray transformed(const IntArray* old, int value) {
  auto next = old == nullptr || *old == nullptr ? std::make_shared<std::vector<int>>()
                                                : std::make_shared<std::vector<int>>(**old);
  if (next->size() < 4) {
    next->push_back(value);
  } else {
    next->back() = value;
  }
  return next;
}

class CowMapReplay {
 public:
  explicit CowMapReplay(std::int64_t capacity) : map_(capacity) {}

  void run(const Json& op, const std::string& where) {
    const std::string name = op.at(0);
    if (name == "snapshot") {
      auto [at, inserted] = snapshots_.emplace(op.at(1).get<int>(), map_.snapshot());
      expect(where, op.at(2), at->second.array_length());
    } else if (name == "read") {
      expect(where, op.at(2), contents_of(snapshots_.at(op.at(1).get<int>())));
    } else if (name == "release") {
      snapshots_.at(op.at(1).get<int>()).release();
      snapshots_.erase(op.at(1).get<int>());
    } else {
      run_access(name, op, op.at(1), op.at(2), where);
    }
  }

  IntMap& map() { return map_; }
  Json live_snapshots() const {
    Json result = Json::array();
    for (const auto& [id, snapshot] : snapshots_) {
      result.push_back(Json::array({id, contents_of(snapshot)}));
    }
    return result;
  }

 private:
  static Json contents_of(const IntMap::Snapshot& snapshot) {
    Json contents = Json::array();
    snapshot.for_each([&](const IntMap::Entry& entry) { contents.push_back(to_json(entry)); });
    return contents;
  }
  void run_access(const std::string& name, const Json& op, int key, int ns,
                  const std::string& where) {
    const std::uint32_t hash = state_map_hash(key, ns);
    const auto array = [](const Json& value) {
      if (value.is_null()) return IntArray();
      if (value.is_array())
        return std::make_shared<std::vector<int>>(value.get<std::vector<int>>());
      return std::make_shared<std::vector<int>>(1, value.get<int>());
    };
    if (name == "put") {
      map_.put(key, ns, hash, array(op.at(3)));
    } else if (name == "putAndGetOld") {
      expect(where, op.at(4), to_json(map_.put_and_get_old(key, ns, hash, array(op.at(3)))));
    } else if (name == "get") {
      const IntArray* state = map_.get(key, ns, hash);
      expect(where, op.at(3), state == nullptr ? Json() : to_json(*state));
    } else if (name == "containsKey") {
      expect(where, op.at(3), map_.contains_key(key, ns, hash));
    } else if (name == "remove") {
      map_.remove(key, ns, hash);
    } else if (name == "removeAndGetOld") {
      expect(where, op.at(3), to_json(map_.remove_and_get_old(key, ns, hash)));
    } else if (name == "transform") {
      const int value = op.at(3);
      map_.transform(key, ns, hash,
                     [value](const IntArray* old) { return transformed(old, value); });
    } else if (name == "mutate") {
      const IntArray* state = map_.get(key, ns, hash);
      expect(where, op.at(4), state != nullptr);
      if (state == nullptr) return;
      if (*state == nullptr || (*state)->empty()) throw std::runtime_error("nothing to mutate");
      (*state)->front() = op.at(3);
    } else {
      throw std::runtime_error("unknown operation " + name);
    }
  }

  IntMap map_;
  std::map<int, IntMap::Snapshot> snapshots_;
};

}  // namespace

void replay_cow_map(const Json& test_case) {
  const Json& capacity = test_case.at("capacity");
  CowMapReplay replay(capacity.is_null() ? IntMap::kDefaultCapacity : capacity.get<std::int64_t>());
  IntMap& map = replay.map();
  std::size_t step = 0;
  for (const Json& line : test_case.at("ops")) {
    const std::string where = test_case.at("id").get<std::string>() + " step " +
                              std::to_string(step++) + " " + line.at(0).dump();
    const auto before = entries_of(map);
    const std::int64_t state_copies = map.state_copies();
    replay.run(line.at(0), where);

    expect(where + " shape", line.at(1),
           {map.size(), map.primary_capacity(), map.incremental_capacity(), map.rehash_index(),
            map.primary_size(), map.incremental_size(), map.version(), map.required_version(),
            map.modification_count()});
    std::int64_t fresh = 0;
    for (const auto* entry : entries_of(map)) fresh += before.contains(entry) ? 0 : 1;
    if (map.size() > static_cast<std::int64_t>(before.size())) --fresh;
    expect(where + " copies", line.at(2), {fresh, map.state_copies() - state_copies});
  }
  expect("snapshots at the end", test_case.at("snapshotsAtEnd"), replay.live_snapshots());
  Json contents = Json::array();
  map.for_each([&](const IntMap::Entry& entry) { contents.push_back(to_json(entry)); });
  expect("contents", test_case.at("contents"), contents);
}

namespace {

// Snapshots of keyed backends.

const KeySerializer* key_type(const std::string& name) {
  if (name == "string") return &string_key_serializer();
  if (name == "int") return &int_key_serializer();
  if (name == "long") return &long_key_serializer();
  return nullptr;
}

std::string key_of(const KeySerializer& keys, const Json& value) {
  if (&keys == &int_key_serializer()) return int_key(value.get<std::int32_t>());
  if (&keys == &long_key_serializer()) return long_key(std::stoll(value.get<std::string>()));
  return value.get<std::string>();
}

template <typename T>
T value_of(const Json& value) {
  if constexpr (std::is_same_v<T, std::int64_t>) {
    return std::stoll(value.get<std::string>());
  } else {
    return value.get<T>();
  }
}
template <typename T>
Json json_of(const T& value) {
  if constexpr (std::is_same_v<T, std::int64_t>) {
    return std::to_string(value);
  } else {
    return value;
  }
}

template <typename T>
Json call_value(HeapKeyedStateBackend& backend, const Json& op) {
  auto state = backend.get_value_state<T>(op.at("state").get<std::string>());
  const std::string what = op.at("do");
  if (what == "update") {
    const Json& argument = op.at("args").at(0);
    argument.is_null() ? state.clear() : state.update(value_of<T>(argument));
  } else if (what == "clear") {
    state.clear();
  } else if (const auto value = state.value(); value.has_value()) {
    return json_of(*value);
  }
  return {};
}

template <typename T>
Json call_list(HeapKeyedStateBackend& backend, const Json& op) {
  auto state = backend.get_list_state<T>(op.at("state").get<std::string>());
  const std::string what = op.at("do");
  const auto elements = [&op] {
    std::vector<T> result;
    for (const Json& element : op.at("args").at(0)) result.push_back(value_of<T>(element));
    return result;
  };
  if (what == "add") {
    state.add(value_of<T>(op.at("args").at(0)));
  } else if (what == "addAll") {
    for (const T& element : elements()) state.add(element);
  } else if (what == "update") {
    state.update(elements());
  } else if (what == "clear") {
    state.clear();
  } else if (const auto list = state.get(); !list.empty()) {
    Json result = Json::array();
    for (const T& element : list) result.push_back(json_of(element));
    return result;
  }
  return {};
}

using Call = std::function<Json(HeapKeyedStateBackend&, const Json&)>;

std::optional<Call> call_for(const Json& state) {
  const std::string value = state.value("value", "");
  if (state.at("ns") != "void" || state.contains("ttl")) return std::nullopt;
  if (state.at("kind") == "value") {
    if (value == "int") return call_value<std::int32_t>;
    if (value == "long") return call_value<std::int64_t>;
    if (value == "string") return call_value<std::string>;
  } else if (state.at("kind") == "list") {
    if (value == "int") return call_list<std::int32_t>;
    if (value == "long") return call_list<std::int64_t>;
    if (value == "string") return call_list<std::string>;
  }
  return std::nullopt;
}

void register_state(HeapKeyedStateBackend& backend, const Json& state) {
  const std::string name = state.at("name");
  const std::string kind = state.at("kind");
  const std::string value = state.at("value");
  if (kind == "value") {
    if (value == "int") static_cast<void>(backend.get_value_state<std::int32_t>(name));
    if (value == "long") static_cast<void>(backend.get_value_state<std::int64_t>(name));
    if (value == "string") static_cast<void>(backend.get_value_state<std::string>(name));
  } else {
    if (value == "int") static_cast<void>(backend.get_list_state<std::int32_t>(name));
    if (value == "long") static_cast<void>(backend.get_list_state<std::int64_t>(name));
    if (value == "string") static_cast<void>(backend.get_list_state<std::string>(name));
  }
}

// The order of states within a key group comes from an identity hash: only streams that happen to
// be in the order of the ids can be compared byte by byte.
bool in_order_of_ids(const Json& snapshot) {
  for (const Json& group : snapshot.at("groups")) {
    std::size_t id = 0;
    for (const Json& state : group[1]) {
      if (state[0].get<std::size_t>() != id++) return false;
    }
  }
  return true;
}

std::multiset<std::string> contents_of(const HeapKeyedStateBackend& backend) {
  std::multiset<std::string> contents;
  backend.visit([&](const std::string& state, std::string_view key, const std::string& value) {
    contents.insert(state + '\t' + backend.key_serializer().text(key) + '\t' + value);
  });
  return contents;
}

}  // namespace

bool replay_keyed_snapshot(const Json& test_case) {
  const KeySerializer* keys = key_type(test_case.at("keyType"));
  if (keys == nullptr || test_case.at("compress").get<bool>() ||
      !test_case.value("queues", Json::array()).empty()) {
    return false;
  }
  std::map<std::string, Call> calls;
  std::map<std::string, Json> states;
  for (const Json& state : test_case.at("states")) {
    const auto call = call_for(state);
    if (!call.has_value()) return false;
    calls.emplace(state.at("name"), *call);
    states.emplace(state.at("name"), state);
  }
  const Json* recorded = nullptr;
  for (const Json& snapshot : test_case.at("snapshots")) {
    if (snapshot.at("backend") == "heap" && snapshot.at("kind") == "checkpoint") {
      recorded = &snapshot;
    }
  }
  if (recorded == nullptr || recorded->contains("error")) return false;

  const KeyGroupRange range{test_case.at("range")[0], test_case.at("range")[1]};
  const std::int32_t max_parallelism = test_case.at("maxParallelism");
  HeapKeyedStateBackend backend(range, max_parallelism, *keys);
  // Recorded ids follow a hash map over the names; ours follow the registration.
  for (const Json& name : recorded->value("ids", Json::array())) {
    register_state(backend, states.at(name));
  }
  const std::string id = test_case.at("id");
  std::size_t step = 0;
  for (const Json& op : test_case.at("ops")) {
    const std::string where = id + " op " + std::to_string(step++);
    if (op.at("op") == "key") {
      backend.set_current_key(key_of(*keys, op.at("args").at(0)));
      if (op.contains("kg")) expect(where, op.at("kg"), backend.current_key_group());
    } else if (op.at("op") == "call") {
      const Json out = calls.at(op.at("state"))(backend, op);
      if (op.contains("out")) expect(where, op.at("out"), out);
    }
  }

  const auto future = backend.snapshot(1);
  if (recorded->at("handle").is_null()) {
    expect(id + " handle", true, future == nullptr);
    return true;
  }
  const Finished finished = finish(*future);
  expect(id + " size", recorded->at("stateSize"), finished.bytes.size());
  const auto& handle =
      dynamic_cast<const KeyGroupsStateHandle&>(*finished.state.managed_keyed.front());
  expect(id + " offsets", recorded->at("offsets"), handle.offsets().offsets);
  const std::vector<std::byte> bytes = from_base64(recorded->at("bytes"));
  if (in_order_of_ids(*recorded)) expect_bytes(id, bytes, finished.bytes);

  // The recorded stream restores to the same contents, whatever its order of states.
  HeapKeyedStateBackend restored(range, max_parallelism, *keys);
  const auto result =
      HeapRestoreOperation::restore(restored, finished.state.managed_keyed,
                                    {std::make_shared<const std::vector<std::byte>>(bytes)});
  if (!result.ok()) throw std::runtime_error(id + ": " + result.error());
  expect(id + " restored", true, contents_of(backend) == contents_of(restored));
  return true;
}

namespace {

// Snapshots of operator backends.

template <typename T>
PartitionableListState<T>& list_of(OperatorStateBackend& backend, const Json& state) {
  const std::string name = state.at("name");
  return state.at("mode") == "UNION" ? backend.get_union_list_state<T>(name)
                                     : backend.get_list_state<T>(name);
}
template <typename T>
void fill(OperatorStateBackend& backend, const Json& state, const Json& content) {
  auto& list = list_of<T>(backend, state);
  for (const Json& element : content) list.add(value_of<T>(element));
}
template <typename T>
Json content_of(OperatorStateBackend& backend, const Json& state) {
  Json result = Json::array();
  for (const T& element : list_of<T>(backend, state).get()) result.push_back(json_of(element));
  return result;
}

const Json& named(const Json& items, const std::string& name) {
  for (const Json& item : items) {
    if (item.at("name") == name) return item;
  }
  throw std::runtime_error("no item named " + name);
}

}  // namespace

bool replay_operator_snapshot(const Json& test_case) {
  const Json& states = test_case.at("states");
  for (const Json& state : states) {
    if (state.at("mode") == "BROADCAST" || state.at("value") == "tuple2") return false;
  }
  const std::string id = test_case.at("id");
  std::vector<OperatorStateHandle> handles;
  std::vector<Blob> streams;
  for (const Json& snapshot : test_case.at("snapshots")) {
    // The order of the names in the recorded stream is that of a hash map: taken from the stream.
    std::vector<std::string> order;
    if (!snapshot.at("handle").is_null()) {
      const auto bytes = from_base64(snapshot.at("bytes"));
      DataInputView in(bytes);
      static_cast<void>(in.read_int());
      for (std::int16_t left = in.read_short(); left > 0; --left) {
        order.push_back(read_state_meta_info(in).name);
      }
    }
    OperatorStateBackend backend;
    for (const std::string& name : order) {
      const Json& state = named(states, name);
      const Json& content = named(snapshot.at("input"), name).at("content");
      if (state.at("value") == "int") fill<std::int32_t>(backend, state, content);
      if (state.at("value") == "long") fill<std::int64_t>(backend, state, content);
      if (state.at("value") == "string") fill<std::string>(backend, state, content);
    }
    const auto future = backend.snapshot(1);
    if (snapshot.at("handle").is_null()) {
      expect(id + " handle", true, future == nullptr);
      continue;
    }
    Finished finished = finish(*future);
    expect_bytes(id, from_base64(snapshot.at("bytes")), finished.bytes);
    expect(id + " size", snapshot.at("stateSize"), finished.state.state_size_bytes());
    const OperatorStateHandle& handle = finished.state.managed_operator.front();
    for (const auto& [name, info] : handle.states) {
      expect(id + " offsets of " + name, named(snapshot.at("states"), name).at("offsets"),
             info.offsets);
      expect(id + " mode of " + name, named(snapshot.at("states"), name).at("mode"),
             std::string(to_string(info.mode)));
    }
    handles.push_back(handle);
    streams.push_back(std::make_shared<const std::vector<std::byte>>(finished.bytes));
  }
  OperatorStateBackend restored;
  const auto result = restored.restore(handles, {streams.begin(), streams.end()});
  if (!result.ok()) throw std::runtime_error(id + ": " + result.error());
  std::vector<std::string> registered = restored.registered_states();
  std::sort(registered.begin(), registered.end());
  expect(id + " registered", test_case.at("registeredLists"), registered);
  for (const Json& expected : test_case.at("restored")) {
    const Json& state = named(states, expected.at("name"));
    Json content;
    if (state.at("value") == "int") content = content_of<std::int32_t>(restored, state);
    if (state.at("value") == "long") content = content_of<std::int64_t>(restored, state);
    if (state.at("value") == "string") content = content_of<std::string>(restored, state);
    expect(id + " restored", expected.at("content"), content);
  }
  return true;
}

}  // namespace tailrace::engine::test
