#include "features/proposals/types.hpp"

#include <algorithm>
#include <array>

#include "base/json/describe.hpp"
#include "base/text/ascii.hpp"

namespace agw {

bool is_proposal_segment(std::string_view segment) {
  return !segment.empty() && is_alphanumeric(segment.front()) &&
         std::ranges::all_of(segment, [](char c) { return is_alphanumeric(c) || c == '_' || c == '-'; });
}

std::string ProposalAddress::text() const { return agent + "/" + date + (name ? "/" + *name : ""); }

std::optional<ProposalAddress> read_proposal_address(std::string_view text) {
  std::array<std::string, 3> parts;
  std::size_t count = 0;
  for (std::size_t begin = 0; begin <= text.size(); ++count) {
    const auto end = std::min(text.find('/', begin), text.size());
    const auto part = text.substr(begin, end - begin);
    if (count == parts.size() || !is_proposal_segment(part)) return std::nullopt;
    parts[count] = part;
    begin = end + 1;
  }
  if (count < 2) return std::nullopt;
  return ProposalAddress{parts[0], parts[1], count == 3 ? std::optional(parts[2]) : std::nullopt};
}

BOOST_DESCRIBE_ENUM(ProposalType, soul, extension, file, knowledge)
std::span<const EnumName> names(Tag<ProposalType>) { return enum_names<ProposalType>(); }

BOOST_DESCRIBE_ENUM(ProposalStatus, pending, applied, rejected)
std::span<const EnumName> names(Tag<ProposalStatus>) { return enum_names<ProposalStatus>(); }

BOOST_DESCRIBE_STRUCT(ProposalEntry, (), (agent, date, name, title, type, target, created_at))
constexpr auto rules(Tag<ProposalEntry>) {
  return std::tuple{RuleFor<&ProposalEntry::name>{{.about = "of a nested one"}},
                    RuleFor<&ProposalEntry::target>{{.about = "the file that it changes"}}};
}
const Description& describe(Tag<ProposalEntry>) { return description_of<ProposalEntry>("ProposalEntry"); }

BOOST_DESCRIBE_STRUCT(Proposal, (),
                      (agent, date, name, title, type, status, target, reason, content, current_content, target_changed,
                       diff, created_at))
constexpr auto rules(Tag<Proposal>) {
  return std::tuple{
      RuleFor<&Proposal::name>{{.about = "of a nested one"}},
      RuleFor<&Proposal::target>{{.about = "the file that it changes, absolute or relative to the data directory"}},
      RuleFor<&Proposal::content>{{.about = "what the target is to become; null only in events, where it is long"}},
      RuleFor<&Proposal::current_content>{{.about = "null where there is no target yet, or none that can be shown"}},
      RuleFor<&Proposal::target_changed>{{.about = "the target is not any more what the proposal was made from"}},
      RuleFor<&Proposal::diff>{{.about = "unified, from the current content"}}};
}
const Description& describe(Tag<Proposal>) { return description_of<Proposal>("Proposal"); }

BOOST_DESCRIBE_STRUCT(NewProposal, (), (agent, type, title, target, content, reason))
constexpr auto rules(Tag<NewProposal>) {
  return std::tuple{
      RuleFor<&NewProposal::agent>{{.about = "who proposes it, from which the first segment of its address is made"}},
      RuleFor<&NewProposal::type>{{.about = "soul, extension, file or knowledge"}},
      RuleFor<&NewProposal::title>{{.about = "one line that says what changes"}},
      RuleFor<&NewProposal::target>{{.about = "the file, absolute or relative to the data directory"}},
      RuleFor<&NewProposal::content>{{.about = "all that the file is to say"}}};
}
const Description& describe(Tag<NewProposal>) { return description_of<NewProposal>("NewProposal"); }

BOOST_DESCRIBE_STRUCT(ApplyProposal, (), (content))
constexpr auto rules(Tag<ApplyProposal>) {
  return std::tuple{RuleFor<&ApplyProposal::content>{{.about = "edited, instead of the staged content"}}};
}
const Description& describe(Tag<ApplyProposal>) { return description_of<ApplyProposal>("ApplyProposal"); }

BOOST_DESCRIBE_STRUCT(RejectProposal, (), (reason))
constexpr auto rules(Tag<RejectProposal>) {
  return std::tuple{RuleFor<&RejectProposal::reason>{{.about = "kept in the experiment log"}}};
}
const Description& describe(Tag<RejectProposal>) { return description_of<RejectProposal>("RejectProposal"); }

BOOST_DESCRIBE_STRUCT(ProposalDecided, (), (status, proposal, experiment_id))
const Description& describe(Tag<ProposalDecided>) { return description_of<ProposalDecided>("ProposalDecided"); }

}  // namespace agw
