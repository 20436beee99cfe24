#include "server/idempotency.hpp"

#include <gmock/gmock.h>

#include "api/error.hpp"
#include "base/async/task_group.hpp"
#include "storage/changes.hpp"
#include "storage/postgres/engine.hpp"
#include "storage/postgres/testing.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;
using testing::run;

class IdempotencyTest : public ::testing::Test {
protected:
  void SetUp() override {
    SKIP_WITHOUT_POSTGRES();
    url_ = postgres::testing::Server::shared().create_database();
  }

  Database node(Loop& loop, std::string name) const {
    return {loop, postgres::open_engine(loop, {.url = url_,
                                               .node = std::move(name),
                                               .on_changes = [](auto) {},
                                               .on_lead = [] {},
                                               .on_lost_node = [](const LostNode&) {},
                                               .on_lost = [] {}})};
  }

  std::string url_;
  SystemClock clock_;
};

Task<> answer_when_asked(Idempotency& idempotency, AsyncEvent& begun, AsyncEvent& asked, std::string& body) {
  Request request;
  const auto response = co_await idempotency.once(request, "key", "/chat", [&](Request&) -> Task<Response> {
    begun.notify();
    co_await asked.wait();
    co_return Response{.status = 201, .body = "first"};
  });
  body = response.body;
}

Task<Response> repeated(Idempotency& idempotency) {
  Request request;
  co_return co_await idempotency.once(
      request, "key", "/chat", [](Request&) -> Task<Response> { co_return Response{.status = 201, .body = "second"}; });
}

TEST_F(IdempotencyTest, ARepeatedRequestWaitsForAnotherNodeForATime) {
  run([this](Loop& loop) -> Task<> {
    auto first_database = node(loop, "a");
    auto second_database = node(loop, "b");
    Idempotency first(loop, first_database, clock_, Idempotency::Shared::with_other_nodes);
    Idempotency impatient(loop, second_database, clock_, Idempotency::Shared::with_other_nodes, 1ms);
    Idempotency second(loop, second_database, clock_, Idempotency::Shared::with_other_nodes);
    AsyncEvent begun(loop);
    AsyncEvent asked(loop);
    std::string body;
    TaskGroup group(loop);
    group.spawn(answer_when_asked(first, begun, asked, body));
    co_await begun.wait();
    std::string refusal;
    try {
      co_await repeated(impatient);
    } catch (const ApiError& error) {
      refusal = error.error();
      EXPECT_EQ(error.status(), 503);
    }
    EXPECT_EQ(refusal, "another node still answers the first request with this key, try again");
    asked.notify();
    EXPECT_EQ((co_await repeated(second)).body, "first");
    co_await group.join();
    EXPECT_EQ(body, "first");
  });
}

}  // namespace
}  // namespace agw
