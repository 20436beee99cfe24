// The story of an iteration: measure the asset, let the agent change it, check, measure again, decide, record. Whatever
// happens, the asset is what it was before, unless it got better and its agent may leave it so.

#include <fmt/format.h>

#include "api/error.hpp"
#include "base/log.hpp"
#include "features/research/asset.hpp"
#include "features/research/iteration.hpp"
#include "features/research/scripts.hpp"
#include "storage/database.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr auto pause_before_trying_again = 1s;
constexpr int times_to_try = 5;
constexpr std::string_view changed_meanwhile = "somebody else changed the file meanwhile: what they wrote stays";

bool is_better(const Metric& before, const Metric& after) {
  return before.higher_is_better ? after.value > before.value : after.value < before.value;
}

/// What a proposal says that the file is.
std::string proposal_type(const std::filesystem::path& asset) {
  const auto name = asset.filename();
  if (name == "soul.md") return "soul";
  if (name == "agent.yaml" || name == "job.yaml" || asset.parent_path().filename() == "extensions") return "extension";
  const bool is_knowledge = std::find(asset.begin(), asset.end(), "knowledge") != asset.end();
  return is_knowledge ? "knowledge" : "file";
}

void set_verdict(Iteration& iteration, Verdict verdict, std::string reason) {
  iteration.result.verdict = verdict;
  iteration.result.reason = std::move(reason);
}

/// Nothing that was measured counts.
void set_crash(Iteration& iteration, const std::string& reason) {
  auto& result = iteration.result;
  const bool says_so = result.reason && result.reason->ends_with(reason);
  if (says_so || !result.reason)
    set_verdict(iteration, Verdict::crash, reason);
  else
    set_verdict(iteration, Verdict::crash, *result.reason + "; " + reason);
  result.value = result.delta = std::nullopt;
}

