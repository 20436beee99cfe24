#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/async/task.hpp"
#include "features/projects/file_types.hpp"

namespace agw {

struct Route;
class Filesystem;
class Projects;

/// The files of projects that people can view, which are those that agents may read there. Private files
/// (io/sandbox/private_files) are treated as missing, under any name. Nothing outside of a project is revealed,
/// wherever its symlinks lead.
///
/// Functions throw NotFound `project not found`, BadRequest `path traversal not allowed`, Forbidden `permission
/// denied`.
/// Example: src/features/projects/files_test.cpp: ProjectFilesTest.ListsADirectoryWithDirectoriesFirst
class ProjectFiles {
public:
  /// `data_directory` must be resolved.
  ProjectFiles(Projects& projects, Filesystem& filesystem, std::filesystem::path data_directory)
      : projects_(projects), filesystem_(filesystem), data_directory_(std::move(data_directory)) {}

  /// Throws NotFound `project not found`.
  void require(const std::string& id) const;

  // Results can have megabytes, so they are serialised to JSON off the loop.

  /// Returns a ProjectDirectory of at most 50,000 entries, without `.git`. Throws NotFound `path not found`, BadRequest
  /// `path is not a directory`.
  Task<std::string> list_json(std::string id, ProjectDirectoryQuery query) const;

  /// Returns a ProjectFile: a range that begins and ends between characters. It may therefore begin up to three bytes
  /// after `offset`, and have three bytes more than `length`. Throws NotFound `file not found`, and BadRequest `offset
  /// must not be negative` or `length must be a positive integer`.
  Task<std::string> read_json(std::string id, ProjectFileQuery query) const;
  /// Returns exactly the bytes of that range, limited by the end of the file. Throws like `read_json`.
  Task<std::string> read_bytes(std::string id, ProjectFileQuery query) const;

private:
  Projects& projects_;
  Filesystem& filesystem_;
  std::filesystem::path data_directory_;
};

/// `/projects/:id/files` and `/projects/:id/file`.
std::vector<Route> project_file_routes(ProjectFiles& files);

}  // namespace agw
