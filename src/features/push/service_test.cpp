#include "features/push/service.hpp"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/error.hpp"
#include "base/digest.hpp"
#include "features/push/encryption.hpp"
#include "io/http/http_client.hpp"
#include "storage/database.hpp"
#include "storage/testing.hpp"
#include "testing/loopback_server.hpp"
#include "testing/run.hpp"
#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using testing::LoopbackServer;
using testing::until;

std::string answer(std::string_view status, std::string_view fields = "") {
  return "HTTP/1.1 " + std::string(status) + "\r\nContent-Length: 0\r\n" + std::string(fields) + "\r\n";
}

/// A client that reports its device.
struct Page : Subscriber {
  explicit Page(std::string device) : device_(std::move(device)) {}
  void deliver(const DomainEvent&) override {}
  bool is_shown_on(std::string_view device) const override { return device == device_; }
  std::string device_;
};

struct PushFixture {
  PushFixture(Loop& loop, std::vector<std::string> answers, PushDelivery::Limits limits = {.first_pause = 1ms})
      : service(loop, std::move(answers)),
        blocking(loop),
        database(loop, {.file = directory.path() / "gateway.db", .backups = directory.path() / "backups"}),
        access(loop, blocking, hub, clock, directory.path(), std::nullopt),
        secrets(directory.path()),
        http(loop),
        push(loop, {database, hub, clock, blocking, secrets, http, access},
             {.contact = "https://example.net", .test_origin = origin(), .limits = limits}) {}

  std::string origin() const {
    const auto url = service.url("/");
    return url.substr(0, url.size() - 1);
  }
  NewPushSubscription browser(std::string path, std::optional<std::string> device = {}) const {
    return {.endpoint = service.url(path),
            .keys = {.p256dh = to_base64url(key.public_point()), .auth = to_base64url(std::string(16, 'a'))},
            .device = std::move(device)};
  }
  void raise_signal() { hub.publish({.type = "signal", .text = "{}"}); }
  Task<> close() {
    co_await push.stop();
    co_await service.close();
  }

  testing::ScratchDirectory directory;
  LoopbackServer service;
  EcKey key = EcKey::generate();
  SystemClock clock;
  Hub hub;
  BlockingPool blocking;
  Database database;
  Access access;
  Secrets secrets;
  HttpClient http;
  Push push;
};

std::string refusal(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const ApiError& error) {
    return error.error();
  }
}

Task<std::string> refusal_of(PushFixture& fixture, NewPushSubscription wanted) {
  std::exception_ptr failure;
  try {
    co_await fixture.push.subscribe(std::move(wanted), {});
  } catch (...) {
    failure = std::current_exception();
  }
  co_return failure ? refusal(failure) : "none";
}

TEST(PushTest, SendsWhatOnlyTheBrowserReads) {
  testing::run([](Loop& loop) -> Task<> {
    PushFixture fixture(loop, {answer("201 Created")});
    const auto made = co_await fixture.push.subscribe(fixture.browser("/send/1"), {});
    fixture.raise_signal();
    co_await until([&] { return fixture.push.list().at(0).last_sent_at.has_value(); });
    const auto& request = fixture.service.request(0);
    EXPECT_THAT(request, HasSubstr("POST /send/1 HTTP/1.1"));
    EXPECT_THAT(request, HasSubstr("\r\nContent-Encoding: aes128gcm\r\n"));
    EXPECT_THAT(request, HasSubstr("\r\nTTL: 86400\r\n"));
    EXPECT_THAT(request, HasSubstr("\r\nUrgency: normal\r\n"));
    EXPECT_THAT(request, HasSubstr("\r\nTopic: "));
    EXPECT_THAT(request, HasSubstr("\r\nAuthorization: vapid t="));
    EXPECT_THAT(request, ::testing::Not(HasSubstr("signal")));
    EXPECT_EQ(made.service, "127.0.0.1");
    co_await fixture.close();
  });
}

TEST(PushTest, ForgetsASubscriptionThatThePushServiceForgot) {
  for (const std::string_view status : {"404 Not Found", "410 Gone"}) {
    testing::run([status](Loop& loop) -> Task<> {
      PushFixture fixture(loop, {answer(status)});
      co_await fixture.push.subscribe(fixture.browser("/send/1"), {});
      fixture.raise_signal();
      co_await until([&] { return fixture.push.list().empty(); });
      EXPECT_EQ(fixture.service.requests(), 1u);
      co_await fixture.close();
    });
  }
}

