#include <string>
#include <vector>

#include "api/route.hpp"
#include "features/agents/service.hpp"
#include "features/skills/list_types.hpp"
#include "features/skills/service.hpp"

namespace agw {

namespace {

Task<Response> list_skills(Skills& skills, const Stages& stages, Request& request) {
  const auto found = co_await skills.available(stages.require_agent(request.path("name")));
  std::vector<ListedSkill> rows;
  for (const auto& skill : found) rows.push_back({skill.name, skill.description, skill.directory().string()});
  co_return request.respond(rows);
}

}  // namespace

Routes skill_routes(Skills& skills, const Stages& stages) {
  return {
      get("/agents/:name/skills", "List the skills that an agent could have", list_skills, skills, stages)
          .responds<std::vector<ListedSkill>>()
          .fails_with({400, 404}),
  };
}

}  // namespace agw
