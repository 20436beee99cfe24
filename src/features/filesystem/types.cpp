#include "features/filesystem/types.hpp"

#include "base/json/describe.hpp"

namespace agw {

BOOST_DESCRIBE_STRUCT(FoundProgram, (), (name, title, path))
constexpr auto rules(Tag<FoundProgram>) {
  return std::tuple{RuleFor<&FoundProgram::name>{{.about = "as the argument of `agw import`"}},
                    RuleFor<&FoundProgram::path>{{.about = "of its directory, absolute"}}};
}
const Description& describe(Tag<FoundProgram>) { return description_of<FoundProgram>("FoundProgram"); }

BOOST_DESCRIBE_STRUCT(FileEntry, (), (name, path, isDirectory))
const Description& describe(Tag<FileEntry>) { return description_of<FileEntry>("FileEntry"); }

BOOST_DESCRIBE_STRUCT(ListQuery, (), (path))
constexpr auto rules(Tag<ListQuery>) {
  return std::tuple{RuleFor<&ListQuery::path>{{.about = "an absolute path; home when omitted"}}};
}
const Description& describe(Tag<ListQuery>) { return description_of<ListQuery>("ListQuery"); }

BOOST_DESCRIBE_STRUCT(DirectoryListing, (), (path, entries))
const Description& describe(Tag<DirectoryListing>) { return description_of<DirectoryListing>("DirectoryListing"); }

BOOST_DESCRIBE_STRUCT(NameQuery, (), (q, path))
constexpr auto rules(Tag<NameQuery>) {
  return std::tuple{RuleFor<&NameQuery::q>{
                        {.about = "part of a name, at least 2 characters, in either case", .missing = query_too_short}},
                    RuleFor<&NameQuery::path>{{.about = "where to search; home when omitted"}}};
}
const Description& describe(Tag<NameQuery>) { return description_of<NameQuery>("NameQuery"); }

BOOST_DESCRIBE_STRUCT(NamesFound, (), (query, root, results))
const Description& describe(Tag<NamesFound>) { return description_of<NamesFound>("NamesFound"); }

}  // namespace agw
