#include "features/events/types.hpp"

#include "base/json/describe.hpp"

namespace agw {

BOOST_DESCRIBE_STRUCT(SubscriptionMessage, (), (threadId, threadIds, lists, approvals, resume, device, visible))
constexpr auto rules(Tag<SubscriptionMessage>) {
  return std::tuple{RuleFor<&SubscriptionMessage::threadIds>{{.wrong_type = "threadIds must be an array of strings"}},
                    RuleFor<&SubscriptionMessage::lists>{{.about = "what changes the lists of all threads"}},
                    RuleFor<&SubscriptionMessage::approvals>{
                        {.about = "a person is here who decides what agents ask on the threads that it hears"}},
                    RuleFor<&SubscriptionMessage::resume>{{.about = "the answer names the active runs too"}},
                    RuleFor<&SubscriptionMessage::device>{{.about = "what the client's device calls itself"}},
                    RuleFor<&SubscriptionMessage::visible>{
                        {.about = "whether a person sees the client: then nothing is pushed to its device"}}};
}
const Description& describe(Tag<SubscriptionMessage>) {
  return description_of<SubscriptionMessage>("SubscriptionMessage");
}

BOOST_DESCRIBE_STRUCT(EventsMissed, (), (why))
const Description& describe(Tag<EventsMissed>) { return description_of<EventsMissed>("EventsMissed"); }

}  // namespace agw
