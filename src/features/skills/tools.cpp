#include <algorithm>

#include <fmt/format.h>

#include "api/error.hpp"
#include "base/json/json_values.hpp"
#include "features/extensions/service.hpp"
#include "features/projects/service.hpp"
#include "features/skills/service.hpp"
#include "tools/tool.hpp"

namespace agw {

namespace {

constexpr auto input_schema = R"({
  "type": "object",
  "properties": {
    "name": {"type": "string", "description": "a skill's name, as listed"},
    "file": {"type": "string", "description": "a file of the skill's folder, instead of its instructions"}
  },
  "required": ["name"],
  "additionalProperties": false
})";

Task<ToolOutcome> read(Skills& skills, Projects& projects, ExtensionPointer agent,
                       std::optional<std::string> project_id, std::string name, std::optional<std::string> file) {
  const auto in = project_id ? co_await projects.verified(*project_id) : nullptr;
  const auto project = in && in->trusted ? std::optional<std::filesystem::path>(in->path) : std::nullopt;
  auto known = agent ? co_await skills.of(agent, project) : std::vector<Skill>();
  const auto found = std::ranges::find(known, name, &Skill::name);
  if (found == known.end()) throw NotFound(fmt::format("there is no skill {}", name));
  co_return ToolOutcome{co_await skills.read(std::move(*found), std::move(file))};
}

}  // namespace

Tool read_skill_tool(Skills& skills, const Extensions& extensions, Projects& projects) {
  return {.description = {std::string(read_skill_tool_name),
                          "Loads the instructions of a skill, or another file in its folder. Do it before work that "
                          "the skill describes.",
                          parse_json(input_schema).value()},
          .call = [&](const ToolCall& call) {
            const auto file = string_member(call.input, "file");
            return read(skills, projects, extensions.find(call.run.agent_id), call.run.project_id,
                        std::string(call.input.at("name").as_string()),
                        file ? std::optional<std::string>(*file) : std::nullopt);
          }};
}

}  // namespace agw
