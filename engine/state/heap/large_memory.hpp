// Memory for hash tables that outgrow the processor's table of pages.
//
// From 2 MiB on the memory is aligned to huge pages, and the system is asked for some where it takes
// such advice: random access to a large map then costs one cache miss instead of two.
#pragma once

#include <cstddef>

namespace tailrace::engine {

// Uninitialised, aligned to 64 bytes at least. Errors: std::bad_alloc.
[[nodiscard]] void* allocate_large(std::size_t bytes);
// Requires: the size that was asked for.
void free_large(void* memory, std::size_t bytes);

}  // namespace tailrace::engine
