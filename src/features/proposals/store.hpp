#pragma once

#include <optional>
#include <string>
#include <vector>

#include "features/proposals/types.hpp"
#include "storage/connection.hpp"

namespace agw {

/// An active decision on a proposal.
struct ProposalDecision {
  ProposalAddress address;
  ProposalStatus status{};
  std::optional<std::string> target;   ///< as in the proposal; no value for a rejection
  std::optional<std::string> content;  ///< the target's new content
  std::optional<std::string> reason;   ///< stored in the experiment
  std::string title;
  std::string experiment_id;
  Timestamp decided_at{};
};

}  // namespace agw

/// The SQL of the outbox.
namespace agw::proposal_store {

void insert(Connection& connection, const ProposalDecision& decision);
void remove(Connection& connection, const ProposalAddress& address);
std::vector<ProposalDecision> all(Connection& connection);

}  // namespace agw::proposal_store
