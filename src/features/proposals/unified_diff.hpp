#pragma once

#include <string>
#include <string_view>

namespace agw {

/// What changes from `before` to `after`, in the unified format with three lines around each change; empty where
/// nothing does. Of texts that are too large to compare, or too different, the changed part is shown as replaced.
std::string unified_diff(std::string_view before, std::string_view after, std::string_view name_before,
                         std::string_view name_after);

}  // namespace agw
