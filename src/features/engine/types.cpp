#include "features/engine/types.hpp"

#include "base/json/describe.hpp"

namespace agw {

BOOST_DESCRIBE_ENUM(Delivery, queue, steer, interrupt)
std::span<const EnumName> names(Tag<Delivery>) { return enum_names<Delivery>(); }

BOOST_DESCRIBE_STRUCT(ChatMessage, (), (content, threadId, agentId, model, attachments, delivery, clientTools))
constexpr auto rules(Tag<ChatMessage>) {
  return std::tuple{
      RuleFor<&ChatMessage::content>{{.about = "what the person says"}},
      RuleFor<&ChatMessage::threadId>{{.about = "the thread; without it a new one is made"}},
      RuleFor<&ChatMessage::agentId>{{.about = "who answers this message; without it the thread's agent"}},
      RuleFor<&ChatMessage::model>{{.about = "provider/model, or an id of the default provider"}},
      RuleFor<&ChatMessage::attachments>{{.about = "ids of uploaded files"}},
      RuleFor<&ChatMessage::delivery>{
          {.about = "while another message is answered: queue waits for the end (as without it), steer joins that "
                    "answer before the model is asked again, interrupt stops it",
           .has_default = true}},
      RuleFor<&ChatMessage::clientTools>{{.about = "the id that the socket /client-tools gave: the answer may use what "
                                                   "the program lends"}}};
}
const Description& describe(Tag<ChatMessage>) { return description_of<ChatMessage>("ChatMessage"); }

BOOST_DESCRIBE_STRUCT(AnswerAgain, (), (content, model))
constexpr auto rules(Tag<AnswerAgain>) {
  return std::tuple{
      RuleFor<&AnswerAgain::content>{{.about = "the edited question, which replaces the one before"}},
      RuleFor<&AnswerAgain::model>{{.about = "who answers; without it the model that the message named"}}};
}
const Description& describe(Tag<AnswerAgain>) { return description_of<AnswerAgain>("AnswerAgain"); }

BOOST_DESCRIBE_STRUCT(StopChat, (), (threadId))
const Description& describe(Tag<StopChat>) { return description_of<StopChat>("StopChat"); }

BOOST_DESCRIBE_STRUCT(ChatStopped, (), (status, threadId))
const Description& describe(Tag<ChatStopped>) { return description_of<ChatStopped>("ChatStopped"); }

}  // namespace agw
