#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/json.hpp"
#include "base/time/time.hpp"
#include "cli/transfer/importer.hpp"

namespace agw::cli {

/// The maximum size of a piece of another program's data that is read at once: one conversation, one line, one row.
inline constexpr std::size_t max_piece_bytes = 24 * 1024 * 1024;

/// Seconds since the epoch, as Python writes them, or an ISO 8601 text. Nullopt for an absent member; `no_time` for an
/// invalid time or one outside of the years 1 to 9999.
std::optional<Timestamp> time_in(const json::object& object, std::string_view name);
/// Milliseconds since the epoch.
std::optional<Timestamp> time_in_ms(const json::object& object, std::string_view name);

/// Parses JSON of another program. Reports replaced characters of `what`, see parse_source_json.
std::optional<json::value> source_json(Importer& importer, std::string_view text, const std::string& what);

/// The text between two tags; empty if one of them is missing.
std::string_view between(std::string_view text, std::string_view begin, std::string_view end);

/// The input of a call in OpenAI's formats: an object, or a text that contains one.
json::object call_input(const json::object& call);

/// Calls `each` for the objects in the files of an export whose paths `is_wanted` accepts: the elements of an array, or
/// one object. Unreadable data is left out and reported with its place; `kind` names one object for people. Returns
/// whether there is such a file.
bool for_each_record(Importer& importer, const std::filesystem::path& path, std::string_view kind,
                     const std::function<bool(const std::filesystem::path& file)>& is_wanted,
                     const std::function<void(json::object record)>& each);

/// Whether a file of the export at `path` contains conversations: its name begins with `conversations` and ends in
/// `.json`, or `path` names the file itself.
bool has_conversations(const std::filesystem::path& file, const std::filesystem::path& path);

/// Calls `each` for the conversations in all such files of an export archive. Unreadable data is left out and reported
/// with its place. Throws std::runtime_error if there is no such file.
void for_each_conversation(Importer& importer, const std::filesystem::path& path,
                           const std::function<void(json::object conversation)>& each);

/// Calls `each` for the objects of a JSON Lines file, until it returns false. Unreadable data is left out.
void for_each_line(Importer& importer, const std::filesystem::path& path,
                   const std::function<bool(json::object line)>& each);

/// Creates a disabled job of `agent` from another program's `{id, name, schedule, …}`.
void import_job(Importer& importer, const json::object& job, const std::string& agent);

/// Creates disabled jobs of `agent` from another program's file `{jobs: [{id, name, schedule, …}]}`. The prompt is
/// `prompt`, or a member of `payload`; `schedule` is `{kind, …}`: `cron` with `expr`, `every` with `everyMs`,
/// `interval` with `minutes`, or a single time. Schedules without an equivalent cron expression are left out.
void import_jobs(Importer& importer, const std::filesystem::path& file, const std::string& agent);

}  // namespace agw::cli
