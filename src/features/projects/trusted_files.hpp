#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace agw {

/// A file with instructions for agents in a trusted project.
struct TrustedFile {
  std::string digest;               ///< of its content, in hex
  std::optional<std::string> text;  ///< null if the file is large or not text
  bool operator==(const TrustedFile&) const = default;
};

/// The files that trust in a project covers: everything below its `.agents/`, with skills and hooks, and the AGENTS.md
/// that applies to it.
struct TrustedFiles {
  std::map<std::string, TrustedFile> files;  ///< by path
  /// Why some files are missing, as the end of a sentence that begins with the directory; empty if none are. Files
  /// beyond the limits could change unnoticed, so such a project cannot be trusted.
  std::string problem{};
  std::string digest() const;  ///< of all paths and contents
};

/// Reads the current files. Does not follow symlinks out of the project. Blocks.
TrustedFiles read_trusted_files(const std::filesystem::path& project, const std::filesystem::path& home);

/// Returns the directory whose AGENTS.md applies to `project`: the project itself, or one above it, up to the top of
/// the repository or home. `has_instructions` returns whether a directory has one.
template <class HasInstructions>
std::optional<std::filesystem::path> directory_of_instructions(const std::filesystem::path& project,
                                                               const std::filesystem::path& home,
                                                               HasInstructions has_instructions) {
  for (auto directory = project; directory.has_relative_path() && directory != home;
       directory = directory.parent_path()) {
    if (has_instructions(directory)) return directory;
    std::error_code ignored;
    if (std::filesystem::exists(directory / ".git", ignored)) break;
  }
  return std::nullopt;
}

/// Returns the changes as unified diffs, shortened to about 16 KiB.
std::string diff_of(const TrustedFiles& before, const TrustedFiles& after);

}  // namespace agw
