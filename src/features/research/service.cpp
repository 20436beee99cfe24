#include "features/research/service.hpp"

#include <algorithm>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "base/id.hpp"
#include "base/log.hpp"
#include "base/text/is_within.hpp"
#include "features/jobs/service.hpp"
#include "features/research/domain_config.hpp"
#include "features/research/iteration.hpp"
#include "storage/database.hpp"

namespace agw {

namespace {

constexpr std::string_view agent_prefix = "agent:";
constexpr auto usual_agent = "assistant";
constexpr std::size_t max_in_progress = 100;  ///< includes those that wait

/// The agent that the domain names, else the assistant.
ExtensionPointer agent_of(const std::string& domain, const Extensions& extensions) {
  if (domain.starts_with(agent_prefix)) {
    if (auto named = extensions.find_agent(domain.substr(agent_prefix.size()))) return named;
  }
  auto usual = extensions.find_agent(usual_agent);
  AGW_CHECK(usual, "the essential agent does not exist");
  return usual;
}

Experiment crashed(const InterruptedIteration& iteration, Timestamp now) {
  return {.id = new_id(),
          .domain = iteration.domain,
          .verdict = Verdict::crash,
          .iteration_id = iteration.id,
          .reason = "interrupted: the gateway ended in the middle",
          .duration_ms = std::max<std::int64_t>(0, (now - iteration.started_at).count()),
          .created_at = now};
}

IterationStarted started_of(const IterationOrder& order) {
  return {.iterationId = order.id, .domain = order.config.domain};
}

}  // namespace

Research::Research(Loop& loop, Sandbox& sandbox, const IterationServices& services, Options options)
    : services_(services),
      options_(std::move(options)),
      scripts_(loop, services_.blocking, sandbox, options_.home, options_.data_directory),
      queue_changed_(loop),
      work_(loop) {}

Research::~Research() = default;

void Research::load(Connection& connection) {
  AGW_ASSERT(interrupted_.empty());
  interrupted_ = iteration_store::all(connection);
}

Task<> Research::recover() {
  AGW_ASSERT(in_progress_.empty());
  for (const auto& iteration : std::exchange(interrupted_, {})) {
    std::string problem;
    try {
      if (iteration.original) {
        // A person may have changed the file since the kill.
        const AssetTrace trace{.is_unclear = true, .may_differ = true, .kept = kept_path(iteration.id)};
        co_await services_.blocking.run(
            [iteration, trace] { put_asset_back(iteration.asset_path, *iteration.original, trace); });
      }
    } catch (const std::exception& error) {
      problem = error.what();
      log::error("{} cannot be restored to its content before iteration {}; the next start tries again: {}",
                 iteration.asset_path, iteration.id, problem);
    }
    co_await archive_thread(iteration);
    co_await record_interrupted(iteration, problem);
  }
}

/// Archives the thread, as the end of the iteration would have done.
Task<> Research::archive_thread(const InterruptedIteration& iteration) {
  if (!iteration.thread_id) co_return;
  try {
    co_await services_.threads.change(*iteration.thread_id, {.archived = true});
  } catch (const std::exception& error) {
    log::warn("the thread of iteration {} was not archived: {}", iteration.id, error.what());
  }
}

/// Records the crash only once, even if restoring the asset fails at several starts.
Task<> Research::record_interrupted(const InterruptedIteration& iteration, std::string problem) {
  auto result = crashed(iteration, services_.clock.now());
  if (!problem.empty()) *result.reason += "; the file could not be put back: " + problem;
  try {
    co_await services_.database.write(
        [iteration, result, is_put_back = problem.empty()](Connection& connection) mutable {
          if (iteration.thread_id) result.cost_usd = Costs::of_thread(connection, *iteration.thread_id);
          if (!Experiments::has_iteration(connection, iteration.id)) Experiments::record(connection, result);
          if (is_put_back) iteration_store::remove(connection, iteration.id);
        });
  } catch (const std::exception& error) {
    log::error("iteration {} could not be recorded, the next start records it: {}", iteration.id, error.what());
  }
}

Task<> Research::stop() {
  stopping_ = true;
  for (const auto& iteration : in_progress_) iteration->stop();
  queue_changed_.pulse();
  co_await work_.join();
}

std::filesystem::path Research::kept_path(const std::string& iteration_id) const {
  AGW_ASSERT(!iteration_id.empty());
  return options_.data_directory / "trash" / ("asset-" + iteration_id);
}

std::optional<ResearchProject> Research::project_of(const std::filesystem::path& file) const {
  for (const auto& project : services_.projects.list()) {
    if (is_within(file, project->path)) return ResearchProject{project->id, project->path};
  }
  return std::nullopt;
}

bool Research::is_taken(const DomainConfig& config, const Iteration* before) const {
  for (const auto& other : in_progress_) {
    if (other.get() == before) return false;
    const auto& taken = other->order().config;
    if (taken.domain == config.domain || taken.asset_path == config.asset_path) return true;
  }
  AGW_ASSERT(!before);
  return false;
}

Task<IterationStarted> Research::run(json::object body, InTransaction<IterationStarted> in_transaction) {
  const auto iteration = co_await open(read_domain_config(body), {}, IfTaken::wait, std::move(in_transaction));
  work_.spawn(iterate(iteration));
  co_return started_of(iteration->order());
}

Task<> Research::iterate(IterationPointer iteration) {
  co_await wait_for_turn(iteration);
  co_await iteration->run();
  leave(iteration);
}

/// Also returns when the iteration is stopped.
Task<> Research::wait_for_turn(IterationPointer iteration) {
  while (!iteration->is_stopped() && is_taken(iteration->order().config, iteration.get()))
    co_await queue_changed_.wait();
}

void Research::leave(const IterationPointer& iteration) {
  const auto removed = std::erase(in_progress_, iteration);
  AGW_ASSERT(removed == 1);
  queue_changed_.pulse();
}

Task<Research::IterationPointer> Research::open(DomainConfig config, std::string ordering_run_id, IfTaken if_taken,
                                                InTransaction<IterationStarted> in_transaction) {
  config = co_await services_.blocking.run(
      [config, home = options_.home, data = options_.data_directory] { return resolved(config, home, data); });
  AGW_ASSERT(config.asset_path.starts_with('/'));
  if (if_taken == IfTaken::refuse && is_taken(config)) throw Conflict("iteration is already running");
  // Iterations of a series are not refused: the series was accepted as a whole.
  if (ordering_run_id.empty() && in_progress_.size() >= max_in_progress) throw Conflict("too many iterations wait");
  const auto id = new_id();
  const auto iteration =
      std::make_shared<Iteration>(services_, scripts_,
                                  IterationOrder{.id = id,
                                                 .config = config,
                                                 .agent = agent_of(config.domain, services_.extensions),
                                                 .project = project_of(config.asset_path),
                                                 .ordering_run_id = std::move(ordering_run_id),
                                                 .kept = kept_path(id)});
  services_.engine.add_delegation(std::shared_ptr<const Delegation>(iteration, &iteration->work()));
  if (stopping_) iteration->stop();
  in_progress_.push_back(iteration);
  const InterruptedIteration row{.id = id,
                                 .domain = config.domain,
                                 .asset_path = config.asset_path,
                                 .original = {},
                                 .started_at = services_.clock.now()};
  try {
    co_await services_.database.write(
        [row, started = started_of(iteration->order()), in_transaction](Connection& connection) {
          iteration_store::insert(connection, row);
          if (in_transaction) in_transaction(connection, started);
        });
  } catch (...) {
    leave(iteration);
    throw;
  }
  co_return iteration;
}

void handle_research_jobs(Jobs& jobs, Research& research) {
  jobs.handle_where_given("research", [&research](json::object settings, JobWork work) {
    return research.run_until_clear(std::move(settings), work.run_id, work.dry, work.stop);
  });
}

}  // namespace agw
