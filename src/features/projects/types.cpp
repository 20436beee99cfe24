#include "features/projects/types.hpp"

#include "base/describe.hpp"

namespace agw {

namespace {

constexpr std::string_view about_path = "an absolute path in home";
constexpr std::string_view about_trusted = "whether the project's own skills are loaded";

}  // namespace

BOOST_DESCRIBE_STRUCT(Project, (), (id, name, path, description, trusted, created_at, updated_at))
constexpr auto rules(Tag<Project>) {
  return std::tuple{On<&Project::path>{{.about = "absolute, symlinks resolved"}},
                    On<&Project::trusted>{{.about = about_trusted}}};
}
const Description& describe(Tag<Project>) { return description_of<Project>("Project"); }

BOOST_DESCRIBE_STRUCT(NewProject, (), (name, path, description, trusted))
constexpr auto rules(Tag<NewProject>) {
  return std::tuple{On<&NewProject::name>{{.missing = name_and_path_required}},
                    On<&NewProject::path>{{.about = about_path, .missing = name_and_path_required}},
                    On<&NewProject::trusted>{{.about = about_trusted}}};
}
const Description& describe(Tag<NewProject>) { return description_of<NewProject>("NewProject"); }

BOOST_DESCRIBE_STRUCT(ProjectChange, (), (name, path, description, trusted))
constexpr auto rules(Tag<ProjectChange>) {
  return std::tuple{On<&ProjectChange::path>{{.about = about_path}},
                    On<&ProjectChange::trusted>{{.about = about_trusted}}};
}
const Description& describe(Tag<ProjectChange>) { return description_of<ProjectChange>("ProjectChange"); }

}  // namespace agw
