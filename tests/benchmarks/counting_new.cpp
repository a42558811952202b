#include "tests/benchmarks/counting_new.hpp"

#include <cstddef>
#include <cstdlib>
#include <new>

#include <malloc.h>

namespace {

std::uint64_t allocations = 0;
std::uint64_t bytes = 0;
std::uint64_t live = 0;

void* counted(std::size_t size, std::size_t alignment) {
  ++allocations;
  bytes += size;
  // aligned_alloc wants whole multiples; malloc would do for all but the large alignments.
  const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
  void* const memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
  if (memory == nullptr) throw std::bad_alloc();
  live += malloc_usable_size(memory);
  return memory;
}

void give_back(void* memory) noexcept {
  live -= malloc_usable_size(memory);  // 0 of a null pointer
  std::free(memory);
}

}  // namespace

namespace tailrace::testing {

std::uint64_t allocation_count() {
  return allocations;
}

std::uint64_t allocated_bytes() {
  return bytes;
}

std::uint64_t live_bytes() {
  return live;
}

}  // namespace tailrace::testing

void* operator new(std::size_t size) {
  return counted(size, alignof(std::max_align_t));
}
void* operator new[](std::size_t size) {
  return counted(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  give_back(memory);
}
void operator delete[](void* memory) noexcept {
  give_back(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  give_back(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  give_back(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  give_back(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  give_back(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  give_back(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  give_back(memory);
}
