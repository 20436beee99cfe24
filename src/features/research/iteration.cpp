// One iteration: measure the asset, let the agent change it, check, measure again, decide, record.
// docs/design/proposals-and-research.md, "An iteration of research".
//
// The *asset* is a person's file, and is changed in place. The *original* is its bytes and mode before the iteration.
// The *trace* (AssetTrace) is the content that the iteration last left in it, and whether someone else may have written
// since.
//
// The invariant: when an iteration ends, the asset has its original content, unless it got better and the agent is
// trusted to keep the change. A version that someone else may have written is never lost.
//
//   1. `prepare`: read the original and commit it to the row of the iteration. Nothing touches the asset before that.
//   2. `measure`, `change`, `passes_checks`, `measure` again. Each step that may write to the asset announces it, and
//      the resulting content is recorded after the step.
//   3. `decide`: compare the two values. An improvement stays if the agent is trusted. Otherwise the original is
//      restored, and the new version becomes a proposal.
//   4. `end`: restore the original unless the change stays, trying five times; then record the experiment and the
//      costs, and remove the row, in one transaction.
//
// Restoring compares the file with the trace. Content that the iteration left is replaced. Content that only someone
// else can have written stays, and the verdict is a crash. If the author is uncertain, the file is moved to trash/,
// then replaced.
//
// A kill
//   - before 1 is committed: the row has no original, and the asset was not touched.
//   - after it: the next start restores the original and moves other contents to trash/, because their author is
//     unknown. It does so even if the change was accepted: a result counts only once step 4 is committed. The thread is
//     archived then, as at the end of each iteration.
//   - after 4: nothing remains to be done.
// If the file cannot be restored, the experiment is recorded and the row stays, so every start tries again.

#include "features/research/iteration.hpp"

#include <fmt/format.h>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "base/id.hpp"
#include "base/log.hpp"
#include "storage/database.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr auto pause_before_trying_again = 1s;
constexpr int times_to_try = 5;
constexpr auto checks_limit = 300s;

bool is_better(const Metric& before, const Metric& after) {
  return before.higher_is_better ? after.value > before.value : after.value < before.value;
}

/// The type of a proposal for the file.
std::string proposal_type(const std::filesystem::path& asset) {
  const auto name = asset.filename();
  if (name == "soul.md") return "soul";
  if (name == "agent.yaml" || name == "job.yaml" || asset.parent_path().filename() == "extensions") return "extension";
  const bool is_knowledge = std::find(asset.begin(), asset.end(), "knowledge") != asset.end();
  return is_knowledge ? "knowledge" : "file";
}

/// Tries several times. Returns the last problem; empty on success.
Task<std::string> retry_until_done(std::function<Task<>()> work) {
  StopSource never;
  std::string problem;
  for (int time = 0; time < times_to_try; ++time) {
    if (time > 0) co_await pause(never, pause_before_trying_again);
    try {
      co_await work();
      co_return std::string();
    } catch (const std::exception& error) {
      problem = error.what();
    }
  }
  co_return problem;
}

}  // namespace

Iteration::Iteration(const IterationServices& services, Scripts& scripts, IterationOrder order)
    : services_(services),
      scripts_(scripts),
      order_(std::move(order)),
      work_{.run_id = new_id(),
            .delegating_run_id = order_.ordering_run_id,
            .agent_id = order_.agent->id,
            .thread_id = {}},
      asset_(services_.blocking, order_.config.asset_path, order_.kept),
      result_{.id = new_id(), .domain = order_.config.domain, .verdict = Verdict::crash, .iteration_id = order_.id} {}

Task<> Iteration::run() {
  AGW_ASSERT(began_ == std::chrono::steady_clock::time_point());
  began_ = std::chrono::steady_clock::now();
  try {
    if (!stop_.requested()) co_await attempt();
  } catch (const ApiError& error) {
    set_verdict(Verdict::crash, error.error());
  } catch (const std::exception& error) {
    set_verdict(Verdict::crash, error.what());
  }
  if (stop_.requested() && !stays_) set_verdict(Verdict::crash, "it was stopped");
  if (result_.verdict == Verdict::crash) result_.value = result_.delta = std::nullopt;
  AGW_ASSERT(result_.reason);
  AGW_ASSERT(!stays_ || result_.verdict == Verdict::keep);
  AGW_ASSERT(!stays_ || result_.value);
  co_await end();
}

