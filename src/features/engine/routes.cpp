#include "features/engine/routes.hpp"

#include "features/engine/modes.hpp"

namespace agw {

Routes EngineRoutes::routes() {
  return {
      post("/chat", "Say something to an agent; the answer streams over the WebSocket", this, &EngineRoutes::chat)
          .body<ChatMessage>()
          .answers<Turn>(201)
          .like({{"content", "Hello!"}})
          .fails_with({400, 404, 409, 413, 507})
          .executes(),
      post("/chat/stop", "Stop the answer under way on a thread", this, &EngineRoutes::stop)
          .body<StopChat>()
          .answers<ChatStopped>()
          .fails_with({400, 404, 507})
          .executes(),
      post("/turns/:id/regenerate", "Answer a turn again", this, &EngineRoutes::regenerate)
          .answers<Turn>(201)
          .fails_with({400, 404, 409, 413, 507})
          .executes(),
      get("/threads/:id/events", "The events of a run that a client missed", this, &EngineRoutes::events)
          .query<EventsQuery>()
          .answers<std::vector<json::object>>()
          .fails_with({400, 404}),
      get("/modes", "List the modes that agents work in", this, &EngineRoutes::list_modes)
          .answers<std::vector<ModeDetail>>(),
      get("/agents/:name/prompt", "Show what an agent is told before the conversation", this, &EngineRoutes::prompt)
          .query<AgentPromptQuery>()
          .answers<AgentPrompt>()
          .fails_with({400, 404}),
  };
}

Task<Answer> EngineRoutes::chat(Request& request) {
  co_return Answer::of(co_await engine_.chat(request.body<ChatMessage>(), request.along<Turn>(201)), 201);
}

Task<Answer> EngineRoutes::stop(Request& request) {
  co_return Answer::of(co_await engine_.stop_chat(request.body<StopChat>()));
}

Task<Answer> EngineRoutes::regenerate(Request& request) {
  co_return Answer::of(co_await engine_.regenerate(request.path("id"), request.along<Turn>(201)), 201);
}

Task<Answer> EngineRoutes::events(Request& request) {
  const auto thread = co_await threads_.require(request.path("id"));
  Answer answer;
  answer.body = co_await runs_.events(thread.id, request.query<EventsQuery>());
  co_return answer;
}

Task<Answer> EngineRoutes::list_modes(Request&) { co_return Answer::of(modes()); }

Task<Answer> EngineRoutes::prompt(Request& request) {
  const auto agent = stages_.require_agent(request.path("name"));
  co_return Answer::of(co_await engine_.prompt(agent, request.query<AgentPromptQuery>()));
}

}  // namespace agw
