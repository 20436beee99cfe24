#pragma once

#include <string>
#include <string_view>

namespace agw {

/// The changes from `before` to `after` as a unified diff with three lines of context; empty if there are none. If the
/// texts are too large or too different to compare, the whole changed part is shown as replaced.
/// Example: src/base/text/unified_diff_test.cpp: UnifiedDiff.ShowsThreeLinesAroundAChange
std::string unified_diff(std::string_view before, std::string_view after, std::string_view name_before,
                         std::string_view name_after);

}  // namespace agw
