#pragma once

#include <string>
#include <vector>

#include "features/extensions/writing.hpp"

namespace agw {

/// The extensions that are shipped: share/extensions/<type>/<name>.yaml, each flat (`description`, `enabled` (true
/// where omitted), `essential`, `trigger`, and the definition's members), as records made at `now`. Throws
/// std::runtime_error, which names the file, for one that does not read.
std::vector<Extension> built_ins(Timestamp now);

/// Identifies the version of the shipped files, without parsing them.
std::string built_ins_content_id();

/// Updates the built-in records of the database to the shipped ones: adds new ones, changes changed ones except for
/// `enabled`, and removes those that are no longer shipped. A deleted one stays deleted; one whose name another record
/// has is not added. `connection` must be in a transaction. Returns the changes, and the disk steps for removed
/// records; files of the others are found missing or old in the next look at the directories.
ExtensionWrites write_built_ins(Connection& connection, const std::vector<Extension>& shipped);

}  // namespace agw
