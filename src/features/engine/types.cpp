#include "features/engine/types.hpp"

#include "base/describe.hpp"

namespace agw {

BOOST_DESCRIBE_STRUCT(ChatMessage, (), (content, threadId, agentId, model, attachments))
constexpr auto rules(Tag<ChatMessage>) {
  return std::tuple{On<&ChatMessage::content>{{.about = "what the person says"}},
                    On<&ChatMessage::threadId>{{.about = "the thread; without it a new one is made"}},
                    On<&ChatMessage::agentId>{{.about = "who answers this message; without it the thread's agent"}},
                    On<&ChatMessage::model>{{.about = "provider/model, or an id of the default provider"}},
                    On<&ChatMessage::attachments>{{.about = "ids of uploaded files"}}};
}
const Description& describe(Tag<ChatMessage>) { return description_of<ChatMessage>("ChatMessage"); }

BOOST_DESCRIBE_STRUCT(StopChat, (), (threadId))
const Description& describe(Tag<StopChat>) { return description_of<StopChat>("StopChat"); }

BOOST_DESCRIBE_STRUCT(ChatStopped, (), (status, threadId))
const Description& describe(Tag<ChatStopped>) { return description_of<ChatStopped>("ChatStopped"); }

BOOST_DESCRIBE_STRUCT(PromptSection, (), (name, tokens, text))
constexpr auto rules(Tag<PromptSection>) {
  return std::tuple{On<&PromptSection::tokens>{{.about = "an estimate, rather too high"}}};
}
const Description& describe(Tag<PromptSection>) { return description_of<PromptSection>("PromptSection"); }

BOOST_DESCRIBE_STRUCT(PromptTool, (), (name, tokens, description, input_schema))
constexpr auto rules(Tag<PromptTool>) {
  return std::tuple{On<&PromptTool::tokens>{{.about = "an estimate, rather too high"}}};
}
const Description& describe(Tag<PromptTool>) { return description_of<PromptTool>("PromptTool"); }

BOOST_DESCRIBE_STRUCT(AgentPrompt, (), (agent, mode, tokens, sections, text, tool_tokens, tools))
constexpr auto rules(Tag<AgentPrompt>) {
  return std::tuple{On<&AgentPrompt::tokens>{{.about = "an estimate of all that is sent: the text and the tools"}},
                    On<&AgentPrompt::text>{{.about = "the sections together, as a model gets them"}},
                    On<&AgentPrompt::tools>{{.about = "those that stage, mode, tools and capabilities leave it"}}};
}
const Description& describe(Tag<AgentPrompt>) { return description_of<AgentPrompt>("AgentPrompt"); }

BOOST_DESCRIBE_STRUCT(AgentPromptQuery, (), (thread_id, mode))
constexpr auto rules(Tag<AgentPromptQuery>) {
  return std::tuple{
      On<&AgentPromptQuery::thread_id>{{.about = "whose mode and project count; without it a new thread's"}},
      On<&AgentPromptQuery::mode>{{.about = "instead of the thread's"}}};
}
const Description& describe(Tag<AgentPromptQuery>) { return description_of<AgentPromptQuery>("AgentPromptQuery"); }

}  // namespace agw