/// Gives the last problem; nothing where it worked.
Task<std::string> keep_trying(std::function<Task<>()> work) {
  Stop never;
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

Task<> Research::iterate(IterationPointer iteration) {
  try {
    co_await attempt(*iteration);
  } catch (const ApiError& error) {
    set_verdict(*iteration, Verdict::crash, error.error());
  } catch (const std::exception& error) {
    set_verdict(*iteration, Verdict::crash, error.what());
  }
  if (iteration->stop.requested() && !iteration->stays) set_verdict(*iteration, Verdict::crash, "it was stopped");
  if (iteration->result.verdict == Verdict::crash) iteration->result.value = iteration->result.delta = std::nullopt;
  co_await end(iteration);
  std::erase(under_way_, iteration);
}

Task<> Research::attempt(Iteration& iteration) {
  co_await prepare(iteration);
  tell(iteration, IterationStep::measure);
  const auto before = co_await measure(iteration);
  if (!before.metric) throw IterationProblem("before the change: " + before.problem);
  auto& result = iteration.result;
  result.metric = before.metric->name;
  result.baseline = before.metric->value;
  result.unit = before.metric->unit;
  result.higher_is_better = before.metric->higher_is_better;

  tell(iteration, IterationStep::change);
  if (!co_await change(iteration, before)) co_return;
  if (!co_await passes_checks(iteration)) co_return;
  tell(iteration, IterationStep::measure_again);
  const auto after = co_await measure(iteration);
  if (!after.metric) throw IterationProblem("after the change: " + after.problem);
  tell(iteration, IterationStep::decide);
  co_await decide(iteration, before, after);
}

/// Notes the asset as it is, before anything touches it, and makes a place for the agent to work in.
Task<> Research::prepare(Iteration& iteration) {
  const std::filesystem::path asset = iteration.config.asset_path;
  auto original = co_await blocking_.run([asset] { return read_asset(asset); });
  co_await database_.write([id = *iteration.result.iteration_id, original](Connection& connection) {
    iteration_store::keep_original(connection, id, original);
  });
  iteration.trace = {.left = original.bytes, .kept = kept_path(*iteration.result.iteration_id)};
  iteration.original = std::move(original);
  NewThread wanted{.agent_id = iteration.agent->id, .title = "Research: " + iteration.config.domain};
  if (iteration.project) wanted.project_id = iteration.project->id;
  iteration.work.thread_id = (co_await threads_.create(std::move(wanted))).id;
  co_await database_.write([id = *iteration.result.iteration_id, thread = iteration.work.thread_id](
                               Connection& connection) { iteration_store::note_thread(connection, id, thread); });
}

/// Where not, the verdict says why.
Task<bool> Research::passes_checks(Iteration& iteration) {
  const auto& config = iteration.config;
  if (!config.checks_path) co_return true;
  tell(iteration, IterationStep::check);
  const auto checked = co_await run_script(iteration, *config.checks_path, options_.checks_limit);
  if (!checked.succeeded) set_verdict(iteration, Verdict::discard, "the checks failed: " + checked.problem);
  co_return checked.succeeded;
}

Task<> Research::decide(Iteration& iteration, const Measured& before, const Measured& after) {
  co_await note_asset(iteration);
  auto& result = iteration.result;
  if (after.metric->name != before.metric->name) {
    throw IterationProblem(fmt::format("the benchmark measured {} before the change and {} after it",
                                       before.metric->name, after.metric->name));
  }
  result.value = after.metric->value;
  const double delta = after.metric->value - before.metric->value;
  if (std::isfinite(delta)) result.delta = delta;
  const auto change = fmt::format("{} went from {} to {}", *result.metric, before.metric->value, after.metric->value);
  if (!is_better(*before.metric, *after.metric)) {
    set_verdict(iteration, Verdict::discard, "not better: " + change);
    co_return;
  }
  set_verdict(iteration, Verdict::keep, "better: " + change);
  if (stages_.of(iteration.agent->id) >= Stage::trusted)
    iteration.stays = true;
  else
    co_await propose(iteration);
}

/// The asset is put back first: whoever looks at the proposal sees what is really there.
Task<> Research::propose(Iteration& iteration) {
  co_await put_back(iteration);
  const std::filesystem::path asset = iteration.config.asset_path;
  try {
    iteration.result.proposal = co_await proposals_.stage(
        iteration.agent->name, iteration.work.run_id,
        {.type = proposal_type(asset),
         .title = fmt::format("Improve {}: {}", asset.filename().string(), *iteration.result.reason),
         .target = asset.string(),
         .content = iteration.trace.left,
         .reason = fmt::format("An iteration of {} measured it. {}", iteration.config.domain,
                               iteration.result.notes.value_or(""))},
        Proposals::Targets::any);
  } catch (const ApiError& error) {
    set_verdict(iteration, Verdict::discard,
                fmt::format("{}, but it could not be staged: {}", *iteration.result.reason, error.error()));
  }
}

/// Notes what the latest step has left. Throws IterationProblem where only somebody else can have written it.
Task<> Research::note_asset(Iteration& iteration) {
  const std::filesystem::path asset = iteration.config.asset_path;
  auto now = (co_await blocking_.run([asset] { return read_asset(asset); })).bytes;
  auto& trace = iteration.trace;
  if (now != trace.left) {
    if (!trace.may_differ) throw IterationProblem(std::string(changed_meanwhile));
    trace.left = std::move(now);
    trace.is_unclear = true;
  }
  trace.may_differ = false;
}

/// Throws IterationProblem where somebody else has changed it: that stays.
Task<> Research::put_back(Iteration& iteration) {
  if (!iteration.original || iteration.stays || iteration.is_put_back) co_return;
  const std::filesystem::path asset = iteration.config.asset_path;
  const bool is_ours = co_await blocking_.run([asset, original = *iteration.original, trace = iteration.trace] {
    return put_asset_back(asset, original, trace);
  });
  iteration.is_put_back = true;
  if (!is_ours) throw IterationProblem(std::string(changed_meanwhile));
}

/// Where what somebody else has made of it stays, the verdict says so.
Task<> Research::put_back_or_leave(Iteration& iteration) {
  try {
    co_await put_back(iteration);
  } catch (const IterationProblem& stays) {
    set_crash(iteration, stays.what());
  }
}

/// Where it cannot be, the verdict says why.
Task<bool> Research::put_back_at_last(Iteration& iteration) {
  const auto problem = co_await keep_trying([&] { return put_back_or_leave(iteration); });
  if (problem.empty()) co_return true;
  log::error("{} cannot be put back to what it was before iteration {}; the next start tries again: {}",
             iteration.config.asset_path, *iteration.result.iteration_id, problem);
  set_crash(iteration, "the file could not be put back, the next start of the gateway tries again: " + problem);
  co_return false;
}

/// Puts the asset back, records what came of it, and tells.
Task<> Research::end(IterationPointer iteration) {
  auto& result = iteration->result;
  const bool is_put_back = co_await put_back_at_last(*iteration);
  result.duration_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - iteration->began)
          .count();
  result.created_at = clock_.now();
  if (!co_await record(*iteration, is_put_back)) co_return;
  co_await put_away(*iteration);
  tell(*iteration, IterationStep::ended, &result);
}

/// The row of the iteration stays in the database where the asset could not be put back or this does not work: then the
/// next start does it.
Task<bool> Research::record(const Iteration& iteration, bool is_put_back) {
  const auto& result = iteration.result;
  const auto problem = co_await keep_trying([&] {
    return database_.write([result, spendings = iteration.spendings, is_put_back](Connection& connection) {
      Experiments::record(connection, result);
      Costs::record(connection, spendings);
      if (is_put_back) iteration_store::remove(connection, *result.iteration_id);
    });
  });
  if (problem.empty()) co_return true;
  log::error("iteration {} of {} could not be ended, the next start does it: {}", *result.iteration_id, result.domain,
             problem);
  co_return false;
}

/// What an agent's file says takes effect; the thread is out of a person's way, and still there to be looked at.
Task<> Research::put_away(Iteration& iteration) {
  const auto& thread_id = iteration.work.thread_id;
  try {
    iteration.work.is_reseeding = iteration.stays;
    if (iteration.stays) co_await extensions_.reseed();
    iteration.work.is_reseeding = false;
    if (!thread_id.empty()) co_await threads_.change(thread_id, {.archived = true});
  } catch (const std::exception& error) {
    log::warn("after iteration {}: {}", *iteration.result.iteration_id, error.what());
  }
}

}  // namespace agw
