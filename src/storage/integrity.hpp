#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace agw {

/// Checks a gateway's database: returns the problem, for people, or nullopt if every page and index is intact and this
/// program knows the schema. Reads the whole file and changes nothing; a gateway may be using it. Blocks.
std::optional<std::string> database_problem(const std::filesystem::path& file);

/// The same in less time, and gently: neither compares indexes with their tables nor looks at the schema, reads one
/// table after the other, and rests four times as long as each took, so that a gateway and others have the disk.
std::optional<std::string> quick_database_problem(const std::filesystem::path& file);

}  // namespace agw
