// Finds the name that somebody probably meant.
#pragma once

#include <span>
#include <string_view>

namespace tailrace::scenarios {

// The candidate with the fewest insertions, deletions, replacements and swaps of neighbours (the
// restricted Damerau-Levenshtein distance); the first of several. Empty if none is near: at most a
// third of the longer name may differ.
// Cost: candidates x length^2; names longer than 200 bytes are never near.
[[nodiscard]] std::string_view nearest_name(std::string_view name,
                                            std::span<const std::string_view> candidates);

}  // namespace tailrace::scenarios
