// Move-only callables stored in place: what ports and queues carry.
//
// std::function allocates once its captures pass two words and wants them copyable. These never
// allocate; a capture that does not fit is a compile error, to be solved by capturing an id or a
// unique_ptr.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::base {

template <typename Signature, std::size_t kCapacity = 64>
class InplaceFunction;

template <typename R, typename... Args, std::size_t kCapacity>
class InplaceFunction<R(Args...), kCapacity> {
 public:
  InplaceFunction() = default;

  template <typename F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, InplaceFunction> &&
             std::is_invocable_r_v<R, std::remove_cvref_t<F>&, Args...>)
  InplaceFunction(F&& callable) {  // NOLINT(google-explicit-constructor): takes a lambda
    using Target = std::remove_cvref_t<F>;
    static_assert(sizeof(Target) <= kCapacity, "capture less: an id, or a unique_ptr");
    static_assert(alignof(Target) <= alignof(std::max_align_t));
    static_assert(std::is_nothrow_move_constructible_v<Target>);
    ::new (static_cast<void*>(storage_)) Target(std::forward<F>(callable));
    operations_ = &kOperationsOf<Target>;
  }

  InplaceFunction(InplaceFunction&& other) noexcept { take(other); }
  InplaceFunction& operator=(InplaceFunction&& other) noexcept {
    if (this != &other) {
      reset();
      take(other);
    }
    return *this;
  }
  InplaceFunction(const InplaceFunction&) = delete;  // move it, or capture by value twice
  InplaceFunction& operator=(const InplaceFunction&) = delete;  // the same
  ~InplaceFunction() { reset(); }

  void reset() {
    if (operations_ != nullptr) {
      operations_->destroy(storage_);
      operations_ = nullptr;
    }
  }

  explicit operator bool() const { return operations_ != nullptr; }

  // Requires: not empty.
  R operator()(Args... args) {
    TAILRACE_ASSERT(operations_ != nullptr);
    return operations_->invoke(storage_, std::forward<Args>(args)...);
  }

 private:
  struct Operations {
    R (*invoke)(void*, Args&&...);
    void (*relocate)(void* from, void* to);
    void (*destroy)(void*);
  };

  template <typename Target>
  static constexpr Operations kOperationsOf = {
      [](void* self, Args&&... args) -> R {
        return (*std::launder(static_cast<Target*>(self)))(std::forward<Args>(args)...);
      },
      [](void* from, void* to) {
        Target* source = std::launder(static_cast<Target*>(from));
        ::new (to) Target(std::move(*source));
        source->~Target();
      },
      [](void* self) { std::launder(static_cast<Target*>(self))->~Target(); },
  };

  void take(InplaceFunction& other) {
    if (other.operations_ == nullptr) return;
    other.operations_->relocate(other.storage_, storage_);
    operations_ = std::exchange(other.operations_, nullptr);
  }

  const Operations* operations_ = nullptr;
  alignas(std::max_align_t) std::byte storage_[kCapacity];
};

// "Call me when it has happened."
using Callback = InplaceFunction<void()>;

}  // namespace tailrace::base
