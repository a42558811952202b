// Counts what the program takes from the heap; replaces the global operator new of its program.
#pragma once

#include <cstdint>

namespace tailrace::testing {

[[nodiscard]] std::uint64_t allocation_count();
// As asked for, whether or not it has been given back since.
[[nodiscard]] std::uint64_t allocated_bytes();
// What is out at the moment, with what the allocator rounds up: the usable size of every block.
[[nodiscard]] std::uint64_t live_bytes();

}  // namespace tailrace::testing
