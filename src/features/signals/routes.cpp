#include "api/route.hpp"
#include "features/signals/service.hpp"

namespace agw {

namespace {

Task<Response> list_signals(Signals& signals, Request& request) {
  co_return request.respond(co_await signals.list(request.query<SignalFilter>()));
}

Task<Response> raise_signal(Signals& signals, Request& request) {
  co_return request.respond(co_await signals.raise(request.body<NewSignal>(), request.in_transaction<Signal>()));
}

}  // namespace

Routes signal_routes(Signals& signals) {
  return {
      get("/signals", "List signals, newest first", list_signals, signals)
          .query<SignalFilter>()
          .responds<std::vector<Signal>>()
          .fails_with({400}),
      post("/signals", "Report something that a person should look at", raise_signal, signals)
          .body<NewSignal>()
          .responds<Signal>(201)
          .with_example(
              {{"kind", "backup-late"}, {"message", "The last backup is three days old."}, {"severity", "warning"}})
          .fails_with({400}),
  };
}

}  // namespace agw
