#pragma once

#include <array>
#include <optional>
#include <string>

#include "api/error.hpp"
#include "base/json/yaml.hpp"
#include "features/extensions/types.hpp"

namespace agw {

/// Agents and jobs have a directory of their own, with their record as a file for people in it.
bool is_file_backed(ExtensionType type);
inline constexpr std::array file_backed_types = {ExtensionType::agent, ExtensionType::job};

// Paths, relative to the data directory.

/// `agents`, `jobs`: where the directories of such a type are.
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

/// A file with more bytes than this is no text of an extension: no request can make one.
inline constexpr std::size_t max_extension_file_length = 64 << 20;

/// The record of a file-backed extension as its directory holds it.
struct ExtensionText {
  std::string config;                 ///< flat YAML
  std::optional<std::string> prompt;  ///< of `prompt.md`; nothing: there is no such file
  /// Whether `prompt.md` is the record's, to be written and, where it was, taken away.
  bool owns_prompt = false;
  bool operator==(const ExtensionText&) const = default;
};

/// What the gateway writes: `name`, `description`, `enabled`, `trigger` and the definition's members, but for those
/// that have one of these names, which stay in the record only.
ExtensionText string_or_empty(const Extension& extension);

/// Whether `prompt.md` holds the `prompt` that these members have or have not: not so of agents, nor of jobs that only
/// name a prompt file, which may be that one.
bool owns_prompt(ExtensionType type, const json::object& members);

/// The members that such a file has, a job's `prompt` among them: where the file names another, only that of a
/// `record` that has one as well. Throws YamlError, also for what is no map.
json::object flat_members(ExtensionType type, std::string_view config, const std::optional<std::string>& prompt,
                          const Extension* record);

/// The members that `flat_members` reads from `string_or_empty`, without the way through YAML.
json::object flat_members(const Extension& extension);

/// The body of a PATCH that makes `current` what the flat members say. `description` and `enabled` may be missing and
/// stay; `name` is ignored; a `trigger` that is missing stays or goes.
enum class MissingTrigger { stays, goes };
json::object change_body(json::object flat, const Extension& current, MissingTrigger missing);

/// An error about such a body, told in the members of the flat file: `tools` instead of `definition.tools`, `trigger`
/// instead of `trigger_def`.
ApiError in_terms_of_file(const ApiError& error);

/// The body of a POST that makes a new extension of them.
json::object new_body(json::object flat, ExtensionType type, std::string_view name);

}  // namespace agw
