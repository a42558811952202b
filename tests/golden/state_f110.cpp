// Replays golden/state/cowmap_f110.jsonl: the copy-on-write map, with the shape of its tables.
#include "tests/engine/state/state_recordings.hpp"
#include "tests/golden/golden_registry.hpp"

namespace tailrace::golden {
namespace {

const Registration kCowMap("state/cowmap_f110.jsonl", &engine::test::replay_cow_map);

}  // namespace
}  // namespace tailrace::golden
