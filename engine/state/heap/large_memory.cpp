#include "engine/state/heap/large_memory.hpp"

#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace tailrace::engine {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::align_val_t alignment_of(std::size_t bytes) {
  return std::align_val_t{bytes >= kHugePage ? kHugePage : 64};
}

}  // namespace

void* allocate_large(std::size_t bytes) {
  void* memory = ::operator new(bytes, alignment_of(bytes));
#ifdef __linux__
  // Advice only: whether it is taken changes nothing but the time.
  if (bytes >= kHugePage) static_cast<void>(::madvise(memory, bytes, MADV_HUGEPAGE));
#endif
  return memory;
}

void free_large(void* memory, std::size_t bytes) {
  ::operator delete(memory, alignment_of(bytes));
}

}  // namespace tailrace::engine
