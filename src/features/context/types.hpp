#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "features/threads/types.hpp"

namespace agw {

/// The member of a user turn's metadata with the text that its command expanded to. Later requests repeat that text:
/// the model keeps its instructions, and services what they have cached of the conversation.
inline constexpr std::string_view expanded_member = "expanded";

/// A part of an agent's system prompt.
struct PromptSection {
  std::string name;
  std::int64_t tokens = 0;  ///< estimated
  std::string text;
};
const Description& describe(Tag<PromptSection>);

/// A tool that an agent is offered.
struct PromptTool {
  std::string name;
  std::int64_t tokens = 0;  ///< estimated
  std::string description;
  json::object input_schema;
  std::optional<std::string> why;  ///< if the stage alone does not allow it: the grants, or that a person is asked
};
const Description& describe(Tag<PromptTool>);

/// `GET /agents/:name/prompt`: the prompt that a run would send.
struct AgentPrompt {
  std::string agent;  ///< its name
  ThreadMode mode{};
  std::int64_t tokens = 0;  ///< estimated, text and tools
  std::vector<PromptSection> sections;
  std::string text;
  std::int64_t tool_tokens = 0;  ///< estimated, tools only
  std::vector<PromptTool> tools;
  std::int64_t tools_offered = 0;   ///< how many `tools` there are
  std::int64_t tools_deferred = 0;  ///< how many more the agent can find with FindTools
};
const Description& describe(Tag<AgentPrompt>);

/// The query of `GET /agents/:name/prompt`.
struct AgentPromptQuery {
  std::optional<std::string> thread_id;  ///< the thread whose mode and project are used; none: a new thread
  std::optional<ThreadMode> mode;        ///< instead of the thread's
};
const Description& describe(Tag<AgentPromptQuery>);

}  // namespace agw
