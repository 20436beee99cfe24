#include "features/signals/service.hpp"

#include "api/error.hpp"
#include "base/id.hpp"
#include "features/events/hub.hpp"
#include "features/signals/store.hpp"
#include "storage/database.hpp"

namespace agw {

Signals::Signals(Database& database, Hub& hub, const Clock& clock, std::chrono::days retention)
    : database_(database), hub_(hub), clock_(clock), retention_(retention) {}

Task<Signal> Signals::raise(NewSignal wanted, InTransaction<Signal> in_transaction) {
  if (wanted.kind.empty()) throw BadRequest("kind is required");
  if (wanted.message.empty()) throw BadRequest("message is required");
  const Signal raised{.id = new_id(),
                      .kind = std::move(wanted.kind),
                      .severity = wanted.severity,
                      .message = std::move(wanted.message),
                      .value = wanted.value,
                      .baseline = wanted.baseline,
                      .created_at = clock_.now()};
  co_await database_.write([raised, in_transaction, oldest = oldest()](Connection& connection) {
    signal_store::purge(connection, oldest);
    signal_store::insert(connection, raised);
    if (in_transaction) in_transaction(connection, raised);
  });
  hub_.publish({.name = "signal." + raised.kind,
                .type = "signal",
                .member = "signal",
                .record = raised,
                .cause = std::move(wanted.cause)});
  co_return raised;
}

Task<std::vector<Signal>> Signals::list(SignalFilter filter) {
  co_return co_await database_.read([filter = std::move(filter), oldest = oldest()](Connection& connection) {
    return signal_store::list(connection, filter, oldest);
  });
}

}  // namespace agw
