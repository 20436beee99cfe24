#pragma once

#include <string>
#include <vector>

#include "features/extensions/writing.hpp"

namespace agw {

/// The shipped extensions: share/extensions/<type>/<name>.yaml, each flat (`description`, `enabled` (default: true),
/// `essential`, `trigger`, and the definition's members), as records created at `now`. Throws std::runtime_error, which
/// names the file, if one is invalid.
std::vector<Extension> built_ins(Timestamp now);

/// Identifies the version of the shipped files, without parsing them.
std::string built_ins_content_id();

/// Updates the built-in records of the database to the shipped ones: adds new ones, updates changed ones except for
/// `enabled`, and removes those that are no longer shipped. Deleted ones stay deleted; one whose name is taken by
/// another record is not added. `connection` must be in a transaction. Returns the changes, and the disk steps for
/// removed records; the next comparison of the directories finds missing and outdated files of the others.
ExtensionWrites write_built_ins(Connection& connection, const std::vector<Extension>& shipped);

}  // namespace agw
