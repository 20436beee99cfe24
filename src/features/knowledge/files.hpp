#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "features/knowledge/page_text.hpp"
#include "io/files/directory.hpp"

namespace agw {

// The layout of knowledge files. All paths are relative to the data directory:
//
//     knowledge/raw/**                     the sources of the shared pages
//     knowledge/wiki/**.md                 the shared pages
//     knowledge/log.md                     the log
//     agents/<name>/knowledge/raw/**       the sources of an agent's pages; also text files next to them
//     agents/<name>/knowledge/**.md        an agent's pages; compiled ones are in wiki/
//
// Symlinks are not followed, and names that begin with a dot are ignored.

/// Larger files are neither pages nor sources.
inline constexpr std::size_t max_knowledge_file_size = 4 * 1024 * 1024;

/// A file found by a walk.
struct FoundKnowledgeFile {
  std::string path;
  FileStamp stamp;
};

/// The scope that a file belongs to by its path: `shared` or `agent:<name>`; empty for a path outside of knowledge.
std::string scope_of_path(std::string_view path);
/// The directory of a scope: `knowledge` or `agents/<name>/knowledge`.
std::string directory_of_scope(std::string_view scope);
/// Whether a file at that path is a page (`is_page_path`) or a source.
bool is_page_path(std::string_view path);
bool is_source_path(std::string_view path);
/// The path of the compiled page of that slug in a scope.
std::string compiled_page_path(std::string_view scope, std::string_view slug);
/// The name of a file without its directory and extension.
std::string_view stem_of_path(std::string_view path);

/// The kind of files that a walk collects.
enum class KnowledgeFiles { pages, sources };

/// The tree of knowledge files. All functions block.
class KnowledgeTree {
public:
  /// Creates missing directories. Throws std::system_error.
  explicit KnowledgeTree(const std::filesystem::path& data_directory);

  /// All files of one kind, sorted by path. Calls `enter` with each directory before it is listed. Unreadable
  /// directories are skipped and logged.
  std::vector<FoundKnowledgeFile> walk(KnowledgeFiles kind, const std::function<void(const std::string&)>& enter) const;

  const Directory& directory() const { return directory_; }

private:
  struct Walk;
  void walk_beneath(const Directory& directory, const std::string& path, int depth, Walk& walk) const;

  Directory directory_;
};

/// A name in kebab-case: `Deploy Notes (v2)` and `DeployNotes_v2` become `deploy-notes-v2`. Non-ASCII letters are kept.
/// At most 100 bytes; never empty; never leads out of a directory.
std::string slug_of(std::string_view name);

}  // namespace agw
