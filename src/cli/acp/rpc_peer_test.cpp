#include "cli/acp/rpc_peer.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/json/json_values.hpp"
#include "testing/run.hpp"

namespace agw::cli {
namespace {

using namespace std::chrono_literals;

/// Responds to `wait` once `go` is requested or the request is cancelled, to other methods immediately.
class Echo : public RpcHandler {
public:
  Task<json::object> answer(std::string method, json::object, RpcCallPointer call) override {
    if (method == "fail") throw RpcError(acp_code::not_found, "no");
    if (method == "wait") {
      const StopSource::Listener listener(call->cancelled, [this] { go.request(); });
      co_await until_requested(go);
    }
    co_return json::object{{"method", method}};
  }
  Task<> notified(std::string method, json::object) override {
    notifications.push_back(std::move(method));
    co_return;
  }

  StopSource go;
  std::vector<std::string> notifications;
};

struct Fixture {
  explicit Fixture(Loop& loop) : peer(loop, echo, [this](const std::string& line) { sent.push_back(line); }) {}
  Echo echo;
  std::vector<std::string> sent;
  RpcPeer peer;
};

Task<> until(Loop& loop, std::function<bool()> holds) {
  while (!holds()) co_await asio::post(loop, asio::use_awaitable);
}

TEST(RpcPeer, AnswersRequestsInAnyOrder) {
  testing::run([](Loop& loop) -> Task<> {
    Fixture it(loop);
    it.peer.take(R"({"jsonrpc": "2.0", "id": 1, "method": "wait"})");
    it.peer.take(R"({"jsonrpc": "2.0", "id": "two", "method": "quick"})");
    it.peer.take(R"({"jsonrpc": "2.0", "id": null, "method": "fail"})");
    it.peer.take(R"({"jsonrpc": "2.0", "method": "note"})");
    co_await until(loop, [&] { return it.sent.size() == 2 && !it.echo.notifications.empty(); });
    it.echo.go.request();
    co_await it.peer.stop(1min);
    EXPECT_EQ(it.sent,
              (std::vector<std::string>{R"({"jsonrpc":"2.0","result":{"method":"quick"},"id":"two"})",
                                        R"({"jsonrpc":"2.0","error":{"code":-32002,"message":"no"},"id":null})",
                                        R"({"jsonrpc":"2.0","result":{"method":"wait"},"id":1})"}));
    EXPECT_EQ(it.echo.notifications, std::vector<std::string>{"note"});
  });
}

TEST(RpcPeer, CancelsARequest) {
  testing::run([](Loop& loop) -> Task<> {
    Fixture it(loop);
    it.peer.take(R"({"jsonrpc": "2.0", "id": 1, "method": "wait"})");
    it.peer.take(R"({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 1}})");
    co_await it.peer.stop(1min);
    EXPECT_EQ(it.sent.size(), 1U);
  });
}

TEST(RpcPeer, AsksTheClient) {
  testing::run([](Loop& loop) -> Task<> {
    Fixture it(loop);
    TaskGroup group(loop);
    std::string answer;
    group.spawn([](RpcPeer& peer, std::string& out) -> Task<> {
      StopSource never;
      out = to_json(co_await peer.ask("question", {}, never));
    }(it.peer, answer));
    co_await until(loop, [&] { return !it.sent.empty(); });
    EXPECT_EQ(it.sent.back(), R"({"jsonrpc":"2.0","id":1,"method":"question","params":{}})");
    it.peer.take(R"({"jsonrpc": "2.0", "id": 2, "result": {"of": "nothing"}})");
    it.peer.take(R"({"jsonrpc": "2.0", "id": 1, "result": {"a": 1}})");
    it.peer.take(R"({"jsonrpc": "2.0", "id": 1, "result": {"a": 2}})");
    co_await group.join();
    EXPECT_EQ(answer, R"({"a":1})");
  });
}

TEST(RpcPeer, CancelsAnObsoleteQuestionAtTheClient) {
  testing::run([](Loop& loop) -> Task<> {
    Fixture it(loop);
    TaskGroup group(loop);
    StopSource over;
    std::int64_t code = 0;
    group.spawn([](RpcPeer& peer, StopSource& until, std::int64_t& out) -> Task<> {
      try {
        co_await peer.ask("question", {}, until);
      } catch (const RpcError& error) {
        out = error.code();
      }
    }(it.peer, over, code));
    co_await until(loop, [&] { return !it.sent.empty(); });
    over.request();
    co_await group.join();
    EXPECT_EQ(code, acp_code::cancelled);
    EXPECT_EQ(it.sent.back(), R"({"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}})");
  });
}

TEST(RpcPeer, BoundsConcurrentRequests) {
  testing::run([](Loop& loop) -> Task<> {
    Fixture it(loop);
    for (std::size_t i = 0; i <= RpcPeer::max_requests; ++i)
      it.peer.take(R"({"jsonrpc": "2.0", "id": )" + std::to_string(i) + R"(, "method": "wait"})");
    EXPECT_EQ(it.sent.size(), 1U);
    EXPECT_NE(it.sent[0].find("more than 256 requests at a time"), std::string::npos);
    it.echo.go.request();
    co_await it.peer.stop(1min);
    EXPECT_EQ(it.sent.size(), RpcPeer::max_requests + 1);
  });
}

}  // namespace
}  // namespace agw::cli
