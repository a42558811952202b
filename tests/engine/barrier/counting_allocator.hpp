// How often this program has asked for memory. Link counting_allocator.cpp.
#pragma once

#include <cstddef>

namespace tailrace::engine::test {

[[nodiscard]] std::size_t allocation_count();

}  // namespace tailrace::engine::test
