#include "features/projects/types.hpp"

#include "base/json/describe.hpp"

namespace agw {

namespace {

constexpr std::string_view about_path = "an absolute path in home";
constexpr std::string_view about_trusted = "whether agents follow its instructions and skills, until those change";

}  // namespace

BOOST_DESCRIBE_STRUCT(Project, (), (id, name, path, description, trusted, created_at, updated_at))
constexpr auto rules(Tag<Project>) {
  return std::tuple{RuleFor<&Project::path>{{.about = "absolute, symlinks resolved"}},
                    RuleFor<&Project::trusted>{{.about = about_trusted}}};
}
const Description& describe(Tag<Project>) { return description_of<Project>("Project"); }

BOOST_DESCRIBE_STRUCT(NewProject, (), (name, path, description, trusted))
constexpr auto rules(Tag<NewProject>) {
  return std::tuple{RuleFor<&NewProject::name>{{.missing = name_and_path_required}},
                    RuleFor<&NewProject::path>{{.about = about_path, .missing = name_and_path_required}},
                    RuleFor<&NewProject::trusted>{{.about = about_trusted}}};
}
const Description& describe(Tag<NewProject>) { return description_of<NewProject>("NewProject"); }

BOOST_DESCRIBE_STRUCT(ProjectChange, (), (name, path, description, trusted))
constexpr auto rules(Tag<ProjectChange>) {
  return std::tuple{RuleFor<&ProjectChange::path>{{.about = about_path}},
                    RuleFor<&ProjectChange::trusted>{{.about = about_trusted}}};
}
const Description& describe(Tag<ProjectChange>) { return description_of<ProjectChange>("ProjectChange"); }

}  // namespace agw
