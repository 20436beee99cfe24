#include "api/route.hpp"
#include "features/agents/service.hpp"

namespace agw {

namespace {

std::string agent_in(const Request& request) {
  std::string id_or_name(request.path("name"));
  check_agent_name(id_or_name);
  return id_or_name;
}

Task<Response> show_text(Identities& identities, IdentityFile file, std::optional<std::string> agent,
                         const Request& request) {
  co_return request.respond(IdentityText{co_await identities.read(file, std::move(agent))});
}

Task<Response> write_text(Identities& identities, IdentityFile file, std::optional<std::string> agent,
                          Request& request) {
  auto wanted = request.body<NewIdentityText>();
  co_await identities.write(file, std::move(agent), std::move(wanted.content));
  co_return request.respond(IdentityWritten{});
}

Task<Response> show_base_soul(Identities& identities, Request& request) {
  return show_text(identities, IdentityFile::soul, std::nullopt, request);
}

Task<Response> set_base_soul(Identities& identities, Request& request) {
  return write_text(identities, IdentityFile::soul, std::nullopt, request);
}

Task<Response> show_soul(Identities& identities, Request& request) {
  return show_text(identities, IdentityFile::soul, agent_in(request), request);
}

Task<Response> set_soul(Identities& identities, Request& request) {
  return write_text(identities, IdentityFile::soul, agent_in(request), request);
}

Task<Response> show_shared_profile(Identities& identities, Request& request) {
  return show_text(identities, IdentityFile::user_profile, std::nullopt, request);
}

Task<Response> set_shared_profile(Identities& identities, Request& request) {
  return write_text(identities, IdentityFile::user_profile, std::nullopt, request);
}

Task<Response> show_profile(Identities& identities, Request& request) {
  return show_text(identities, IdentityFile::user_profile, agent_in(request), request);
}

Task<Response> set_profile(Identities& identities, Request& request) {
  return write_text(identities, IdentityFile::user_profile, agent_in(request), request);
}

Task<Response> show_stage(Stages& stages, Request& request) {
  co_return request.respond(co_await stages.show(stages.require_agent(request.path("name"))));
}

Task<Response> set_stage(Stages& stages, Request& request) {
  const auto agent = stages.require_agent(request.path("name"));
  auto changed = co_await stages.change(agent, request.body<StageChange>());
  co_return request.respond(ChangedAgentStage{std::move(changed)});
}

}  // namespace

Routes agent_routes(Identities& identities, Stages& stages) {
  const json::object example{{"content", "Be brief and honest."}};
  return {
      get("/soul", "Show the soul that all agents share", show_base_soul, identities)
          .responds<IdentityText>()
          .fails_with({403, 413}),
      put("/soul", "Write the soul that all agents share", set_base_soul, identities)
          .body<NewIdentityText>()
          .responds<IdentityWritten>()
          .with_example(example)
          .fails_with({400, 403, 413, 507}),
      get("/agents/:name/soul", "Show an agent's own soul", show_soul, identities)
          .responds<IdentityText>()
          .fails_with({400, 403, 413}),
      put("/agents/:name/soul", "Write an agent's own soul", set_soul, identities)
          .body<NewIdentityText>()
          .responds<IdentityWritten>()
          .with_example(example)
          .fails_with({400, 403, 413, 507}),
      get("/user-profile", "Show what all agents know of the user", show_shared_profile, identities)
          .responds<IdentityText>()
          .fails_with({403, 413}),
      put("/user-profile", "Write what all agents know of the user", set_shared_profile, identities)
          .body<NewIdentityText>()
          .responds<IdentityWritten>()
          .with_example(example)
          .fails_with({400, 403, 413, 507}),
      get("/agents/:name/user-profile", "Show what an agent knows of the user instead", show_profile, identities)
          .responds<IdentityText>()
          .fails_with({400, 403, 413}),
      put("/agents/:name/user-profile", "Write what an agent knows of the user instead", set_profile, identities)
          .body<NewIdentityText>()
          .responds<IdentityWritten>()
          .with_example(example)
          .fails_with({400, 403, 413, 507}),
      get("/agents/:name/stage", "Show how far an agent is trusted", show_stage, stages)
          .responds<AgentStage>()
          .fails_with({400, 404}),
      patch("/agents/:name/stage", "Change how far an agent is trusted", set_stage, stages)
          .body<StageChange>()
          .responds<ChangedAgentStage>()
          .fails_with({400, 404, 507}),
  };
}

}  // namespace agw
