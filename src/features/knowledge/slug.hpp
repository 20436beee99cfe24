#pragma once

#include <string>
#include <string_view>

namespace agw {

/// A name in kebab-case: `Deploy Notes (v2)` and `DeployNotes_v2` become `deploy-notes-v2`. Non-ASCII letters are kept.
/// At most 100 bytes; never empty; never leads out of a directory.
std::string slug_of(std::string_view name);

}  // namespace agw
