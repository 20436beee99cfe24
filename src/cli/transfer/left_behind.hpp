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

// Reports the data of another program that an import does not take, including data that is unknown here.

/// Something in a program's directory or export.
struct KnownEntry {
  std::string_view name;   ///< one that ends with `*` stands for all that begin so
  std::string_view why{};  ///< it is not taken; empty: it is read, or reported elsewhere
};

inline constexpr std::string_view is_state = "is that program's own state";
inline constexpr std::string_view has_logins = "has logins: they are never read";

/// Reports what is in the folder, unless `known` says that it is read.
void leave_entries(Importer& importer, const std::filesystem::path& folder, std::span<const KnownEntry> known);
/// The same for one file of an export.
void leave_entry(Importer& importer, const std::string& path, std::span<const KnownEntry> known);

/// Counts the files in a folder and below it that have another extension than those that are read.
void leave_other_files(Importer& importer, const std::filesystem::path& folder, std::string_view extension);

/// Reports the members of settings but `taken`, all at once: they are many.
void leave_settings(Importer& importer, const std::string& what, const json::object& settings,
                    std::initializer_list<std::string_view> taken);

/// Counts the parts of a message that are unknown here.
void leave_parts(Importer& importer, const SourceMessage& message);

}  // namespace agw::cli
