#pragma once

#include <array>
#include <optional>
#include <string>

#include "api/error.hpp"
#include "base/json/yaml.hpp"
#include "features/extensions/types.hpp"

namespace agw {

/// Whether records of this type have a directory, where people can edit the record as a file.
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
  std::optional<std::string> prompt;  ///< the content of `prompt.md`; no value if there is no such file
  /// Whether `prompt.md` belongs to the record: the gateway then writes and removes it.
  bool owns_prompt = false;
  bool operator==(const ExtensionText&) const = default;
};

/// The text that the gateway writes: `name`, `description`, `enabled`, `trigger` and the members of the definition,
/// except members of these names, which stay in the record only.
ExtensionText text_of(const Extension& extension);

/// Whether `prompt.md` holds the `prompt` of these members, or is absent if they have none. False for agents, and for
/// jobs that only name a prompt file, even if that is `prompt.md`.
bool owns_prompt(ExtensionType type, const json::object& members);

/// The members of the config file, and a job's `prompt` from `prompt.md`. If the config names a prompt file, `prompt`
/// is included only if `record` has a prompt too. Throws YamlError, also if the YAML is not a map.
json::object flat_members(ExtensionType type, std::string_view config, const std::optional<std::string>& prompt,
                          const Extension* record);

/// The result of `flat_members` for the text of `text_of`, without parsing YAML.
json::object flat_members(const Extension& extension);

/// The body of a PATCH that changes `current` to the flat members. If `description` or `enabled` is missing, it stays
/// unchanged; `name` is ignored; a missing `trigger` is kept or removed, as `missing` states.
enum class MissingTrigger { stays, goes };
json::object change_body(json::object flat, const Extension& current, MissingTrigger missing);

/// Translates an error about such a body into the terms of the flat file: `tools` instead of `definition.tools`,
/// `trigger` instead of `trigger_def`.
ApiError in_terms_of_file(const ApiError& error);

/// The body of a POST that creates an extension from the flat members.
json::object new_body(json::object flat, ExtensionType type, std::string_view name);

}  // namespace agw
