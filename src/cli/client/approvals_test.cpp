#include "cli/client/approvals.hpp"

#include <gtest/gtest.h>

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/async/cancellation.hpp"
#include "testing/run.hpp"

namespace agw::cli {
namespace {

/// A person who reads requests and never answers.
class SilentPerson : public Asker {
public:
  Task<std::optional<json::object>> ask(json::object, StopSource& over) override {
    ++asked;
    co_await until_requested(over);
    co_return std::nullopt;
  }
  void show_decision(const json::object& decided) override { shown.push_back(decided); }

  int asked = 0;
  std::vector<json::object> shown;
};

json::object requested(std::string_view id) {
  return {{"type", "permission-requested"}, {"request", {{"id", id}, {"thread_id", "a thread"}}}};
}

json::object decided(std::string_view id) { return {{"type", "permission-decided"}, {"requestId", id}}; }

TEST(Approvals, ShowsADecisionOfAnotherClientBeforeTheEventsThatFollow) {
  testing::run([](Loop& loop) -> Task<> {
    const FoundGateway gateway;
    const Client client(gateway);
    SilentPerson person;
    Approvals approvals(loop, client, person, "a thread");
    approvals.take(requested("first"));
    approvals.take(requested("second"));
    while (person.asked == 0) co_await asio::post(loop, asio::use_awaitable);

    approvals.take(decided("second"));
    EXPECT_EQ(person.shown.size(), 0u);  // the person has not seen it
    approvals.take(decided("first"));
    EXPECT_EQ(person.shown, std::vector{decided("first")});

    co_await approvals.stop();
    EXPECT_EQ(person.shown.size(), 1u);
    EXPECT_EQ(person.asked, 1);
  });
}

}  // namespace
}  // namespace agw::cli