TEST(PushTest, RetriesUpToItsLimit) {
  testing::run([](Loop& loop) -> Task<> {
    PushFixture fixture(loop, std::vector(5, answer("500 Internal Server Error")));
    co_await fixture.push.subscribe(fixture.browser("/send/1"), {});
    fixture.raise_signal();
    co_await until([&] { return fixture.service.requests() == 4; });
    fixture.hub.publish({.type = "proposal-created", .text = "{}"});
    co_await until([&] { return fixture.service.requests() == 5; });
    EXPECT_EQ(fixture.push.list().at(0).last_error, "127.0.0.1 answered 500");
    co_await fixture.close();
  });
}

TEST(PushTest, DoesNotRepeatWhatIsRefused) {
  testing::run([](Loop& loop) -> Task<> {
    PushFixture fixture(loop, {answer("403 Forbidden"), answer("302 Found", "Location: http://10.0.0.1/\r\n")});
    co_await fixture.push.subscribe(fixture.browser("/send/1"), {});
    fixture.raise_signal();
    co_await until([&] { return fixture.push.list().at(0).last_error == "127.0.0.1 answered 403"; });
    fixture.raise_signal();
    co_await until([&] { return fixture.push.list().at(0).last_error == "127.0.0.1 answered 302"; });
    EXPECT_EQ(fixture.service.requests(), 2u) << "redirects are not followed";
    co_await fixture.close();
  });
}

TEST(PushTest, ANewerNoticeReplacesAWaitingOneOfItsTopic) {
  testing::run([](Loop& loop) -> Task<> {
    PushFixture fixture(loop, std::vector(3, answer("201 Created")));
    co_await fixture.push.subscribe(fixture.browser("/send/1"), {});
    for (int i = 0; i < 50; ++i) fixture.raise_signal();
    fixture.hub.publish({.type = "proposal-created", .text = "{}"});
    co_await until([&] { return fixture.service.requests() == 2; });
    co_await fixture.close();
    EXPECT_EQ(fixture.service.requests(), 2u);
  });
}

TEST(PushTest, IsSilentWhileThePageIsSeenOnThatDevice) {
  testing::run([](Loop& loop) -> Task<> {
    PushFixture fixture(loop, std::vector(2, answer("201 Created")));
    co_await fixture.push.subscribe(fixture.browser("/send/phone", "phone"), {});
    co_await fixture.push.subscribe(fixture.browser("/send/desk", "desk"), {});
    Page page("phone");
    Hub::Listening listening(fixture.hub, page);
    fixture.raise_signal();
    co_await until([&] { return fixture.push.list().at(1).last_sent_at.has_value(); });
    EXPECT_EQ(fixture.service.requests(), 1u);
    EXPECT_THAT(fixture.service.request(0), HasSubstr("/send/desk"));
    EXPECT_TRUE((co_await fixture.push.test(fixture.push.list().at(0).id)).sent) << "a test is always sent";
    co_await fixture.close();
  });
}

TEST(PushTest, SendsTheKindsThatWereChosen) {
  testing::run([](Loop& loop) -> Task<> {
    PushFixture fixture(loop, {answer("201 Created")});
    auto wanted = fixture.browser("/send/1");
    wanted.kinds = {PushKind::proposal_created, PushKind::proposal_created};
    const auto made = co_await fixture.push.subscribe(std::move(wanted), {});
    EXPECT_THAT(made.kinds, ::testing::ElementsAre(PushKind::proposal_created));
    fixture.raise_signal();
    fixture.hub.publish({.type = "proposal-created", .text = "{}"});
    co_await until([&] { return fixture.push.list().at(0).last_sent_at.has_value(); });
    EXPECT_EQ(fixture.service.requests(), 1u);
    co_await fixture.close();
  });
}

TEST(PushTest, HasOneSubscriptionForAnEndpointAndForADevice) {
  testing::run([](Loop& loop) -> Task<> {
    PushFixture fixture(loop, {});
    co_await fixture.push.subscribe(fixture.browser("/send/1", "phone"), {});
    co_await fixture.push.subscribe(fixture.browser("/send/2", "phone"), {});
    const auto last = co_await fixture.push.subscribe(fixture.browser("/send/2", "tablet"), {});
    const auto all = fixture.push.list();
    EXPECT_EQ(all.size(), 1u);
    EXPECT_EQ(all.at(0).id, last.id);
    co_await fixture.close();
  });
}

