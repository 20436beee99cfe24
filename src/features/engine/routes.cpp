#include <utility>

#include "api/body.hpp"
#include "api/route.hpp"
#include "features/client_tools/service.hpp"
#include "features/engine/service.hpp"
#include "features/permissions/service.hpp"

namespace agw {

namespace {

Task<Response> start_chat(Engine& engine, ClientTools& client_tools, Request& request) {
  auto message = co_await long_body<ChatMessage>(request);
  auto client = message.clientTools ? client_tools.lend(*message.clientTools) : nullptr;
  const auto turn = co_await engine.chat(std::move(message), request.in_transaction<Turn>(), std::move(client));
  co_return co_await respond_in_kind(request, turn);
}

Task<Response> stop_chat(Engine& engine, Request& request) {
  co_return request.respond(co_await engine.stop_chat(request.body<StopChat>()));
}

Task<Response> regenerate_turn(Engine& engine, Threads& threads, Request& request) {
  co_await threads.require_turn(request.path("id"));
  co_return request.respond(co_await engine.regenerate(request.path("id"), request.optional_body<AnswerAgain>(),
                                                       request.in_transaction<Turn>()));
}

Task<Response> delete_turn(Engine& engine, Request& request) {
  co_await engine.remove_turn(request.path("id"));
  co_return Response::no_content();
}

Task<Response> list_events(Threads& threads, Runs& runs, Request& request) {
  const auto thread = co_await threads.require(request.path("id"));
  Response response;
  response.body = co_await runs.events(thread.id, request.query<EventsQuery>());
  co_return response;
}

Task<Response> list_modes(Request& request) { co_return request.respond(modes()); }

Task<Response> show_prompt(Engine& engine, Stages& stages, Request& request) {
  const auto agent = stages.require_agent(request.path("name"));
  co_return request.respond(co_await engine.prompt(agent, request.query<AgentPromptQuery>()));
}

}  // namespace

Routes chat_routes(Engine& engine, ClientTools& client_tools, Threads& threads, Runs& runs, Stages& stages) {
  return {
      post("/chat", "Say something to an agent; the answer streams over the WebSocket", start_chat, engine,
           client_tools)
          .body<ChatMessage>()
          .responds<Turn>(201)
          .with_example({{"content", "Hello!"}})
          .fails_with({400, 404, 409, 413, 507})
          .is_about(About::thread_in_body)
          .begins_a_run(),
      web_socket("/client-tools", "Lend tools and open texts to the answers that a program asks for",
                 &ClientTools::serve, client_tools),
      post("/chat/stop", "Stop the answer in progress on a thread", stop_chat, engine)
          .body<StopChat>()
          .responds<ChatStopped>()
          .fails_with({400, 404, 507})
          .is_about(About::thread_in_body)
          .executes(),
      post("/turns/:id/regenerate", "Answer a turn again, also an edited one", regenerate_turn, engine, threads)
          .optional_body<AnswerAgain>()
          .responds<Turn>(201)
          .fails_with({400, 404, 409, 413, 507})
          .is_about(About::turn)
          .begins_a_run(),
      remove("/turns/:id", "Delete a turn", delete_turn, engine)
          .responds_no_content()
          .fails_with({404, 409})
          .is_about(About::turn),
      get("/threads/:id/events", "The events of a run that a client missed", list_events, threads, runs)
          .query<EventsQuery>()
          .responds<std::vector<json::object>>()
          .fails_with({400, 404})
          .is_about(About::thread),
      get("/modes", "List the modes that agents work in", list_modes).responds<std::vector<ModeDetail>>(),
      get("/agents/:name/prompt", "Show what an agent reads before the conversation", show_prompt, engine, stages)
          .query<AgentPromptQuery>()
          .responds<AgentPrompt>()
          .fails_with({400, 404}),
  };
}

}  // namespace agw
