#include "engine/barrier/f110/buffer_storage.hpp"

#include "sim/base/assert.hpp"

namespace tailrace::engine::f110 {

void EmptyBufferStorage::add(BufferOrEvent /*item*/) {
  TAILRACE_ASSERT_MSG(false, "at-least-once stores nothing");
}

}  // namespace tailrace::engine::f110
