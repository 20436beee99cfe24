#include "features/agents/service.hpp"
#include "tools/tool.hpp"

namespace agw {

namespace {

constexpr auto input_schema = R"({
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
  co_return ToolOutcome{"Remembered. From the next conversation on it stands among your notes."};
}

}  // namespace

Tool remember_tool(Identities& identities) {
  return {
      .description = {"Remember",
                      "Writes a line into your own notes, which you are shown at the beginning of every later "
                      "conversation. For what will help later, such as preferences, decisions, names and dates that "
                      "the person told you, not for what a document says. One fact a line, complete in itself. Never "
                      "a password, a key or a token.",
                      parse_json(input_schema).value()},
      .effect = ToolEffect::writes,
      .call = [&identities](const ToolCall& call) { return remember(identities, call); }};
}

}  // namespace agw
