#include "features/engine/run_requests.hpp"

#include <utility>

#include "base/async/assert.hpp"

namespace agw {

void RunRequests::add(RunRequest run_request) {
  AGW_ASSERT(run_request.observer);
  const auto id = run_request.run_id;
  AGW_ASSERT(!id.empty());
  AGW_ASSERT(!run_requests_.contains(id));
  run_requests_[id] = std::make_shared<RunRequest>(std::move(run_request));
}

std::shared_ptr<const RunRequest> RunRequests::find(std::string_view run_id) const {
  const auto found = run_requests_.find(run_id);
  return found == run_requests_.end() ? nullptr : found->second;
}

void RunRequests::take_failure(const Run& run, RunOutcome& outcome) {
  const auto failure = failures_.extract(run.id);
  if (!failure || !outcome.stopped) return;
  AGW_ASSERT(outcome.error.empty());
  outcome.stopped = false;
  outcome.finish_reason = "error";
  outcome.error = failure.mapped();
}

Task<> RunRequests::notify_started(ActiveRunPointer active) const {
  AGW_ASSERT(active->started);
  const auto run_request = of(active->run);
  if (run_request) co_await run_request->observer->started();
}

Runs::AtEnd RunRequests::ending_of(const Run& run, const RunOutcome& outcome) const {
  const auto run_request = of(run);
  return run_request ? run_request->observer->ending(outcome) : Runs::AtEnd();
}

void RunRequests::notify_ended(const Run& run) {
  const auto removed = run_requests_.extract(run.id);
  if (removed) removed.mapped()->observer->ended();
}

}  // namespace agw
