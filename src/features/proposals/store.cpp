#include "features/proposals/store.hpp"

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "storage/columns.hpp"

namespace agw {

template <>
struct ColumnValue<ProposalAddress> {
  static ProposalAddress read(const Statement& row, int column) {
    return read_proposal_address(row.text(column)).value_or(ProposalAddress{});
  }
  static std::string bound(const ProposalAddress& address) { return address.text(); }
};

}  // namespace agw

namespace agw::proposal_store {

namespace {

constexpr auto columns = columns_of<ProposalDecision>(
    Column{"proposal", &ProposalDecision::address}, Column{"status", &ProposalDecision::status},
    Column{"target", &ProposalDecision::target}, Column{"content", &ProposalDecision::content},
    Column{"reason", &ProposalDecision::reason}, Column{"title", &ProposalDecision::title},
    Column{"experiment_id", &ProposalDecision::experiment_id}, Column{"decided_at", &ProposalDecision::decided_at});

}  // namespace

void insert(Connection& connection, const ProposalDecision& decision) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(decision.status != ProposalStatus::pending);
  AGW_ASSERT(decision.target.has_value() == (decision.status == ProposalStatus::applied));
  AGW_ASSERT(decision.content.has_value() == (decision.status == ProposalStatus::applied));
  AGW_ASSERT(!decision.experiment_id.empty());
  // `all` skips addresses that cannot be read: the next start would not finish the decision.
  AGW_ASSERT(read_proposal_address(decision.address.text()) == decision.address);
  static const auto sql = columns.insert_into("proposal_outbox");
  auto statement = connection.prepare(sql);
  columns.bind(statement, decision).run();
}

void remove(Connection& connection, const ProposalAddress& address) {
  AGW_ASSERT(connection.in_transaction());
  connection.prepare("DELETE FROM proposal_outbox WHERE proposal = :proposal").bind(":proposal", address.text()).run();
}

std::vector<ProposalDecision> all(Connection& connection) {
  std::vector<ProposalDecision> decisions;
  const auto select = [&](std::string_view condition) {
    return fmt::format("SELECT {} FROM proposal_outbox {} ORDER BY decided_at", columns.names(), condition);
  };
  auto row = connection.prepare(connection.is_postgres() ? select("WHERE is_of_this_node(node)") : select(""));
  while (row.step()) {
    if (read_proposal_address(row.text(0)) && from_text<ProposalStatus>(row.text(1)))
      decisions.push_back(columns.read(row));
  }
  return decisions;
}

}  // namespace agw::proposal_store
