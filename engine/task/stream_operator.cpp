#include "engine/task/stream_operator.hpp"

#include "sim/base/assert.hpp"

namespace tailrace::engine {

void SourceOperator::process(const Record&) {
  TAILRACE_ASSERT_MSG(false, "a source has no input");
}

}  // namespace tailrace::engine
