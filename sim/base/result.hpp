// A value or an error, for what may fail without anybody having made a mistake.
//
// gcc 12 has no std::expected; this is the small part of it that the house uses.
#pragma once

#include <utility>
#include <variant>

#include "sim/base/assert.hpp"

namespace tailrace::base {

template <typename E>
struct Failure {
  E error;
};
template <typename E>
Failure(E) -> Failure<E>;

template <typename T, typename E>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : content_(std::in_place_index<0>, std::move(value)) {
  }  // NOLINT(google-explicit-constructor): reads as a return value
  Result(Failure<E> failure)
      : content_(std::in_place_index<1>, std::move(failure.error)) {
  }  // NOLINT(google-explicit-constructor): the same

  [[nodiscard]] bool ok() const { return content_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // Requires: ok().
  [[nodiscard]] T& value() & {
    TAILRACE_ASSERT(ok());
    return std::get<0>(content_);
  }
  [[nodiscard]] const T& value() const& {
    TAILRACE_ASSERT(ok());
    return std::get<0>(content_);
  }
  [[nodiscard]] T&& value() && {
    TAILRACE_ASSERT(ok());
    return std::get<0>(std::move(content_));
  }
  // Requires: !ok().
  [[nodiscard]] const E& error() const {
    TAILRACE_ASSERT(!ok());
    return std::get<1>(content_);
  }

 private:
  std::variant<T, E> content_;
};

}  // namespace tailrace::base
