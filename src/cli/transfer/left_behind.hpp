#pragma once

#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "base/json/json.hpp"
#include "cli/transfer/conversation.hpp"
#include "cli/transfer/importer.hpp"

namespace agw::cli {

// Reports data of another program that an import does not take, including data of unknown kinds.

/// An entry in a program's directory or export.
struct KnownEntry {
  std::string_view name;   ///< a name that ends with `*` means all names with that prefix
  std::string_view why{};  ///< why it is not imported; empty if it is read, or reported elsewhere
};

inline constexpr std::string_view is_state = "is that program's own state";
inline constexpr std::string_view has_logins = "has logins: they are never read";

/// Throws std::runtime_error if the folder is not there or has nothing that is read according to `known`: it may be the
/// wrong folder. `program`: its name in the error.
void require_contents(const std::filesystem::path& folder, std::span<const KnownEntry> known, std::string_view program);

/// Reports the entries of the folder, except those that are read according to `known`.
void leave_entries(Importer& importer, const std::filesystem::path& folder, std::span<const KnownEntry> known);
/// The same for one file of an export.
void leave_entry(Importer& importer, const std::string& path, std::span<const KnownEntry> known);

/// Counts the files in a folder and below it with an extension other than the one read.
void leave_other_files(Importer& importer, const std::filesystem::path& folder, std::string_view extension);

/// Reports all members of the settings except `taken`, together, because there are many.
void leave_settings(Importer& importer, const std::string& what, const json::object& settings,
                    std::initializer_list<std::string_view> taken);

/// Counts the parts of a message with unknown kinds.
void leave_parts(Importer& importer, const SourceMessage& message);

}  // namespace agw::cli
