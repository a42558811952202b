// The segments of a remote channel against a restatement with one list for each kind.
#include "engine/network/channel_buffers.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "engine/network/f110/remote_input_channel.hpp"
#include "engine/network/f120/remote_input_channel.hpp"

namespace tailrace::engine {
namespace {

// What an idle channel may take is 256 bytes with its places in the gate and in its connection, 8 and
// 16 bytes (twice that while arrays grow), and what the allocator rounds up.
static_assert(sizeof(RemoteInputChannel110) <= 208);
static_assert(sizeof(RemoteInputChannel120) <= 208);

class RecyclerThatNotes final : public BufferRecycler {
 public:
  void recycle(NetworkBuffer& segment) override { came.insert(&segment); }
  std::set<NetworkBuffer*> came;
};

class MadeSegments {
 public:
  NetworkBuffer& make(BufferRecycler& recycler) {
    all_.push_back(std::make_unique<NetworkBuffer>(bytes_.data(), 16U));
    all_.back()->lend(recycler);
    return *all_.back();
  }

 private:
  std::array<std::byte, 16> bytes_{};
  std::vector<std::unique_ptr<NetworkBuffer>> all_;
};

// Each kind in a list of its own, the one that came last at the end; those that are out in no order.
struct NaiveBuffers {
  std::vector<NetworkBuffer*> free;
  std::vector<NetworkBuffer*> out;
  std::vector<NetworkBuffer*> floating;
};

NetworkBuffer* pop_back(std::vector<NetworkBuffer*>& list) {
  if (list.empty()) return nullptr;
  NetworkBuffer* const last = list.back();
  list.pop_back();
  return last;
}

NetworkBuffer* pop_front(std::vector<NetworkBuffer*>& list) {
  if (list.empty()) return nullptr;
  NetworkBuffer* const first = list.front();
  list.erase(list.begin());
  return first;
}

RC_GTEST_PROP(ChannelBuffers, KeepWhatListsOfEachKindWouldKeep,
              (const std::vector<std::pair<std::uint8_t, std::uint8_t>>& script)) {
  RecyclerThatNotes first_home;
  RecyclerThatNotes second_home;
  MadeSegments segments;
  ChannelBuffers buffers;
  NaiveBuffers naive;
  const auto exclusive = *rc::gen::inRange(0, 6);
  for (int i = 0; i < exclusive; ++i) {
    NetworkBuffer& segment = segments.make(first_home);
    buffers.add_exclusive(segment);
    naive.free.push_back(&segment);
  }
  for (const auto& [what, argument] : script) {
    switch (what % 7) {
      case 0: {
        NetworkBuffer& segment = segments.make(first_home);
        buffers.add_floating(segment);
        naive.floating.push_back(&segment);
        break;
      }
      case 1:
        RC_ASSERT(buffers.take_floating() == pop_back(naive.floating));
        break;
      case 2: {
        NetworkBuffer* const segment = pop_back(naive.free);
        RC_ASSERT(buffers.take_exclusive() == segment);
        if (segment != nullptr) naive.out.push_back(segment);
        break;
      }
      case 3:
      case 4: {
        if (naive.out.empty()) break;
        const auto at = static_cast<std::ptrdiff_t>(argument % naive.out.size());
        NetworkBuffer* const segment = naive.out[static_cast<std::size_t>(at)];
        naive.out.erase(naive.out.begin() + at);
        if (what % 7 == 3 || argument % 4 != 0) {
          buffers.return_exclusive(*segment);
          naive.free.push_back(segment);
        } else {
          buffers.forget_exclusive(*segment);
        }
        break;
      }
      case 5:
        RC_ASSERT(buffers.remove_floating() == pop_front(naive.floating));
        break;
      default:
        if (argument % 8 != 0) break;
        RC_ASSERT(buffers.remove_exclusive() == pop_front(naive.free));
    }
    RC_ASSERT(buffers.free_exclusive() == static_cast<std::int32_t>(naive.free.size()));
    RC_ASSERT(buffers.floating() == static_cast<std::int32_t>(naive.floating.size()));
    RC_ASSERT(buffers.available() == buffers.free_exclusive() + buffers.floating());
  }
  // Those that are out, and no others, come to the other home.
  buffers.hand_over(second_home);
  for (NetworkBuffer* segment : naive.out) {
    segment->retain();
    segment->release();
  }
  RC_ASSERT(second_home.came == std::set<NetworkBuffer*>(naive.out.begin(), naive.out.end()));
  RC_ASSERT(first_home.came.empty());
  for (const std::vector<NetworkBuffer*>* list : {&naive.free, &naive.floating}) {
    for (NetworkBuffer* segment : *list) {
      segment->retain();
      segment->release();
    }
  }
  RC_ASSERT(first_home.came.size() == naive.free.size() + naive.floating.size());
}

}  // namespace
}  // namespace tailrace::engine
