#include "features/projects/service.hpp"

#include <algorithm>
#include <tuple>

#include "api/error.hpp"
#include "api/refusals.hpp"
#include "base/async/assert.hpp"
#include "base/id.hpp"
#include "base/text/is_within.hpp"
#include "features/projects/store.hpp"
#include "storage/database.hpp"

namespace agw {

namespace {

void require_some(const std::string& text) {
  if (text.empty()) throw BadRequest(std::string(name_and_path_required));
}

bool changes_nothing(const ProjectChange& change) {
  return !change.name && !change.path && !change.description && !change.trusted;
}

auto content_of(const Project& project) {
  return std::tie(project.name, project.path, project.description, project.trusted);
}

/// Returns the project unchanged if the change sets only the current values.
Project changed(const Project& stored, const ProjectChange& change, Timestamp now) {
  auto project = stored;
  if (change.name) project.name = *change.name;
  if (change.path) project.path = *change.path;
  if (change.description) project.description = *change.description;
  if (change.trusted) project.trusted = *change.trusted;
  if (content_of(project) != content_of(stored)) project.updated_at = now;
  return project;
}

}  // namespace

Projects::Projects(Database& database, Filesystem& filesystem, const Clock& clock, std::filesystem::path data_directory)
    : database_(database),
      filesystem_(filesystem),
      clock_(clock),
      // A project must not contain the data directory, which has the token and every agent's files.
      allowed_([data = std::move(data_directory), home = filesystem.home()](const std::filesystem::path& path) {
        return path != home && !is_within(path, data) && !is_within(data, path);
      }) {}

void Projects::load(Connection& connection) {
  AGW_ASSERT(projects_.empty());
  for (auto& project : project_store::all(connection)) {
    projects_.insert(projects_.begin(), std::make_shared<const Project>(std::move(project)));
  }
}

Task<> Projects::refresh() {
  const auto all = co_await database_.write(project_store::all);
  projects_.clear();
  for (auto project = all.rbegin(); project != all.rend(); ++project) {
    projects_.push_back(std::make_shared<const Project>(*project));
  }
}

std::vector<ProjectPointer>::const_iterator Projects::place_of(std::string_view id) const {
  return std::ranges::find(projects_, id, [](const auto& project) -> const std::string& { return project->id; });
}

ProjectPointer Projects::find(std::string_view id) const {
  const auto place = place_of(id);
  return place == projects_.end() ? nullptr : *place;
}

ProjectPointer Projects::require(std::string_view id) const {
  if (auto found = find(id)) return found;
  throw project_not_found();
}

Task<std::string> Projects::resolved(std::string path) {
  co_return (co_await filesystem_.require_directory(std::move(path), allowed_)).string();
}

Task<TrustedFiles> Projects::files_of(std::string path) {
  co_return co_await filesystem_.blocking().run(
      [path, home = filesystem_.home()] { return read_trusted_files(path, home); });
}

/// Throws BadRequest if trust would not cover all files.
Task<TrustedFiles> Projects::require_trustable(std::string path) {
  auto files = co_await files_of(std::move(path));
  if (!files.problem.empty()) throw BadRequest("project cannot be trusted: " + files.problem);
  co_return files;
}

Task<ProjectPointer> Projects::verified(std::string id) {
  const auto project = find(id);
  if (!project || !project->trusted) co_return project;
  const auto now = co_await files_of(project->path);
  const auto before =
      co_await database_.read([id](Connection& connection) { return trust_store::find(connection, id); });
  if (!before && now.problem.empty()) {
    // It was trusted by a version that did not store the trusted files.
    co_await database_.write([id, now](Connection& connection) { trust_store::put(connection, id, now); });
    co_return find(id);
  }
  if (before && now.problem.empty() && before->digest() == now.digest()) co_return find(id);
  const auto untrusted = co_await distrust(project);
  if (!untrusted) co_return find(id);
  AGW_ASSERT(before || !now.problem.empty());
  on_untrusted_(*untrusted, now.problem.empty() ? diff_of(*before, now) : now.problem);
  co_return untrusted;
}

/// Returns null if the project was changed or deleted meanwhile: of several requests that detect the same change of its
/// files, one ends the trust.
Task<ProjectPointer> Projects::distrust(ProjectPointer project) {
  AGW_ASSERT(project->trusted);
  const auto untrusted =
      co_await database_.write([project, now = clock_.now()](Connection& connection) -> std::optional<Project> {
        const auto stored = project_store::find(connection, project->id);
        if (!stored || !stored->trusted || stored->updated_at != project->updated_at) return std::nullopt;
        auto distrusted = changed(*stored, {.trusted = false}, now);
        project_store::update(connection, distrusted);
        return distrusted;
      });
  co_return untrusted ? put(*untrusted) : nullptr;
}

/// The project is in the list: results of commits reach the loop in order, so its insertion has arrived and no removal
/// has.
ProjectPointer Projects::put(const Project& project) {
  AGW_CHECK(find(project.id), "a project that was changed is missing: " + project.id);
  const auto place = projects_.begin() + (place_of(project.id) - projects_.cbegin());
  return *place = std::make_shared<const Project>(project);
}

Task<ProjectPointer> Projects::create(NewProject wanted, InTransaction<Project> in_transaction) {
  require_some(wanted.name);
  require_some(wanted.path);
  const auto now = clock_.now();
  const Project made{.id = new_id(),
                     .name = std::move(wanted.name),
                     .path = co_await resolved(std::move(wanted.path)),
                     .description = std::move(wanted.description),
                     .trusted = wanted.trusted.value_or(false),
                     .created_at = now,
                     .updated_at = now};
  std::optional<TrustedFiles> files;
  if (made.trusted) files = co_await require_trustable(made.path);
  co_await database_.write([made, files, in_transaction](Connection& connection) {
    project_store::insert(connection, made);
    if (files) trust_store::put(connection, made.id, *files);
    if (in_transaction) in_transaction(connection, made);
  });
  if (auto refreshed = find(made.id)) co_return refreshed;
  projects_.insert(projects_.begin(), std::make_shared<const Project>(made));
  co_return projects_.front();
}

Task<ProjectPointer> Projects::change(std::string id, ProjectChange change) {
  auto current = require(id);
  if (changes_nothing(change)) co_return current;
  if (change.name) require_some(*change.name);
  if (change.path) {
    require_some(*change.path);
    change.path = co_await resolved(*change.path);
  }
  std::optional<TrustedFiles> files;
  if (change.trusted.value_or(false)) files = co_await require_trustable(change.path ? *change.path : current->path);
  const auto project = co_await database_.write([id, change, files, now = clock_.now()](Connection& connection) {
    auto stored = project_store::find(connection, id);
    if (!stored) throw project_not_found();
    auto project = changed(*stored, change, now);
    project_store::update(connection, project);
    if (files) trust_store::put(connection, id, *files);
    return project;
  });
  co_return put(project);
}

Task<> Projects::remove(std::string id) {
  co_await database_.write([id](Connection& connection) {
    if (!project_store::remove(connection, id)) throw project_not_found();
  });
  AGW_CHECK(find(id), "a project that was removed is missing: " + id);
  projects_.erase(place_of(id));
}

}  // namespace agw
