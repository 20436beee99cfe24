#pragma once

#include <string>
#include <string_view>

namespace agw {

/// A name in kebab-case: `Deploy Notes (v2)` and `DeployNotes_v2` are `deploy-notes-v2`. Letters beyond ASCII stay as
/// they are. At most 100 bytes; never empty; nothing in it can leave a directory.
std::string slug_of(std::string_view name);

}  // namespace agw
