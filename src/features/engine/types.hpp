#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "features/threads/types.hpp"

namespace agw {

/// The body of `POST /chat`.
struct ChatMessage {
  std::string content;
  std::optional<std::string> threadId;                  ///< none: a new thread
  std::optional<std::string> agentId;                   ///< id or name; none: the thread's agent
  std::optional<std::string> model;                     ///< `provider/model`, or an id of the default provider
  std::optional<std::vector<std::string>> attachments;  ///< ids that `POST /files` answered
};
const Description& describe(Tag<ChatMessage>);

/// The body of `POST /chat/stop`.
struct StopChat {
  std::string threadId;
};
const Description& describe(Tag<StopChat>);

/// Its answer: `stopped`, or `idle` where nothing was running.
struct ChatStopped {
  std::string status;
  std::string threadId;
};
const Description& describe(Tag<ChatStopped>);

/// A part of what an agent is told before the conversation.
struct PromptSection {
  std::string name;
  std::int64_t tokens = 0;  ///< estimated
  std::string text;
};
const Description& describe(Tag<PromptSection>);

/// A tool that an agent is told of before the conversation.
struct PromptTool {
  std::string name;
  std::int64_t tokens = 0;  ///< estimated
  std::string description;
  json::object input_schema;
};
const Description& describe(Tag<PromptTool>);

/// `GET /agents/:name/prompt`: what would be sent.
struct AgentPrompt {
  std::string agent;  ///< its name
  ThreadMode mode{};
  std::int64_t tokens = 0;  ///< estimated, of the text and the tools
  std::vector<PromptSection> sections;
  std::string text;
  std::int64_t tool_tokens = 0;  ///< estimated, of the tools alone
  std::vector<PromptTool> tools;
};
const Description& describe(Tag<AgentPrompt>);

/// The query of `GET /agents/:name/prompt`.
struct AgentPromptQuery {
  std::optional<std::string> thread_id;  ///< whose mode and project count; none: a new thread's
  std::optional<ThreadMode> mode;        ///< instead of the thread's
};
const Description& describe(Tag<AgentPromptQuery>);

}  // namespace agw