Task<> Iteration::attempt() {
  co_await prepare();
  publish_step(IterationStep::measure);
  const auto before = co_await measure();
  if (!before.metric) throw IterationProblem("before the change: " + before.problem);
  result_.metric = before.metric->name;
  result_.baseline = before.metric->value;
  result_.unit = before.metric->unit;
  result_.higher_is_better = before.metric->higher_is_better;

  publish_step(IterationStep::change);
  co_await change(before);
  if (!co_await passes_checks()) co_return;
  publish_step(IterationStep::measure_again);
  const auto after = co_await measure();
  if (!after.metric) throw IterationProblem("after the change: " + after.problem);
  publish_step(IterationStep::decide);
  co_await decide(before, after);
}

/// Stores the original asset before anything changes it, and creates a thread for the agent.
Task<> Iteration::prepare() {
  AGW_ASSERT(work_.thread_id.empty());
  auto original = co_await asset_.read();
  co_await services_.database.write([id = order_.id, original](Connection& connection) {
    iteration_store::store_original(connection, id, original);
  });
  asset_.record_original(std::move(original));
  NewThread wanted{.agent_id = order_.agent->id, .title = "Research: " + order_.config.domain};
  if (order_.project) wanted.project_id = order_.project->id;
  // Recorded in the transaction that creates the thread, so that the start after a kill finds it.
  const auto thread = co_await services_.threads.create(std::move(wanted),
                                                        [id = order_.id](Connection& connection, const Thread& made) {
                                                          iteration_store::record_thread(connection, id, made.id);
                                                        });
  work_.thread_id = thread.id;
}

/// Returns false, and sets the verdict with the reason, if the checks fail.
Task<bool> Iteration::passes_checks() {
  const auto& checks = order_.config.checks_path;
  if (!checks) co_return true;
  publish_step(IterationStep::check);
  const auto checked = co_await run_script(*checks, checks_limit);
  if (!checked.succeeded) set_verdict(Verdict::discard, "the checks failed: " + checked.problem);
  co_return checked.succeeded;
}

Task<> Iteration::decide(const Measured& before, const Measured& after) {
  AGW_ASSERT(before.metric);
  AGW_ASSERT(after.metric);
  AGW_ASSERT(!stays_);
  co_await asset_.record();
  if (after.metric->name != before.metric->name) {
    throw IterationProblem(fmt::format("the benchmark measured {} before the change and {} after it",
                                       before.metric->name, after.metric->name));
  }
  result_.value = after.metric->value;
  const double delta = after.metric->value - before.metric->value;
  if (std::isfinite(delta)) result_.delta = delta;
  const auto change = fmt::format("{} went from {} to {}", *result_.metric, before.metric->value, after.metric->value);
  // A score may be better without a change. It is a value all the same, since confidence counts how values vary.
  const bool is_changed = asset_.left() != asset_.original();
  if (!is_changed || !is_better(*before.metric, *after.metric)) {
    set_verdict(Verdict::discard, (is_changed ? "not better: " : "the agent changed nothing: ") + change);
    co_return;
  }
  set_verdict(Verdict::keep, "better: " + change);
  if (services_.stages.of(order_.agent->id) >= Stage::trusted)
    stays_ = true;
  else
    co_await propose();
}

/// Restores the asset first, so that the reviewer of the proposal sees the original.
Task<> Iteration::propose() {
  AGW_ASSERT(!stays_);
  AGW_ASSERT(result_.reason);
  AGW_ASSERT(result_.verdict == Verdict::keep);
  co_await asset_.put_back();
  const auto& asset = asset_.path();
  try {
    result_.proposal = co_await services_.proposals.stage(
        order_.agent->name, work_.run_id,
        {.type = proposal_type(asset),
         .title = fmt::format("Improve {}: {}", asset.filename().string(), *result_.reason),
         .target = asset.string(),
         .content = asset_.left(),
         .reason = fmt::format("An iteration of {} measured it. {}", order_.config.domain, result_.notes.value_or(""))},
        Proposals::Targets::any);
  } catch (const ApiError& error) {
    set_verdict(Verdict::discard, fmt::format("{}, but it could not be staged: {}", *result_.reason, error.error()));
  }
}

