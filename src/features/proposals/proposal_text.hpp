#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json/json.hpp"
#include "base/time/time.hpp"
#include "features/proposals/types.hpp"

namespace agw {

/// A parsed proposal file: Markdown with a YAML head between two lines of `---`.
struct ProposalText {
  json::object head;    ///< empty if the file has none
  std::string content;  ///< the target's new content: everything after the head and one empty line
};

/// Throws YamlError if the head has no end, is not YAML, or is not a map.
ProposalText read_proposal_text(std::string_view text);
std::string write_proposal_text(const ProposalText& text);

/// The part of a text that may be the head, which is sufficient for a list; no value if the head has no end.
std::optional<std::string_view> proposal_head_of(std::string_view text);

/// The members of the head, with defaults for missing ones.
struct ProposalHead {
  std::string title;
  ProposalType type{};
  ProposalStatus status{};
  std::optional<std::string> target{};
  std::optional<std::string> reason{};
  std::optional<Timestamp> created_at{};
  std::optional<Timestamp> decided_at{};
  std::optional<std::string> agent_id{};   ///< the proposer, which may have been renamed since
  std::optional<std::string> made_from{};  ///< content id of the target at that time; empty if it did not exist
  std::string problem{};                   ///< why the file cannot be read as a proposal; empty if it can
};
ProposalHead read_proposal_head(const json::object& head, const ProposalAddress& address);
/// The head of an invalid file, which is shown so that a person can fix it.
ProposalHead broken_proposal_head(std::string problem, const ProposalAddress& address);

}  // namespace agw