TEST(PushTest, HasAHundredSubscriptionsAtMost) {
  testing::run([](Loop& loop) -> Task<> {
    PushFixture fixture(loop, {});
    for (std::size_t i = 0; i < Push::max_subscriptions; ++i)
      co_await fixture.push.subscribe(fixture.browser("/send/" + std::to_string(i)), {});
    EXPECT_EQ(co_await refusal_of(fixture, fixture.browser("/send/more")),
              "there are 100 push subscriptions: delete one first");
    EXPECT_EQ(co_await refusal_of(fixture, fixture.browser("/send/7")), "none") << "it replaces one";
    co_await fixture.close();
  });
}

TEST(PushTest, RefusesEndpointsThatAreNoPublicPushService) {
  testing::run([](Loop& loop) -> Task<> {
    PushFixture fixture(loop, {});
    const auto refused = [&](std::string endpoint) {
      auto wanted = fixture.browser("/");
      wanted.endpoint = std::move(endpoint);
      return refusal_of(fixture, std::move(wanted));
    };
    for (const std::string host :
         {"127.0.0.1", "10.0.0.1", "192.168.1.1", "169.254.169.254", "localhost", "a.localhost"})
      EXPECT_EQ(co_await refused("https://" + host + "/x"), "endpoint must be on the public internet, not at " + host);
    for (const std::string host : {"::1", "fd00::1", "::ffff:10.0.0.1"})
      EXPECT_EQ((co_await refused("https://[" + host + "]/x")).find("endpoint must be on the public internet"), 0u);
    for (const std::string other :
         {"http://push.example.net/x", "file:///etc/passwd", "push", "", "https://me:secret@push.example.net/"})
      EXPECT_EQ(co_await refused(other), "endpoint must be an https URL");
    EXPECT_EQ(co_await refused("https://push.example.net/" + std::string(2048, 'x')),
              "endpoint is longer than 2048 bytes");
    co_await fixture.close();
  });
}

TEST(PushTest, RefusesInvalidKeys) {
  testing::run([](Loop& loop) -> Task<> {
    PushFixture fixture(loop, {});
    auto wanted = fixture.browser("/send/1");
    wanted.keys.p256dh = to_base64url(std::string(65, '\4'));
    EXPECT_EQ(co_await refusal_of(fixture, wanted), "keys.p256dh must be a public key of P-256 in base64url");
    wanted = fixture.browser("/send/1");
    wanted.keys.auth = to_base64url("short");
    EXPECT_EQ(co_await refusal_of(fixture, wanted), "keys.auth must be 16 bytes in base64url");
    wanted = fixture.browser("/send/1");
    wanted.expirationTime = 1000;
    EXPECT_EQ(co_await refusal_of(fixture, wanted), "the subscription has expired");
    wanted.expirationTime = 1e300;
    EXPECT_EQ(co_await refusal_of(fixture, wanted), "expirationTime must be milliseconds since 1970");
    co_await fixture.close();
  });
}

TEST(PushTest, AnotherTokenEndsEverySubscription) {
  testing::run([](Loop& loop) -> Task<> {
    PushFixture fixture(loop, {});
    co_await fixture.push.subscribe(fixture.browser("/send/1"), {});
    fixture.hub.publish({.record = TokenReplaced{fixture.clock.now()}});
    EXPECT_TRUE(fixture.push.list().empty());
    co_await fixture.close();
  });
}

TEST(PushTest, AnotherKeyEndsWhatWasMadeWithTheOldOne) {
  testing::run([](Loop& loop) -> Task<> {
    PushFixture fixture(loop, {});
    const auto old_key = co_await fixture.push.key();
    co_await fixture.push.subscribe(fixture.browser("/send/1"), {});
    co_await fixture.blocking.run(
        [&fixture] { fixture.secrets.set("push_key", to_base64url(EcKey::generate().private_scalar())); });
    Push later(
        loop,
        {fixture.database, fixture.hub, fixture.clock, fixture.blocking, fixture.secrets, fixture.http, fixture.access},
        {});
    EXPECT_NE((co_await later.key()).public_key, old_key.public_key);
    co_await later.stop();
    EXPECT_EQ((co_await fixture.push.key()).public_key, old_key.public_key) << "a running gateway keeps its own";
    co_await fixture.close();
  });
}

}  // namespace
}  // namespace agw
