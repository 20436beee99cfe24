#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agw::cli {

/// Returns the word of `known` that `typed` may be a slip for: with at most two letters added, removed, replaced or
/// swapped, but no more than a third of them. Empty if there is none.
/// Example: src/cli/similar_word_test.cpp: SimilarWord.IsFoundForASlip
std::string similar_word(std::string_view typed, const std::vector<std::string>& known);

}  // namespace agw::cli
