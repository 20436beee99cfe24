#include "features/push/types.hpp"

#include <array>

#include "base/json/describe.hpp"

namespace agw {

std::span<const EnumName> names(Tag<PushKind>) {
  // The names of the events, one of which has a dot. The first name of each kind is stored.
  static constexpr std::array listed{EnumName{"permission-requested", static_cast<int>(PushKind::permission_requested)},
                                     EnumName{"finish", static_cast<int>(PushKind::finish)},
                                     EnumName{"proposal-created", static_cast<int>(PushKind::proposal_created)},
                                     EnumName{"proposal.created", static_cast<int>(PushKind::proposal_created)},
                                     EnumName{"job.failed", static_cast<int>(PushKind::job_failed)},
                                     EnumName{"signal", static_cast<int>(PushKind::signal)},
                                     EnumName{"signals", static_cast<int>(PushKind::signal)}};
  return listed;
}

BOOST_DESCRIBE_STRUCT(PushKey, (), (public_key))
constexpr auto rules(Tag<PushKey>) {
  return std::tuple{RuleFor<&PushKey::public_key>{{.about = "the applicationServerKey, in base64url"}}};
}
const Description& describe(Tag<PushKey>) { return description_of<PushKey>("PushKey"); }

BOOST_DESCRIBE_STRUCT(PushKeys, (), (p256dh, auth))
const Description& describe(Tag<PushKeys>) { return description_of<PushKeys>("PushKeys"); }

BOOST_DESCRIBE_STRUCT(NewPushSubscription, (), (endpoint, expirationTime, keys, kinds, device))
constexpr auto rules(Tag<NewPushSubscription>) {
  return std::tuple{
      RuleFor<&NewPushSubscription::expirationTime>{{.about = "milliseconds since 1970"}},
      RuleFor<&NewPushSubscription::kinds>{{.about = "all when omitted"}},
      RuleFor<&NewPushSubscription::device>{{.about = "what this browser calls itself on its WebSocket"}}};
}
const Description& describe(Tag<NewPushSubscription>) {
  return description_of<NewPushSubscription>("NewPushSubscription");
}

BOOST_DESCRIBE_STRUCT(PushSubscription, (),
                      (id, service, kinds, device, created_at, expires_at, last_sent_at, last_error))
constexpr auto rules(Tag<PushSubscription>) {
  return std::tuple{RuleFor<&PushSubscription::service>{{.about = "the host of the push service"}},
                    RuleFor<&PushSubscription::last_sent_at>{{.about = "since the gateway started"}},
                    RuleFor<&PushSubscription::last_error>{{.about = "why the last notice could not be sent"}}};
}
const Description& describe(Tag<PushSubscription>) { return description_of<PushSubscription>("PushSubscription"); }

BOOST_DESCRIBE_STRUCT(PushTest, (), (sent, status, error))
constexpr auto rules(Tag<PushTest>) {
  return std::tuple{RuleFor<&PushTest::status>{{.about = "of the push service"}},
                    RuleFor<&PushTest::error>{{.about = "why it was not sent"}}};
}
const Description& describe(Tag<PushTest>) { return description_of<PushTest>("PushTest"); }

}  // namespace agw
