#include "api/route.hpp"
#include "features/checkpoints/service.hpp"

namespace agw {

namespace {

Task<Response> show_changes(Checkpoints& checkpoints, Request& request) {
  co_return request.respond(co_await checkpoints.changes(request.path("id")));
}

Task<Response> undo_changes(Checkpoints& checkpoints, Request& request) {
  co_await checkpoints.require(request.path("id"));
  co_return request.respond(co_await checkpoints.undo(request.path("id"), request.optional_body<UndoFiles>()));
}

Task<Response> rewind_thread(Checkpoints& checkpoints, Threads& threads, Request& request) {
  co_await threads.require(request.path("id"));
  co_return request.respond(co_await checkpoints.rewind(request.path("id"), request.body<RewindThread>()));
}

}  // namespace

Routes checkpoint_routes(Checkpoints& checkpoints, Threads& threads) {
  return {
      get("/runs/:id/changes", "Show what a run changed in files", show_changes, checkpoints)
          .responds<RunChanges>()
          .fails_with({404}),
      post("/runs/:id/undo", "Undo what a run changed in files", undo_changes, checkpoints)
          .optional_body<UndoFiles>()
          .responds<UndoneFiles>()
          .fails_with({400, 404, 409, 507})
          .executes(),
      post("/threads/:id/rewind", "Copy a thread up to a turn, and undo what its later runs changed in files",
           rewind_thread, checkpoints, threads)
          .body<RewindThread>()
          .responds<RewoundThread>(201)
          .fails_with({400, 404, 409, 507})
          .is_about(About::thread)
          .executes(),
  };
}

}  // namespace agw
