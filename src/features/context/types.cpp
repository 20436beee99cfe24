#include "features/context/types.hpp"

#include "base/json/describe.hpp"

namespace agw {

BOOST_DESCRIBE_STRUCT(PromptSection, (), (name, tokens, text))
constexpr auto rules(Tag<PromptSection>) {
  return std::tuple{RuleFor<&PromptSection::tokens>{{.about = "an estimate, rather too high"}}};
}
const Description& describe(Tag<PromptSection>) { return description_of<PromptSection>("PromptSection"); }

BOOST_DESCRIBE_STRUCT(PromptTool, (), (name, tokens, description, input_schema, why))
constexpr auto rules(Tag<PromptTool>) {
  return std::tuple{
      RuleFor<&PromptTool::tokens>{{.about = "an estimate, rather too high"}},
      RuleFor<&PromptTool::why>{{.about = "what a person granted, or that one is asked; null: its stage allows it"}}};
}
const Description& describe(Tag<PromptTool>) { return description_of<PromptTool>("PromptTool"); }

BOOST_DESCRIBE_STRUCT(AgentPrompt, (),
                      (agent, mode, tokens, sections, text, tool_tokens, tools, tools_offered, tools_deferred))
constexpr auto rules(Tag<AgentPrompt>) {
  return std::tuple{RuleFor<&AgentPrompt::tokens>{{.about = "an estimate of all that is sent: the text and the tools"}},
                    RuleFor<&AgentPrompt::text>{{.about = "the sections together, as a model gets them"}},
                    RuleFor<&AgentPrompt::tools>{{.about = "those that stage, mode, tools and capabilities leave it"}},
                    RuleFor<&AgentPrompt::tools_offered>{{.about = "how many of them the model is given whole"}},
                    RuleFor<&AgentPrompt::tools_deferred>{
                        {.about = "how many more it is given the names of, to find them with FindTools"}}};
}
const Description& describe(Tag<AgentPrompt>) { return description_of<AgentPrompt>("AgentPrompt"); }

BOOST_DESCRIBE_STRUCT(AgentPromptQuery, (), (thread_id, mode))
constexpr auto rules(Tag<AgentPromptQuery>) {
  return std::tuple{
      RuleFor<&AgentPromptQuery::thread_id>{{.about = "whose mode and project count; without it a new thread's"}},
      RuleFor<&AgentPromptQuery::mode>{{.about = "instead of the thread's"}}};
}
const Description& describe(Tag<AgentPromptQuery>) { return description_of<AgentPromptQuery>("AgentPromptQuery"); }

}  // namespace agw
