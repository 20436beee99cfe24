#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "base/time.hpp"
#include "features/proposals/types.hpp"

namespace agw {

/// A proposal's file, taken apart: Markdown with a YAML head between two lines of `---`.
struct ProposalText {
  json::object head;    ///< empty where the file has none
  std::string content;  ///< what the target is to become: all behind the head and one empty line
};

/// Throws YamlError where the head has no end, is no map, or no YAML.
ProposalText read_proposal_text(std::string_view text);
std::string write_proposal_text(const ProposalText& text);

/// The part of a text that may be the head, which is all that a list needs; nothing where it has no end.
std::optional<std::string_view> proposal_head_of(std::string_view text);

/// What the head says, with something sensible for what it does not.
struct ProposalHead {
  std::string title;
  ProposalType type{};
  ProposalStatus status{};
  std::optional<std::string> target{};
  std::optional<std::string> reason{};
  std::optional<Timestamp> created_at{};
  std::optional<Timestamp> decided_at{};
  std::optional<std::string> agent_id{};   ///< of the agent that made it, which may have another name by now
  std::optional<std::string> made_from{};  ///< content_id of the target as it was; empty: there was none
  std::string problem{};                   ///< why the file cannot be read as a proposal; empty where it can
};
ProposalHead read_proposal_head(const json::object& head, const ProposalAddress& address);
/// Of a file that cannot be read: it is shown, so that somebody mends it.
ProposalHead broken_proposal_head(std::string problem, const ProposalAddress& address);

}  // namespace agw
