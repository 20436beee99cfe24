#pragma once

#include <compare>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/json/described.hpp"

namespace agw {

/// The kind of thing that a proposal changes.
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

/// Whether `segment` is valid in a proposal's address: `[a-zA-Z0-9][a-zA-Z0-9_-]*`.
bool is_proposal_segment(std::string_view segment);

/// The location of a proposal: `{data_dir}/autoresearch/proposals/<agent>/<date>.md` or `…/<date>/<name>.md`.
struct ProposalAddress {
  std::string agent;
  std::string date;  ///< any segment, typically `2026-01-02`
  std::optional<std::string> name{};

  /// `<agent>/<date>` or `<agent>/<date>/<name>`.
  std::string text() const;
  auto operator<=>(const ProposalAddress&) const = default;
};
/// Parses the result of `text`; no value for any other input.
std::optional<ProposalAddress> read_proposal_address(std::string_view text);

/// A pending proposal in a list.
struct ProposalEntry {
  std::string agent;
  std::string date;
  std::optional<std::string> name;
  std::string title;
  ProposalType type{};
  std::optional<std::string> target;  ///< as in the file
  Timestamp created_at{};
};
const Description& describe(Tag<ProposalEntry>);

/// A change that a person decides on. Events omit long texts.
struct Proposal {
  std::string agent;
  std::string date;
  std::optional<std::string> name;
  std::string title;
  ProposalType type{};
  ProposalStatus status{};
  std::optional<std::string> target;
  std::optional<std::string> reason;           ///< given by the proposer
  std::optional<std::string> content;          ///< the target's new content
  std::optional<std::string> current_content;  ///< no value if there is no target, or if it may not be shown
  bool target_changed = false;                 ///< the target has changed since the proposal was made
  std::optional<std::string> diff;             ///< unified, from current_content to content
  Timestamp created_at{};
};
const Description& describe(Tag<Proposal>);

/// The body of `POST /propose`.
struct NewProposal {
  std::string agent;  ///< the proposer; becomes the first segment of the address
  std::string type;
  std::string title;
  std::string target;
  std::string content;
  std::optional<std::string> reason;
};
const Description& describe(Tag<NewProposal>);

/// The body of `…/apply`.
struct ApplyProposal {
  std::optional<std::string> content;  ///< edited content that replaces the staged one
};
const Description& describe(Tag<ApplyProposal>);

/// The body of `…/reject`.
struct RejectProposal {
  std::optional<std::string> reason;
};
const Description& describe(Tag<RejectProposal>);

/// The response to `…/apply` and `…/reject`.
struct ProposalDecided {
  ProposalStatus status{};
  std::string proposal;       ///< its reference
  std::string experiment_id;  ///< of the experiment that records the decision
};
const Description& describe(Tag<ProposalDecided>);

}  // namespace agw
