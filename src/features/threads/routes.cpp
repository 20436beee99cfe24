#include "features/threads/routes.hpp"

#include <exception>

namespace agw {

namespace {

Answer json_answer(std::string text) {
  Answer answer;
  answer.body = std::move(text);
  return answer;
}

/// What `read` finds in the request. An unknown thread in the path comes before anything wrong in the rest, but it is
/// looked up beforehand only where something is wrong: otherwise the handler's own step finds out.
template <class Read>
auto behind_thread(Threads& threads, Request& request, Read read) -> Task<decltype(read())> {
  std::exception_ptr problem;
  try {
    co_return read();
  } catch (const BadRequest&) {
    problem = std::current_exception();
  }
  co_await threads.require(request.path("id"));
  std::rethrow_exception(problem);
}

template <class T>
Task<T> body_behind_thread(Threads& threads, Request& request) {
  return behind_thread(threads, request, [&request] { return request.body<T>(); });
}

}  // namespace

Routes ThreadRoutes::routes() {
  return {
      get("/threads", "List threads, newest change first", this, &ThreadRoutes::list)
          .query<ThreadFilter>()
          .answers<std::vector<Thread>>(),
      post("/threads", "Create a thread", this, &ThreadRoutes::create)
          .optional_body<NewThread>()
          .answers<Thread>(201)
          .like({{"title", "Plans"}})
          .fails_with({404}),
      get("/threads/:id", "Read a thread and what is being answered on it", this, &ThreadRoutes::read)
          .answers<ThreadDetail>()
          .fails_with({404}),
      patch("/threads/:id", "Change a thread's title, mode or archived", this, &ThreadRoutes::change)
          .body<ThreadChange>()
          .answers<Thread>()
          .like({{"archived", true}})
          .fails_with({404}),
      remove("/threads/:id", "Delete a thread and its turns", this, &ThreadRoutes::remove_thread)
          .answers_nothing()
          .fails_with({404, 409}),
      get("/threads/:id/turns", "List a thread's turns, newest first", this, &ThreadRoutes::turns)
          .query<TurnFilter>()
          .answers<std::vector<Turn>>()
          .fails_with({404}),
      post("/threads/:id/turns", "Insert a turn without calling the agent", this, &ThreadRoutes::add_turn)
          .body<NewTurn>()
          .answers<Turn>(201)
          .like({{"role", "user"}, {"content", "Where were we?"}})
          .fails_with({404}),
      post("/threads/:id/fork", "Copy a thread up to and with a turn", this, &ThreadRoutes::fork)
          .optional_body<ForkPoint>()
          .answers<Thread>(201)
          .fails_with({404}),
      remove("/turns/:id", "Delete a turn", this, &ThreadRoutes::remove_turn).answers_nothing().fails_with({404, 409}),
      get("/turns/search", "Search an agent's turns, best match first", this, &ThreadRoutes::search)
          .query<TurnSearch>()
          .answers<std::vector<FoundTurn>>(),
  };
}

Task<Answer> ThreadRoutes::list(Request& request) {
  co_return json_answer(co_await threads_.list_text(request.query<ThreadFilter>()));
}

Task<Answer> ThreadRoutes::create(Request& request) {
  co_return Answer::of(co_await threads_.create(request.optional_body<NewThread>(), request.along<Thread>(201)), 201);
}

Task<Answer> ThreadRoutes::read(Request& request) {
  co_return Answer::of(co_await threads_.detail(request.path("id")));
}

Task<Answer> ThreadRoutes::change(Request& request) {
  const auto wanted = co_await body_behind_thread<ThreadChange>(threads_, request);
  co_return Answer::of(co_await threads_.change(request.path("id"), wanted));
}

Task<Answer> ThreadRoutes::remove_thread(Request& request) {
  co_await threads_.remove(request.path("id"));
  co_return Answer::no_content();
}

Task<Answer> ThreadRoutes::turns(Request& request) {
  const auto filter = co_await behind_thread(threads_, request, [&request] { return request.query<TurnFilter>(); });
  co_return json_answer(co_await threads_.turns_text(request.path("id"), filter));
}

Task<Answer> ThreadRoutes::add_turn(Request& request) {
  auto wanted = co_await body_behind_thread<NewTurn>(threads_, request);
  AddTurn turn{.thread_id = request.path("id"),
               .role = wanted.role,
               .content = std::move(wanted.content),
               .metadata = std::move(wanted.metadata)};
  co_return Answer::of(co_await threads_.add_turn(std::move(turn), request.along<Turn>(201)), 201);
}

Task<Answer> ThreadRoutes::fork(Request& request) {
  const auto point =
      co_await behind_thread(threads_, request, [&request] { return request.optional_body<ForkPoint>(); });
  co_return Answer::of(co_await threads_.fork(request.path("id"), point, request.along<Thread>(201)), 201);
}

Task<Answer> ThreadRoutes::remove_turn(Request& request) {
  co_await threads_.remove_turn(request.path("id"));
  co_return Answer::no_content();
}

Task<Answer> ThreadRoutes::search(Request& request) {
  co_return json_answer(co_await threads_.search_text(request.query<TurnSearch>()));
}

}  // namespace agw