/// Restores the asset. If someone else's version stays, the verdict states it.
Task<> Iteration::restore_or_leave() {
  AGW_ASSERT(!stays_);
  try {
    co_await asset_.put_back();
  } catch (const IterationProblem& stays) {
    set_crash(stays.what());
  }
}

/// Restores the asset, with retries. Returns false, and adds the reason to the verdict, if that fails.
Task<bool> Iteration::restore_with_retries() {
  const auto problem = co_await retry_until_done([this] { return restore_or_leave(); });
  if (problem.empty()) co_return true;
  log::error("{} cannot be restored to its content before iteration {}; the next start tries again: {}",
             order_.config.asset_path, order_.id, problem);
  set_crash("the file could not be put back, the next start of the gateway tries again: " + problem);
  co_return false;
}

/// Restores the asset unless the change stays, records the result, and publishes the end.
Task<> Iteration::end() {
  const bool is_settled = stays_ || co_await restore_with_retries();
  result_.duration_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began_).count();
  result_.created_at = services_.clock.now();
  // Archived before the row is deleted: after a kill, the next start archives only the threads of existing rows.
  co_await archive_thread();
  if (!co_await record(is_settled)) co_return;
  co_await take_effect();
  publish_step(IterationStep::ended);
}

/// Keeps the iteration's row if the asset could not be restored, or if recording fails, so that the next start finishes
/// it.
Task<bool> Iteration::record(bool is_settled) {
  AGW_ASSERT(result_.iteration_id == order_.id);
  const auto problem = co_await retry_until_done([&] {
    return services_.database.write([result = result_, spendings = spendings_, is_settled](Connection& connection) {
      Experiments::record(connection, result);
      Costs::record(connection, spendings);
      if (is_settled) iteration_store::remove(connection, *result.iteration_id);
    });
  });
  if (problem.empty()) co_return true;
  log::error("iteration {} of {} could not be ended, the next start ends it: {}", order_.id, order_.config.domain,
             problem);
  co_return false;
}

/// Archives the agent's thread, which can still be read.
Task<> Iteration::archive_thread() {
  if (work_.thread_id.empty()) co_return;
  try {
    co_await services_.threads.change(work_.thread_id, {.archived = true});
  } catch (const std::exception& error) {
    log::warn("the thread of iteration {} was not archived: {}", order_.id, error.what());
  }
}

/// Updates records from a changed file of an agent.
Task<> Iteration::take_effect() {
  if (!stays_) co_return;
  try {
    work_.is_reseeding = true;
    co_await services_.extensions.reseed();
    work_.is_reseeding = false;
  } catch (const std::exception& error) {
    log::warn("after iteration {}: {}", order_.id, error.what());
  }
}

void Iteration::set_verdict(Verdict verdict, std::string reason) {
  result_.verdict = verdict;
  result_.reason = std::move(reason);
}

/// Sets the verdict, and discards all measurements.
void Iteration::set_crash(const std::string& reason) {
  const bool is_named = result_.reason && result_.reason->ends_with(reason);
  if (is_named || !result_.reason)
    set_verdict(Verdict::crash, reason);
  else
    set_verdict(Verdict::crash, *result_.reason + "; " + reason);
  result_.value = result_.delta = std::nullopt;
}

void Iteration::publish_step(IterationStep step) const {
  std::string text = R"({"type":"iteration-step","iterationId":)";
  write_json(text, std::string_view(order_.id));
  text += R"(,"domain":)";
  write_json(text, std::string_view(order_.config.domain));
  text += R"(,"step":)";
  write_json(text, to_text(step));
  text += R"(,"experiment":)";
  text += step == IterationStep::ended ? to_json(result_) : "null";
  text += '}';
  services_.hub.publish({.type = "iteration-step", .text = std::move(text)});
}

}  // namespace agw
