#include "tests/engine/barrier/counting_allocator.hpp"

#include <cstdlib>
#include <new>

namespace {
std::size_t allocations = 0;
}  // namespace

// In a file of its own: inlined next to its callers, g++ takes the pair for a mismatch.
void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace tailrace::engine::test {

std::size_t allocation_count() {
  return allocations;
}

}  // namespace tailrace::engine::test
