#include "features/checkpoints/types.hpp"

#include "base/json/describe.hpp"

namespace agw {

BOOST_DESCRIBE_ENUM(FileChangeKind, created, changed, deleted)
std::span<const EnumName> names(Tag<FileChangeKind>) { return enum_names<FileChangeKind>(); }

BOOST_DESCRIBE_STRUCT(FileChange, (), (path, kind, type, diff, is_binary, mode_before, mode_after, undone))
constexpr auto rules(Tag<FileChange>) {
  return std::tuple{
      RuleFor<&FileChange::path>{{.about = "absolute"}},
      RuleFor<&FileChange::type>{{.about = "file, symlink or directory"}},
      RuleFor<&FileChange::diff>{
          {.about = "unified; empty for a binary file, a directory, and what is no longer kept"}},
      RuleFor<&FileChange::mode_before>{{.about = "octal; null if the permission bits did not change"}},
      RuleFor<&FileChange::undone>{{.about = "the change was undone; an undo of the run now makes it again"}}};
}
const Description& describe(Tag<FileChange>) { return description_of<FileChange>("FileChange"); }

BOOST_DESCRIBE_STRUCT(UncoveredChange, (), (path, reason))
const Description& describe(Tag<UncoveredChange>) { return description_of<UncoveredChange>("UncoveredChange"); }

BOOST_DESCRIBE_STRUCT(ContactedHost, (), (host, port, allowed, reason, connections))
constexpr auto rules(Tag<ContactedHost>) {
  return std::tuple{RuleFor<&ContactedHost::reason>{{.about = "why it was refused; else empty"}},
                    RuleFor<&ContactedHost::connections>{{.about = "made or refused"}}};
}
const Description& describe(Tag<ContactedHost>) { return description_of<ContactedHost>("ContactedHost"); }

BOOST_DESCRIBE_STRUCT(RunChanges, (), (run_id, changes, not_covered, hosts))
constexpr auto rules(Tag<RunChanges>) {
  return std::tuple{RuleFor<&RunChanges::not_covered>{{.about = "what no undo brings back, and why"}},
                    RuleFor<&RunChanges::hosts>{{.about = "that commands of the run reached, or were refused"}}};
}
const Description& describe(Tag<RunChanges>) { return description_of<RunChanges>("RunChanges"); }

BOOST_DESCRIBE_STRUCT(UndoFiles, (), (paths, force))
constexpr auto rules(Tag<UndoFiles>) {
  return std::tuple{
      RuleFor<&UndoFiles::paths>{{.about = "absolute, or relative to the run's working directory; all when omitted"}},
      RuleFor<&UndoFiles::force>{{.about = "also files that somebody changed since", .has_default = true}}};
}
const Description& describe(Tag<UndoFiles>) { return description_of<UndoFiles>("UndoFiles"); }

BOOST_DESCRIBE_STRUCT(KeptFile, (), (path, reason))
const Description& describe(Tag<KeptFile>) { return description_of<KeptFile>("KeptFile"); }

BOOST_DESCRIBE_STRUCT(UndoneFiles, (), (restored, kept))
constexpr auto rules(Tag<UndoneFiles>) {
  return std::tuple{RuleFor<&UndoneFiles::kept>{{.about = "left as they are"}}};
}
const Description& describe(Tag<UndoneFiles>) { return description_of<UndoneFiles>("UndoneFiles"); }

BOOST_DESCRIBE_STRUCT(RewindThread, (), (turn_id, files))
constexpr auto rules(Tag<RewindThread>) {
  return std::tuple{
      RuleFor<&RewindThread::turn_id>{{.about = "the last turn of the fork"}},
      RuleFor<&RewindThread::files>{
          {.about = "also undo what later runs changed in files; true when omitted", .has_default = true}}};
}
const Description& describe(Tag<RewindThread>) { return description_of<RewindThread>("RewindThread"); }

BOOST_DESCRIBE_STRUCT(RewoundThread, (Thread), (restored, kept))
constexpr auto rules(Tag<RewoundThread>) { return std::tuple{pinned_rule}; }
const Description& describe(Tag<RewoundThread>) { return description_of<RewoundThread>("RewoundThread"); }

}  // namespace agw
