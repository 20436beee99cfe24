#include "features/signals/routes.hpp"

namespace agw {

Routes SignalRoutes::routes() {
  return {
      get("/signals", "List signals, newest first", this, &SignalRoutes::list)
          .query<SignalFilter>()
          .answers<std::vector<Signal>>()
          .fails_with({400}),
      post("/signals", "Report something that a person should look at", this, &SignalRoutes::raise)
          .body<NewSignal>()
          .answers<Signal>(201)
          .like({{"kind", "backup-late"}, {"message", "The last backup is three days old."}, {"severity", "warning"}})
          .fails_with({400}),
  };
}

Task<Answer> SignalRoutes::list(Request& request) {
  co_return Answer::of(co_await signals_.list(request.query<SignalFilter>()));
}

Task<Answer> SignalRoutes::raise(Request& request) {
  co_return Answer::of(co_await signals_.raise(request.body<NewSignal>(), request.along<Signal>(201)), 201);
}

}  // namespace agw
