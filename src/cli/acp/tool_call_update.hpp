#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/json/json.hpp"

namespace agw::cli {

/// The kind of the tool, from which editors choose an icon: `read`, `edit`, `search`, `execute`, `fetch`, `think`,
/// `other`.
std::string_view tool_kind(std::string_view tool);

/// The members of a `tool_call` derived from the tool's name and input: `title`, `name`, `kind`, `locations`,
/// `rawInput` and, for `Write` and `Edit`, `content` with the diff. Relative paths start from `directory`. `current` is
/// the content of the file before a `Write`, if it is known and different; nullptr for a new file.
json::object tool_call_members(const std::string& tool, const json::object& input,
                               const std::filesystem::path& directory, const std::string* current = nullptr);

/// The same for a call that comes next: the diff of a `Write` begins from what the file contains now.
json::object next_call_members(const std::string& tool, const json::object& input,
                               const std::filesystem::path& directory);

/// The absolute path of the file that a call concerns; empty if there is none.
std::filesystem::path file_of_call(const json::object& input, const std::filesystem::path& directory);

/// The members of a `tool_call_update` for the end of a call: `status`, `content` and `rawOutput`. With
/// `omits_content`, the call shows a diff that the result of a success must not replace.
json::object tool_result_members(const std::string& output, bool is_error, bool omits_content);

/// A text as a content block.
json::object text_block(std::string_view text);
/// A text as the content of a tool call.
json::object text_content(std::string_view text);

}  // namespace agw::cli
