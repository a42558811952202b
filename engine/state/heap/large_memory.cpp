#include "engine/state/heap/large_memory.hpp"

#include <cstdint>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace tailrace::engine {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

// Smaller memory is the allocator's business.
constexpr std::align_val_t kLine{64};

#ifdef __linux__
std::size_t whole_pages(std::size_t bytes) {
  constexpr std::size_t kPage = 4096;
  return (bytes + kPage - 1) / kPage * kPage;
}

// From the system and not from the heap: advice given for memory of the heap would stay with it
// when somebody else gets it.
void* map_huge(std::size_t bytes) {
  const std::size_t size = whole_pages(bytes);
  void* const mapped =
      ::mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  // Keep the aligned middle.
  auto* const first = static_cast<std::byte*>(mapped);
  const std::size_t before =
      (kHugePage - reinterpret_cast<std::uintptr_t>(first) % kHugePage) % kHugePage;
  if (before > 0) ::munmap(first, before);
  if (before < kHugePage) ::munmap(first + before + size, kHugePage - before);
  // Whether this is taken changes nothing but the time.
  static_cast<void>(::madvise(first + before, size, MADV_HUGEPAGE));
  return first + before;
}
#endif

}  // namespace

void* allocate_large(std::size_t bytes) {
#ifdef __linux__
  if (bytes >= kHugePage) return map_huge(bytes);
#endif
  return ::operator new(bytes, kLine);
}

void free_large(void* memory, std::size_t bytes) {
#ifdef __linux__
  if (bytes >= kHugePage) {
    ::munmap(memory, whole_pages(bytes));
    return;
  }
#endif
  ::operator delete(memory, kLine);
}

}  // namespace tailrace::engine
