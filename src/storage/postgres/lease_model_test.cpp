// Tries all orders in which two nodes write, renew and claim each other while their leases expire. The statements are
// those of the gateway, on a server; an order only decides which node is next. A write has two steps, so that other
// steps also happen between its begin and its commit. A session without the fence proves that the model detects a
// violation.

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include <gmock/gmock.h>

#include "storage/postgres/errors.hpp"
#include "storage/postgres/lease.hpp"
#include "storage/postgres/schema.hpp"
#include "storage/postgres/session.hpp"
#include "storage/postgres/testing.hpp"

namespace agw::postgres {
namespace {

using testing::Server;

const Session::Deadline no_end{Session::Clock::time_point::max()};

struct Client {
  explicit Client(const std::string& url) {
    auto made = std::make_unique<Session>(read_address(url), Session::Clock::now() + std::chrono::minutes(1), no_end);
    session = made.get();
    connection = std::make_unique<Connection>(std::move(made));
  }

  int count(const std::string& sql) const {
    auto row = connection->prepare(sql);
    row.step();
    return static_cast<int>(row.integer(0));
  }

  Session* session = nullptr;
  std::unique_ptr<Connection> connection;
};

enum class Do { begin, commit, expire, renew, claim, release };

/// One step of a node.
struct Step {
  char node = 'a';
  Do what = Do::begin;
};

/// The expected state of a node.
struct Node {
  bool is_writing = false;
  bool has_expired = false;
  bool is_claimed = false;
  int seen = 0;  ///< the number of its rows seen by the node that has claimed it
};

class LeaseModel {
public:
  LeaseModel(const std::string& url, bool has_fence) : feed_(url), a_(url), b_(url) {
    feed_.connection->execute("CREATE TABLE IF NOT EXISTS written (node text)");
    if (!has_fence) return;
    a_.session->fence_with("id a");
    b_.session->fence_with("id b");
  }

  /// Whether the invariant held. Orders that are impossible for a node are skipped.
  bool holds_in(const std::vector<Step>& order) {
    if (!is_possible(order)) return true;
    ++orders_;
    feed_.connection->execute(
        "DELETE FROM written; DELETE FROM gateway_owner; INSERT INTO gateway_owner (node, id, lease_until) "
        "SELECT name, 'id ' || name, clock_timestamp() + interval '1 hour' FROM unnest(ARRAY['a', 'b']) AS name");
    nodes_ = {{'a', {}}, {'b', {}}};
    bool holds = true;
    for (const auto& step : order) holds = take(step) && holds;
    for (const auto& [name, node] : nodes_) {
      written_ += rows_of(feed_, name);
      if (node.is_claimed) holds = holds && rows_of(feed_, name) == node.seen;
    }
    return holds;
  }

  int orders() const { return orders_; }
  int claims() const { return claims_; }
  int written() const { return written_; }

private:
  static bool is_possible(const std::vector<Step>& order) {
    std::map<char, bool> writes;
    return std::ranges::all_of(order, [&](const Step& step) {
      if (step.what == Do::begin || step.what == Do::commit) writes[step.node] = step.what == Do::begin;
      return step.what == Do::begin || !writes[step.node] || (step.what != Do::claim && step.what != Do::release);
    });
  }

  static int rows_of(const Client& client, char node) {
    return client.count(std::string("SELECT count(*) FROM written WHERE node = '") + node + "'");
  }

  Client& client(char node) { return node == 'a' ? a_ : b_; }
  static std::string id(char node) { return std::string("id ") + node; }
  static char other(char node) { return node == 'a' ? 'b' : 'a'; }

  bool take(const Step& step) {
    auto& node = nodes_[step.node];
    switch (step.what) {
      case Do::begin:
        node.is_writing = tries(step.node, [&](Session& session) {
          session.begin_write();
          session.execute(std::string("INSERT INTO written VALUES ('") + step.node + "')");
        });
        return true;
      case Do::commit:
        if (std::exchange(node.is_writing, false)) tries(step.node, [](Session& session) { session.commit(); });
        return true;
      case Do::expire:
        feed_.connection->execute(
            "UPDATE gateway_owner SET lease_until = clock_timestamp() - interval '1 second' "
            "WHERE id = '" +
            id(step.node) + "'");
        node.has_expired = true;
        return true;
      case Do::renew: {
        const bool is_renewed = renew(*feed_.connection, id(step.node), 0);
        if (is_renewed) node.has_expired = false;
        return is_renewed == !node.is_claimed;
      }
      case Do::claim:
        return claim_by(step.node);
      case Do::release:
        return tries(step.node,
                     [&](Session& session) {
                       session.begin_write();
                       release(*client(step.node).connection, "claim");
                       session.commit();
                     }) ||
               node.is_claimed;
    }
    return false;
  }

