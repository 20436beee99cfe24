#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/described.hpp"

namespace agw {

/// The error for a missing name or path.
inline constexpr std::string_view name_and_path_required = "name and path are required";

/// A directory in home that agents may work in, for the threads of the project.
struct Project {
  std::string id;
  std::string name;
  std::string path;  ///< absolute, symlinks resolved
  std::optional<std::string> description;
  bool trusted = false;  ///< agents may follow instructions in it: its skills are loaded
  Timestamp created_at;
  Timestamp updated_at;
};
const Description& describe(Tag<Project>);
using ProjectPointer = std::shared_ptr<const Project>;

/// The body of `POST /projects`.
struct NewProject {
  std::string name;
  std::string path;
  std::optional<std::string> description;
  std::optional<bool> trusted;
};
const Description& describe(Tag<NewProject>);

/// The body of `PATCH /projects/:id`.
struct ProjectChange {
  std::optional<std::string> name;
  std::optional<std::string> path;
  std::optional<std::string> description;
  std::optional<bool> trusted;
};
const Description& describe(Tag<ProjectChange>);

}  // namespace agw
