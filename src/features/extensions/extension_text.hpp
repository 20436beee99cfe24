#pragma once

#include <array>
#include <optional>
#include <string>

#include "api/error.hpp"
#include "base/json/yaml.hpp"
#include "features/extensions/types.hpp"

namespace agw {

/// Agents and jobs have a directory of their own, where people can edit the record as a file.
bool is_file_backed(ExtensionType type);
inline constexpr std::array file_backed_types = {ExtensionType::agent, ExtensionType::job};

// Paths, relative to the data directory.

/// `agents`, `jobs`: the parent of the directories of such a type.
std::string directories_of(ExtensionType type);
/// `agents/<name>`.
std::string directory_of(ExtensionType type, std::string_view name);
ExtensionType type_of_directory(std::string_view directory);
/// `agents/<name>/agent.yaml`, `jobs/<name>/job.yaml`.
std::string config_path(std::string_view directory);
/// `jobs/<name>/prompt.md`.
std::string prompt_path(std::string_view directory);
/// `trash/agents-<name>-<tail>`.
std::string path_in_trash(std::string_view path, std::string_view tail);
bool is_in_trash(std::string_view path);

/// The size limit of an extension's file. No request can create a larger one.
inline constexpr std::size_t max_extension_file_length = 64 << 20;

/// The record of a file-backed extension as its files hold it.
struct ExtensionText {
  std::string config;                 ///< flat YAML
  std::optional<std::string> prompt;  ///< of `prompt.md`; no value: there is no such file
  /// Whether `prompt.md` belongs to the record, which then writes and removes it.
  bool owns_prompt = false;
  bool operator==(const ExtensionText&) const = default;
};

/// The text that the gateway writes: `name`, `description`, `enabled`, `trigger` and the members of the definition,
/// except members of these names, which stay in the record only.
ExtensionText text_of(const Extension& extension);

/// Whether `prompt.md` holds the `prompt` of these members, or is absent if they have none. False for agents, and for
/// jobs that only name a prompt file, which may be this one.
bool owns_prompt(ExtensionType type, const json::object& members);

/// The members of such a file, including a job's `prompt`; if the file names a prompt file, only if `record` has a
/// prompt too. Throws YamlError, also if the YAML is not a map.
json::object flat_members(ExtensionType type, std::string_view config, const std::optional<std::string>& prompt,
                          const Extension* record);

/// The result of `flat_members` for the text of `text_of`, without parsing YAML.
json::object flat_members(const Extension& extension);

/// The body of a PATCH that changes `current` to the flat members. Missing `description` and `enabled` stay unchanged;
/// `name` is ignored; a missing `trigger` stays or goes.
enum class MissingTrigger { stays, goes };
json::object change_body(json::object flat, const Extension& current, MissingTrigger missing);

/// An error about such a body in terms of the flat file: `tools` instead of `definition.tools`, `trigger` instead of
/// `trigger_def`.
ApiError in_terms_of_file(const ApiError& error);

/// The body of a POST that creates an extension from the flat members.
json::object new_body(json::object flat, ExtensionType type, std::string_view name);

}  // namespace agw
