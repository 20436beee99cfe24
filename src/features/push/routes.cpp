#include "api/route.hpp"
#include "features/push/service.hpp"

namespace agw {

namespace {

Task<Response> show_key(Push& push, Request& request) { co_return request.respond(co_await push.key()); }

Response list_subscriptions(Push& push, const Request& request) { return request.respond(push.list()); }

/// The subscription may also be the single member `subscription`, next to `kinds` and `device`.
json::object with_members_of_subscription(json::object body) {
  auto* wrapped = body.if_contains("subscription");
  if (!wrapped || !wrapped->is_object()) return body;
  auto members = std::move(wrapped->get_object());
  for (const auto* name : {"kinds", "device"}) {
    if (auto* member = body.if_contains(name)) members[name] = std::move(*member);
  }
  return members;
}

Task<Response> subscribe(Push& push, Request& request) {
  Problems problems;
  NewPushSubscription wanted;
  const auto body = with_members_of_subscription(request.body_object());
  read_described(body, describe(Tag<NewPushSubscription>{}), &wanted, "", problems);
  if (!problems.empty()) throw BadRequest(problems.front().message);
  co_return request.respond(co_await push.subscribe(std::move(wanted), request.in_transaction<PushSubscription>()));
}

Task<Response> unsubscribe(Push& push, Request& request) {
  co_await push.unsubscribe(request.path("id"));
  co_return Response::no_content();
}

Task<Response> test_subscription(Push& push, Request& request) {
  co_return request.respond(co_await push.test(request.path("id")));
}

}  // namespace

Routes push_routes(Push& push) {
  return {
      get("/push/key", "Show the key that browsers subscribe with", show_key, push)
          .responds<PushKey>()
          .fails_with({409}),
      get("/push/subscriptions", "List the browsers that get notices while their page is closed", list_subscriptions,
          push)
          .responds<std::vector<PushSubscription>>(),
      post("/push/subscriptions", "Send notices to a browser while its page is closed", subscribe, push)
          .body<NewPushSubscription>()
          .responds<PushSubscription>(201)
          .with_example(
              {{"endpoint", "https://push.example.net/send/1"},
               {"keys",
                {{"p256dh", "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"},
                 {"auth", "BTBZMqHH6r4Tts7J_aSIgg"}}},
               {"kinds", {"permission-requested", "finish"}}})
          .fails_with({400, 409}),
      remove("/push/subscriptions/:id", "Stop sending notices to a browser", unsubscribe, push)
          .responds_no_content()
          .fails_with({404}),
      post("/push/subscriptions/:id/test", "Send a notice to a browser, to see that it arrives", test_subscription,
           push)
          .responds<PushTest>()
          .executes()
          .fails_with({404}),
  };
}

}  // namespace agw
