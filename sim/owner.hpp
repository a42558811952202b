// Whose work something is: one life of one process. What is dead is dropped by its tag.
#pragma once

#include <cstdint>

#include "sim/base/strong_id.hpp"

namespace tailrace::sim {

using OwnerTag = base::StrongId<struct OwnerTagTag, std::uint64_t>;

}  // namespace tailrace::sim
