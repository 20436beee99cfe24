#include "base/json/json_values.hpp"
#include "features/proposals/service.hpp"
#include "tools/tool.hpp"

namespace agw {

namespace {

constexpr std::string_view about =
    "Propose a change of a file for a person to decide on: of your soul (agents/<your name>/soul.md), of an extension "
    "(agents/<name>/agent.yaml, jobs/<name>/job.yaml, extensions/<name>.yaml), of knowledge, or of any file of the "
    "project. For what you may not do directly. Nothing changes before the person applies it. Give the whole new "
    "content of the file, and in a sentence why.";

json::object text_schema(std::string_view description) {
  return {{"type", "string"}, {"minLength", 1}, {"description", description}};
}

json::object input_schema() {
  return {
      {"type", "object"},
      {"properties",
       json::object{
           {"type", json::object{{"type", "string"}, {"enum", json::array{"soul", "extension", "file", "knowledge"}}}},
           {"title", text_schema("One line that says what changes.")},
           {"target", text_schema("The file: absolute, or relative to the gateway's data directory.")},
           {"content", json::object{{"type", "string"}, {"description", "All that the file is to say."}}},
           {"reason", json::object{{"type", "string"}, {"description", "Why, for the person who decides."}}}}},
      {"required", json::array{"type", "title", "target", "content"}}};
}

Task<ToolOutcome> propose(const ToolCall& call) {
  const auto reference = co_await call.stage({.type = string_or_empty(call.input, "type"),
                                              .title = string_or_empty(call.input, "title"),
                                              .target = string_or_empty(call.input, "target"),
                                              .content = string_or_empty(call.input, "content"),
                                              .reason = string_or_empty(call.input, "reason")});
  co_return ToolOutcome{.output = "staged as proposal " + reference};
}

}  // namespace

Tool propose_tool() {
  return {.description = {.name = "Propose", .description = std::string(about), .input_schema = input_schema()},
          .effect = ToolEffect::writes,
          .call = propose};
}

}  // namespace agw
