#include "features/agents/service.hpp"
#include "tools/tool.hpp"

namespace agw {

namespace {

constexpr auto remember_schema = R"({
  "type": "object",
  "properties": {
    "text": {"type": "string", "minLength": 1, "maxLength": 2000,
             "description": "one fact, in words that will still make sense in a month"}
  },
  "required": ["text"],
  "additionalProperties": false
})";

Task<ToolOutcome> remember(Identities& identities, const ToolCall& call) {
  co_await identities.remember(call.run.agent_id, std::string(call.input.at("text").as_string()));
  co_return ToolOutcome{"Remembered. Your notes contain it from the next conversation on."};
}

}  // namespace

Tool remember_tool(Identities& identities) {
  return {
      .description =
          {"Remember",
           "Adds a line to your own notes, which you see at the beginning of every later "
           "conversation. Use it for facts that will help later, such as preferences, decisions, names and dates that "
           "the person told you, not for the contents of documents. One fact per line, complete in itself. Never "
           "a password, a key or a token.",
           parse_json(remember_schema).value()},
      .effect = ToolEffect::writes,
      .call = [&identities](const ToolCall& call) { return remember(identities, call); }};
}

}  // namespace agw
