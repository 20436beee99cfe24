#include "features/agents/routes.hpp"

namespace agw {

namespace {

std::string agent_in(const Request& request) {
  std::string id_or_name(request.path("name"));
  check_agent_name(id_or_name);
  return id_or_name;
}

}  // namespace

Routes AgentRoutes::routes() {
  const json::object example{{"content", "Be brief and honest."}};
  return {
      get("/soul", "Show the soul that all agents share", this, &AgentRoutes::base_soul)
          .answers<IdentityText>()
          .fails_with({403, 413}),
      put("/soul", "Write the soul that all agents share", this, &AgentRoutes::set_base_soul)
          .body<NewIdentityText>()
          .answers<IdentityWritten>()
          .like(example)
          .fails_with({400, 403, 413, 507}),
      get("/agents/:name/soul", "Show an agent's own soul", this, &AgentRoutes::soul)
          .answers<IdentityText>()
          .fails_with({400, 403, 413}),
      put("/agents/:name/soul", "Write an agent's own soul", this, &AgentRoutes::set_soul)
          .body<NewIdentityText>()
          .answers<IdentityWritten>()
          .like(example)
          .fails_with({400, 403, 413, 507}),
      get("/user-profile", "Show what all agents know of the user", this, &AgentRoutes::shared_profile)
          .answers<IdentityText>()
          .fails_with({403, 413}),
      put("/user-profile", "Write what all agents know of the user", this, &AgentRoutes::set_shared_profile)
          .body<NewIdentityText>()
          .answers<IdentityWritten>()
          .like(example)
          .fails_with({400, 403, 413, 507}),
      get("/agents/:name/user-profile", "Show what an agent knows of the user instead", this, &AgentRoutes::profile)
          .answers<IdentityText>()
          .fails_with({400, 403, 413}),
      put("/agents/:name/user-profile", "Write what an agent knows of the user instead", this,
          &AgentRoutes::set_profile)
          .body<NewIdentityText>()
          .answers<IdentityWritten>()
          .like(example)
          .fails_with({400, 403, 413, 507}),
      get("/agents/:name/stage", "Show how far an agent is trusted", this, &AgentRoutes::stage)
          .answers<AgentStage>()
          .fails_with({400, 404}),
      patch("/agents/:name/stage", "Change how far an agent is trusted", this, &AgentRoutes::set_stage)
          .body<StageChange>()
          .answers<ChangedAgentStage>()
          .fails_with({400, 404, 507}),
  };
}

Task<Answer> AgentRoutes::base_soul(Request&) { return show(IdentityFile::soul, std::nullopt); }

Task<Answer> AgentRoutes::set_base_soul(Request& request) { return store(IdentityFile::soul, std::nullopt, request); }

Task<Answer> AgentRoutes::soul(Request& request) { return show(IdentityFile::soul, agent_in(request)); }

Task<Answer> AgentRoutes::set_soul(Request& request) { return store(IdentityFile::soul, agent_in(request), request); }

Task<Answer> AgentRoutes::shared_profile(Request&) { return show(IdentityFile::user_profile, std::nullopt); }

Task<Answer> AgentRoutes::set_shared_profile(Request& request) {
  return store(IdentityFile::user_profile, std::nullopt, request);
}

Task<Answer> AgentRoutes::profile(Request& request) { return show(IdentityFile::user_profile, agent_in(request)); }

Task<Answer> AgentRoutes::set_profile(Request& request) {
  return store(IdentityFile::user_profile, agent_in(request), request);
}

Task<Answer> AgentRoutes::stage(Request& request) {
  co_return Answer::of(co_await stages_.show(stages_.require_agent(request.path("name"))));
}

Task<Answer> AgentRoutes::set_stage(Request& request) {
  const auto agent = stages_.require_agent(request.path("name"));
  auto changed = co_await stages_.change(agent, request.body<StageChange>());
  co_return Answer::of(ChangedAgentStage{std::move(changed)});
}

Task<Answer> AgentRoutes::show(IdentityFile file, std::optional<std::string> agent) {
  co_return Answer::of(IdentityText{co_await identities_.read(file, std::move(agent))});
}

Task<Answer> AgentRoutes::store(IdentityFile file, std::optional<std::string> agent, Request& request) {
  auto wanted = request.body<NewIdentityText>();
  co_await identities_.write(file, std::move(agent), std::move(wanted.content));
  co_return Answer::of(IdentityWritten{});
}

}  // namespace agw
