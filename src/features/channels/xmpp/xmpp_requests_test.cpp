#include "features/channels/xmpp/xmpp_requests.hpp"

#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/async/task_group.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

/// Sends one request to `upload.example.org`.
struct Requester {
  explicit Requester(Loop& loop, bool is_connected = true)
      : is_open(is_connected),
        requests(loop,
                 [this](std::string stanza) {
                   sent = std::move(stanza);
                   return is_open;
                 }),
        group(loop) {
    group.spawn(ask());
  }
  Task<> ask() {
    response = co_await requests.get("upload.example.org", "<query/>", stop);
    is_over = true;
  }
  /// The id of the request that was sent.
  std::string id() const {
    const auto begin = sent.find("id='") + 4;
    return sent.substr(begin, sent.find('\'', begin) - begin);
  }
  XmppElement response_from(std::string from) const {
    return {.name = "iq", .attributes = {{"type", "result"}, {"id", id()}, {"from", std::move(from)}}};
  }

  const bool is_open;
  StopSource stop;
  std::string sent;
  XmppRequests requests;
  std::optional<XmppElement> response;
  bool is_over = false;
  TaskGroup group;
};

TEST(XmppRequests, AcceptAResponseOnlyFromTheirRecipient) {
  testing::run([](Loop& loop) -> Task<> {
    Requester requester(loop);
    while (requester.sent.empty()) co_await asio::post(loop, asio::use_awaitable);
    EXPECT_TRUE(requester.sent.ends_with("to='upload.example.org'><query/></iq>")) << requester.sent;
    EXPECT_FALSE(requester.requests.take(requester.response_from("eve@example.org/phone")));
    EXPECT_FALSE(requester.requests.take(requester.response_from("")));
    EXPECT_FALSE(requester.is_over);
    EXPECT_TRUE(requester.requests.take(requester.response_from("upload.example.org")));
    co_await requester.group.join();
    EXPECT_TRUE(requester.response);
  });
}

TEST(XmppRequests, EndWithoutAResponseWithTheirConnection) {
  testing::run([](Loop& loop) -> Task<> {
    Requester requester(loop);
    while (requester.sent.empty()) co_await asio::post(loop, asio::use_awaitable);
    requester.requests.end();
    co_await requester.group.join();
    EXPECT_TRUE(requester.is_over);
    EXPECT_FALSE(requester.response);
  });
}

TEST(XmppRequests, AreNotMadeWithoutAConnection) {
  testing::run([](Loop& loop) -> Task<> {
    Requester requester(loop, false);
    co_await requester.group.join();
    EXPECT_FALSE(requester.response);
  });
}

}  // namespace
}  // namespace agw
