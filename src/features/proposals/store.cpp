#include "features/proposals/store.hpp"

namespace agw::proposal_store {

void insert(Connection& connection, const ProposalDecision& decision) {
  connection
      .prepare(
          "INSERT INTO proposal_outbox (proposal, status, target, content, reason, title, experiment_id, decided_at) "
          "VALUES (:proposal, :status, :target, :content, :reason, :title, :experiment_id, :decided_at)")
      .bind(":proposal", decision.address.text())
      .bind(":status", to_text(decision.status))
      .bind(":target", decision.target)
      .bind(":content", decision.content)
      .bind(":reason", decision.reason)
      .bind(":title", decision.title)
      .bind(":experiment_id", decision.experiment_id)
      .bind(":decided_at", decision.decided_at)
      .run();
}

void remove(Connection& connection, const ProposalAddress& address) {
  connection.prepare("DELETE FROM proposal_outbox WHERE proposal = :proposal").bind(":proposal", address.text()).run();
}

std::vector<ProposalDecision> all(Connection& connection) {
  std::vector<ProposalDecision> decisions;
  auto row = connection.prepare(
      "SELECT proposal, status, target, content, reason, title, experiment_id, decided_at FROM proposal_outbox "
      "ORDER BY decided_at");
  while (row.step()) {
    const auto address = read_proposal_address(row.text(0));
    const auto status = from_text<ProposalStatus>(row.text(1));
    if (!address || !status) continue;
    decisions.push_back({.address = *address,
                         .status = *status,
                         .target = row.optional_string(2),
                         .content = row.optional_string(3),
                         .reason = row.optional_string(4),
                         .title = row.string(5),
                         .experiment_id = row.string(6),
                         .decided_at = row.time(7)});
  }
  return decisions;
}

}  // namespace agw::proposal_store
