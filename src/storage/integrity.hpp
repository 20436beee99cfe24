#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace agw {

/// What is wrong with a gateway's database, for people; nothing where every page and index of it is right and this
/// program knows its schema. Reads the whole file and changes nothing; a gateway may be running on it. Blocks.
std::optional<std::string> database_problem(const std::filesystem::path& file);

}  // namespace agw