  /// Returns false if the transaction was refused or conflicted, in which case GroupWriter's caller repeats the write
  /// or reports that nothing was done.
  bool tries(char node, const std::function<void(Session&)>& work) {
    auto& session = *client(node).session;
    try {
      work(session);
      return true;
    } catch (const DatabaseUnavailable&) {
      session.roll_back();
      return false;
    }
  }

  bool claim_by(char claimer) {
    auto& lost = nodes_[other(claimer)];
    const auto found = find_lost(*feed_.connection, id(claimer));
    const bool may_claim = lost.has_expired && !lost.is_claimed && !nodes_[claimer].is_claimed;
    bool is_claimed = false;
    for (int attempt = 0; attempt < 10 && !is_claimed && found; ++attempt) {
      tries(claimer, [&](Session& session) {
        session.begin_write();
        const bool succeeds = claim(*client(claimer).connection, *found, "claim");
        const auto seen = succeeds ? rows_of(client(claimer), other(claimer)) : 0;
        session.commit();
        is_claimed = succeeds;
        lost.seen = seen;
      });
    }
    if (!is_claimed) return !may_claim;
    ++claims_;
    lost.is_claimed = true;
    return may_claim;
  }

  Client feed_;  ///< separate from the nodes' transactions, like the feed's connection
  Client a_;
  Client b_;
  std::map<char, Node> nodes_;
  int orders_ = 0;
  int claims_ = 0;
  int written_ = 0;
};

/// The steps of one actor, in order. Steps of different actors may interleave freely.
using Actor = std::vector<Step>;

/// Calls `visit` with each order until it returns false.
bool each_order(const std::vector<Actor>& actors, const std::function<bool(const std::vector<Step>&)>& visit) {
  std::vector<std::size_t> turns;
  for (std::size_t actor = 0; actor < actors.size(); ++actor) turns.insert(turns.end(), actors[actor].size(), actor);
  do {
    std::vector<std::size_t> next(actors.size());
    std::vector<Step> order;
    for (const auto actor : turns) order.push_back(actors[actor][next[actor]++]);
    if (!visit(order)) return false;
  } while (std::ranges::next_permutation(turns).found);
  return true;
}

const Actor a_writes{{'a', Do::begin}, {'a', Do::commit}};
const Actor b_writes{{'b', Do::begin}, {'b', Do::commit}};
const Actor a_writes_twice{{'a', Do::begin}, {'a', Do::commit}, {'a', Do::begin}, {'a', Do::commit}};

/// One node is slow, and the other one claims it.
const std::vector<Actor> take_over{
    a_writes_twice, {{'a', Do::expire}}, {{'a', Do::renew}}, {{'b', Do::claim}, {'b', Do::release}}};
/// Each node considers the other one lost.
const std::vector<Actor> mutual{
    a_writes, b_writes, {{'a', Do::expire}, {'b', Do::expire}}, {{'a', Do::claim}}, {{'b', Do::claim}}};

class LeaseModelTest : public ::testing::TestWithParam<std::vector<Actor>> {
protected:
  void SetUp() override {
    SKIP_WITHOUT_POSTGRES();
    url_ = Server::shared().create_database();
    const Client client(url_);
    prepare_database(*client.connection, read_address(url_), embedded_migrations("postgres"));
  }

  std::string url_;
};

TEST_P(LeaseModelTest, WhoeverClaimsANodeHasSeenAllThatItEverWrites) {
  LeaseModel model(url_, true);
  EXPECT_TRUE(each_order(GetParam(), [&](const auto& order) { return model.holds_in(order); }))
      << "the order " << model.orders();
  EXPECT_GT(model.orders(), 500);
  EXPECT_GT(model.claims(), model.orders() / 10);
  EXPECT_GT(model.written(), model.orders() / 10);
}

TEST_P(LeaseModelTest, AMissingFenceIsFound) {
  LeaseModel model(url_, false);
  EXPECT_FALSE(each_order(GetParam(), [&](const auto& order) { return model.holds_in(order); }));
}

INSTANTIATE_TEST_SUITE_P(TwoNodes, LeaseModelTest, ::testing::Values(take_over, mutual));

}  // namespace
}  // namespace agw::postgres
