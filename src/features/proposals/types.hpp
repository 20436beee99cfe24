#pragma once

#include <compare>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/described.hpp"

namespace agw {

/// What a proposal wants to change.
enum class ProposalType {
  soul,       ///< who an agent is
  extension,  ///< a record: its target is `agents/<name>/agent.yaml`, `jobs/<name>/job.yaml`, `extensions/<name>.yaml`
  file,       ///< any other file of the data directory or a project
  knowledge,  ///< a page or a source
};
std::span<const EnumName> names(Tag<ProposalType>);

/// Whether a person has decided, and how.
enum class ProposalStatus { pending, applied, rejected };
std::span<const EnumName> names(Tag<ProposalStatus>);

/// Whether a proposal can have it in its address: `[a-zA-Z0-9][a-zA-Z0-9_-]*`.
bool is_proposal_segment(std::string_view segment);

/// Where a proposal is found: `{data_dir}/autoresearch/proposals/<agent>/<date>.md` or `…/<date>/<name>.md`.
struct ProposalAddress {
  std::string agent;
  std::string date;  ///< any segment, typically `2026-01-02`
  std::optional<std::string> name{};

  /// `<agent>/<date>` or `<agent>/<date>/<name>`.
  std::string text() const;
  auto operator<=>(const ProposalAddress&) const = default;
};
/// Reads what `text` writes; nothing for anything else.
std::optional<ProposalAddress> read_proposal_address(std::string_view text);

/// A pending one in a list.
struct ProposalEntry {
  std::string agent;
  std::string date;
  std::optional<std::string> name;
  std::string title;
  ProposalType type{};
  std::optional<std::string> target;  ///< as the file has it
  Timestamp created_at{};
};
const Description& describe(Tag<ProposalEntry>);

/// A change that a person decides on. In events, long texts are left out.
struct Proposal {
  std::string agent;
  std::string date;
  std::optional<std::string> name;
  std::string title;
  ProposalType type{};
  ProposalStatus status{};
  std::optional<std::string> target;
  std::optional<std::string> reason;           ///< the proposer's
  std::optional<std::string> content;          ///< what the target is to become
  std::optional<std::string> current_content;  ///< none where there is no target, or none that may be shown
  bool target_changed = false;                 ///< the target is not any more what the proposal was made from
  std::optional<std::string> diff;             ///< unified, from current_content to content
  Timestamp created_at{};
};
const Description& describe(Tag<Proposal>);

/// The body of `POST /propose`.
struct NewProposal {
  std::string agent;  ///< who proposes it: the first segment of its address is made from that
  std::string type;
  std::string title;
  std::string target;
  std::string content;
  std::optional<std::string> reason;
};
const Description& describe(Tag<NewProposal>);

/// The body of `…/apply`.
struct ApplyProposal {
  std::optional<std::string> content;  ///< edited, instead of the staged one
};
const Description& describe(Tag<ApplyProposal>);

/// The body of `…/reject`.
struct RejectProposal {
  std::optional<std::string> reason;
};
const Description& describe(Tag<RejectProposal>);

/// The answer of both.
struct ProposalDecided {
  ProposalStatus status{};
  std::string proposal;       ///< its reference
  std::string experiment_id;  ///< of the experiment that records the decision
};
const Description& describe(Tag<ProposalDecided>);

}  // namespace agw
