#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/task.hpp"
#include "features/filesystem/service.hpp"
#include "features/projects/trusted_files.hpp"
#include "features/projects/types.hpp"
#include "storage/in_transaction.hpp"

namespace agw {

struct Route;
class Connection;
class Database;

/// The projects. Reads come from memory; a change is on disk and in memory before its caller resumes. The contents of a
/// project's directory are never changed.
/// Example: src/features/projects/service_test.cpp: ProjectsTest.MemoryFollowsWhatIsWritten
class Projects {
public:
  /// `data_directory` must be resolved: no project may be in it or contain it.
  Projects(Database& database, Filesystem& filesystem, const Clock& clock, std::filesystem::path data_directory);

  /// Reads all projects. Call it before the loop runs.
  void load(Connection& connection);
  /// Reads the projects again, because another node may have changed them.
  Task<> refresh();

  /// Returns null if there is none.
  ProjectPointer find(std::string_view id) const;
  /// Throws NotFound `project not found`.
  ProjectPointer require(std::string_view id) const;
  /// Returns the current project, after comparing the files that trust covers (see TrustedFiles) with those that the
  /// person trusted. If they have changed, the project is no longer trusted. Returns null if there is no such project.
  Task<ProjectPointer> verified(std::string id);
  /// Sets a function to call on the loop when a project is no longer trusted, with the diff of its files.
  void on_untrusted(std::function<void(const Project&, std::string diff)> handler) {
    on_untrusted_ = std::move(handler);
  }

  /// Newest first.
  const std::vector<ProjectPointer>& list() const { return projects_; }

  /// Throws BadRequest `name and path are required`, and for a bad path as Filesystem::require_directory; home itself
  /// and directories that are in the data directory or contain it count as outside of home. Throws BadRequest `project
  /// cannot be trusted: …` if trust would not cover all of its files.
  Task<ProjectPointer> create(NewProject wanted, InTransaction<Project> in_transaction = {});
  /// Throws like `create`, and NotFound. A change that sets nothing keeps `updated_at`.
  Task<ProjectPointer> change(std::string id, ProjectChange change);
  /// Throws NotFound.
  Task<> remove(std::string id);

private:
  Task<TrustedFiles> files_of(std::string path);
  Task<TrustedFiles> require_trustable(std::string path);
  Task<ProjectPointer> distrust(ProjectPointer project);
  ProjectPointer put(const Project& project);
  Task<std::string> resolved(std::string path);
  std::vector<ProjectPointer>::const_iterator place_of(std::string_view id) const;

  Database& database_;
  Filesystem& filesystem_;
  const Clock& clock_;
  AllowedPlace allowed_;
  std::function<void(const Project&, std::string)> on_untrusted_ = [](const Project&, const std::string&) {};
  std::vector<ProjectPointer> projects_;
};

/// `/projects`.
std::vector<Route> project_routes(Projects& projects);

}  // namespace agw
