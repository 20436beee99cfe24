#include <algorithm>
#include <exception>
#include <iterator>

#include "api/body.hpp"
#include "api/error.hpp"
#include "api/route.hpp"
#include "features/secrets/service.hpp"
#include "features/threads/service.hpp"
#include "features/threads/transfer_store.hpp"
#include "io/process/blocking.hpp"

namespace agw {

namespace {

/// Shorter secret values occur in many texts by chance.
constexpr std::size_t min_hidden_length = 4;
/// The characters that a backslash may escape (CommonMark, section 2.4).
constexpr const char* all_punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

Response json_response(std::string text) {
  Response response;
  response.body = std::move(text);
  return response;
}

/// Returns the result of `read`. An unknown thread in the path is reported before an invalid query or body, but the
/// thread is only looked up if one of these is invalid: otherwise the handler's own query reports it.
template <class Read>
auto unless_unknown_thread(Threads& threads, Request& request, Read read) -> Task<decltype(read())> {
  std::exception_ptr problem;
  try {
    co_return co_await work_on_body(request, std::move(read));
  } catch (const BadRequest&) {
    problem = std::current_exception();
  }
  co_await threads.require(request.path("id"));
  std::rethrow_exception(problem);
}

template <class T>
Task<T> body_unless_unknown_thread(Threads& threads, Request& request) {
  return unless_unknown_thread(threads, request, [&request] { return request.body<T>(); });
}

Task<Response> list_threads(Threads& threads, Request& request) {
  co_return json_response(co_await threads.list_text(request.query<ThreadFilter>()));
}

Task<Response> create_thread(Threads& threads, Request& request) {
  co_return request.respond(
      co_await threads.create(request.optional_body<NewThread>(), request.in_transaction<Thread>()));
}

Task<Response> show_thread(Threads& threads, Request& request) {
  co_return request.respond(co_await threads.detail(request.path("id")));
}

Task<Response> change_thread(Threads& threads, Request& request) {
  const auto wanted = co_await body_unless_unknown_thread<ThreadChange>(threads, request);
  co_return request.respond(co_await threads.change(request.path("id"), wanted));
}

Task<Response> delete_thread(Threads& threads, Request& request) {
  co_await threads.remove(request.path("id"));
  co_return Response::no_content();
}

Task<Response> list_turns(Threads& threads, Request& request) {
  const auto filter =
      co_await unless_unknown_thread(threads, request, [&request] { return request.query<TurnFilter>(); });
  co_return json_response(co_await threads.turns_text(request.path("id"), filter));
}

Task<Response> create_turn(Threads& threads, Request& request) {
  auto wanted = co_await body_unless_unknown_thread<NewTurn>(threads, request);
  AddTurn turn{.thread_id = request.path("id"),
               .role = wanted.role,
               .content = std::move(wanted.content),
               .metadata = std::move(wanted.metadata)};
  const auto made = co_await threads.add_turn(std::move(turn), request.in_transaction<Turn>());
  co_return co_await respond_in_kind(request, made);
}

/// Escapes the characters in `before`, as a model may do in Markdown, where the backslashes are not shown.
std::string with_backslashes(std::string_view value, std::string_view before) {
  std::string escaped;
  for (const char c : value) {
    if (before.find(c) != before.npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

/// The values of all secrets, plain and with Markdown escapes. Blocks.
FilledSecrets values_of(const Secrets& secrets) {
  FilledSecrets values;
  try {
    for (const auto& name : secrets.names()) {
      const auto value = secrets.find(name);
      if (!value || value->size() < min_hidden_length) continue;
      values.add(*value);
      for (const std::string_view before : {"_", "*_", "*_~", all_punctuation}) {
        if (auto escaped = with_backslashes(*value, before); escaped != *value) values.add(escaped);
      }
    }
  } catch (const SecretError& error) {
    throw BadRequest(error.what());
  }
  return values;
}

Task<Response> show_transcript(Threads& threads, const Secrets& secrets, BlockingPool& blocking, Request& request) {
  const auto query =
      co_await unless_unknown_thread(threads, request, [&request] { return request.query<TranscriptQuery>(); });
  FilledSecrets hidden;
  if (query.shared) hidden = co_await blocking.run([&secrets] { return values_of(secrets); });
  co_return json_response(co_await threads.transcript_text(request.path("id"), query, std::move(hidden)));
}

Task<Response> import_threads(Threads& threads, Request& request) {
  auto checked = co_await work_on_body(request, [&request, now = threads.now()] {
    return transfer_store::check_import(request.body<ImportBatch>(), now);
  });
  co_return request.respond(co_await threads.import(std::move(checked)));
}

Task<Response> fork_thread(Threads& threads, Request& request) {
  const auto point =
      co_await unless_unknown_thread(threads, request, [&request] { return request.optional_body<ForkPoint>(); });
  co_return request.respond(co_await threads.fork(request.path("id"), point, request.in_transaction<Thread>()));
}

Task<Response> search_turns(Threads& threads, Request& request) {
  co_return json_response(co_await threads.search_text(request.query<TurnSearch>()));
}

Routes routes_of_threads(Threads& threads) {
  return {
      get("/threads", "List threads, newest change first", list_threads, threads)
          .query<ThreadFilter>()
          .responds<std::vector<Thread>>(),
      post("/threads", "Create a thread", create_thread, threads)
          .optional_body<NewThread>()
          .responds<Thread>(201)
          .with_example({{"title", "Plans"}})
          .fails_with({404}),
      get("/threads/:id", "Read a thread and what is being answered on it", show_thread, threads)
          .responds<ThreadDetail>()
          .fails_with({404})
          .is_about(About::thread),
      patch("/threads/:id", "Change a thread's title, mode, archived or pinned", change_thread, threads)
          .body<ThreadChange>()
          .responds<Thread>()
          .with_example({{"archived", true}})
          .fails_with({404}),
      remove("/threads/:id", "Delete a thread and its turns", delete_thread, threads)
          .responds_no_content()
          .fails_with({404, 409})
          .is_about(About::thread),
  };
}

Routes routes_of_turns(Threads& threads, const Secrets& secrets, BlockingPool& blocking) {
  return {
      get("/threads/:id/turns", "List a thread's turns, newest first", list_turns, threads)
          .query<TurnFilter>()
          .responds<std::vector<Turn>>()
          .fails_with({404}),
      post("/threads/:id/turns", "Insert a turn without calling the agent", create_turn, threads)
          .body<NewTurn>()
          .responds<Turn>(201)
          .with_example({{"role", "user"}, {"content", "Where were we?"}})
          .fails_with({404}),
      post("/threads/:id/fork", "Copy a thread up to and with a turn", fork_thread, threads)
          .optional_body<ForkPoint>()
          .responds<Thread>(201)
          .fails_with({404}),
      get("/threads/:id/transcript", "Read a thread's turns, oldest first, page by page", show_transcript, threads,
          secrets, blocking)
          .query<TranscriptQuery>()
          .responds<Transcript>()
          .fails_with({404}),
      post("/import", "Import threads and turns of another program; repeating it changes nothing", import_threads,
           threads)
          .body<ImportBatch>()
          .responds<ImportResult>()
          .with_example(
              {{"source", "notes"}, {"threads", json::array{json::object{{"key", "1"}, {"turns", json::array{}}}}}})
          .fails_with({404, 409}),
      get("/turns/search", "Search an agent's turns, best match first", search_turns, threads)
          .query<TurnSearch>()
          .responds<std::vector<FoundTurn>>(),
  };
}

}  // namespace

Routes thread_routes(Threads& threads, const Secrets& secrets, BlockingPool& blocking) {
  auto routes = routes_of_threads(threads);
  std::ranges::move(routes_of_turns(threads, secrets, blocking), std::back_inserter(routes));
  return routes;
}

}  // namespace agw
