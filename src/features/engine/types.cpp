#include "features/engine/types.hpp"

#include "base/describe.hpp"

namespace agw {

BOOST_DESCRIBE_STRUCT(ChatMessage, (), (content, threadId, agentId, model))
constexpr auto rules(Tag<ChatMessage>) {
  return std::tuple{On<&ChatMessage::content>{{.about = "what the person says"}},
                    On<&ChatMessage::threadId>{{.about = "the thread; without it a new one is made"}},
                    On<&ChatMessage::agentId>{{.about = "who answers this message; without it the thread's agent"}},
                    On<&ChatMessage::model>{{.about = "provider/model, or an id of the default provider"}}};
}
const Description& describe(Tag<ChatMessage>) { return description_of<ChatMessage>("ChatMessage"); }

BOOST_DESCRIBE_STRUCT(StopChat, (), (threadId))
const Description& describe(Tag<StopChat>) { return description_of<StopChat>("StopChat"); }

BOOST_DESCRIBE_STRUCT(ChatStopped, (), (status, threadId))
const Description& describe(Tag<ChatStopped>) { return description_of<ChatStopped>("ChatStopped"); }

}  // namespace agw
