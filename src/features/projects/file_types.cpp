#include "features/projects/file_types.hpp"

#include "base/json/describe.hpp"

namespace agw {

BOOST_DESCRIBE_ENUM(ProjectEntryType, directory, file, symlink, other)
std::span<const EnumName> names(Tag<ProjectEntryType>) { return enum_names<ProjectEntryType>(); }

BOOST_DESCRIBE_STRUCT(ProjectEntry, (), (name, type))
const Description& describe(Tag<ProjectEntry>) { return description_of<ProjectEntry>("ProjectEntry"); }

BOOST_DESCRIBE_STRUCT(ProjectDirectory, (), (path, entries, complete))
constexpr auto rules(Tag<ProjectDirectory>) {
  return std::tuple{RuleFor<&ProjectDirectory::path>{{.about = "relative to the project, symlinks resolved"}},
                    RuleFor<&ProjectDirectory::complete>{{.about = "false if there are more entries"}}};
}
const Description& describe(Tag<ProjectDirectory>) { return description_of<ProjectDirectory>("ProjectDirectory"); }

BOOST_DESCRIBE_STRUCT(ProjectDirectoryQuery, (), (path, limit))
constexpr auto rules(Tag<ProjectDirectoryQuery>) {
  return std::tuple{
      RuleFor<&ProjectDirectoryQuery::path>{{.about = "relative to the project; default: the project itself"}},
      RuleFor<&ProjectDirectoryQuery::limit>{{.about = "the first entries; at most 50000, as many when omitted",
                                              .wrong_type = ProjectDirectoryQuery::wrong_limit}}};
}
const Description& describe(Tag<ProjectDirectoryQuery>) {
  return description_of<ProjectDirectoryQuery>("ProjectDirectoryQuery");
}

BOOST_DESCRIBE_STRUCT(ProjectFile, (), (path, size, modified_at, offset, content, next))
constexpr auto rules(Tag<ProjectFile>) {
  return std::tuple{RuleFor<&ProjectFile::path>{{.about = "relative to the project, symlinks resolved"}},
                    RuleFor<&ProjectFile::size>{{.about = "of the whole file, in bytes"}},
                    RuleFor<&ProjectFile::offset>{{.about = "where the range begins, in bytes"}},
                    RuleFor<&ProjectFile::content>{{.about = "whole characters; null if the range is no text"}},
                    RuleFor<&ProjectFile::next>{{.about = "where the next range begins; null at the end"}}};
}
const Description& describe(Tag<ProjectFile>) { return description_of<ProjectFile>("ProjectFile"); }

BOOST_DESCRIBE_STRUCT(ProjectFileQuery, (), (path, offset, length, raw))
constexpr auto rules(Tag<ProjectFileQuery>) {
  return std::tuple{
      RuleFor<&ProjectFileQuery::path>{{.about = "relative to the project", .missing = "path query param required"}},
      RuleFor<&ProjectFileQuery::offset>{{.about = "where the range begins, in bytes", .has_default = true}},
      RuleFor<&ProjectFileQuery::length>{{.about = "bytes of the range; default 262144, at most 5242880"}},
      RuleFor<&ProjectFileQuery::raw>{{.about = "the bytes themselves instead of JSON", .has_default = true}}};
}
const Description& describe(Tag<ProjectFileQuery>) { return description_of<ProjectFileQuery>("ProjectFileQuery"); }

}  // namespace agw
