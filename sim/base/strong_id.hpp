// Integers that cannot be mistaken for one another.
#pragma once

#include <compare>
#include <cstdint>

namespace tailrace::base {

template <typename Tag, typename Representation = std::int32_t>
struct StrongId {
  Representation value{};

  friend constexpr auto operator<=>(const StrongId&, const StrongId&) = default;
};

}  // namespace tailrace::base
