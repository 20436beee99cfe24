#pragma once

#include <string>
#include <vector>

#include "features/extensions/writing.hpp"

namespace agw {

/// The extensions that are shipped: share/extensions/<type>/<name>.yaml, each flat (`description`, `enabled` (true
/// where omitted), `essential`, `trigger`, and the definition's members), as records made at `now`. Throws
/// std::runtime_error, which names the file, for one that does not read.
std::vector<Extension> built_ins(Timestamp now);

/// Tells the shipped files of one version from those of another, without reading them as YAML.
std::string built_ins_content_id();

/// Makes the built-in records of the database the shipped ones: new ones come in, changed ones change but for
/// `enabled`, those that are shipped no more go. One that somebody deleted stays deleted, and one whose name a record
/// of somebody else has stays out. `connection` is in a transaction. Answers what has changed, and what the disk has to
/// do for those that went; the files of others show to be missing or old when the directories are looked at.
ExtensionWrites write_built_ins(Connection& connection, const std::vector<Extension>& shipped);

}  // namespace agw
