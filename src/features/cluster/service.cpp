// Take-over. A node whose lease has expired is claimed in one transaction (storage/postgres/lease), which also ends its
// job runs and its permission requests, and reads the logs of its other runs. These are ended one by one. Then the
// claim is released.
//
//   - The node was only slow: its next transaction finds that it was claimed, writes nothing, and it restarts. A
//     transaction that it had begun before is serialised with the claim: either the claim sees its changes, or it
//     fails.
//   - The claiming node fails: its claim expires like a lease, and another node claims.
//   - The node starts again during that time: both nodes end its runs. A run ends only once (run_store::end), no matter
//     which node ends it.

#include "features/cluster/service.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <boost/algorithm/string/predicate.hpp>

#include "api/error.hpp"
#include "api/idempotency_store.hpp"
#include "base/async/assert.hpp"
#include "base/error.hpp"
#include "base/id.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "base/time/time.hpp"
#include "config/addresses.hpp"
#include "config/settings.hpp"
#include "features/access/service.hpp"
#include "features/agents/service.hpp"
#include "features/approvals/service.hpp"
#include "features/cluster/node_bus.hpp"
#include "features/cluster/node_links.hpp"
#include "features/cluster/passed_calls.hpp"
#include "features/cluster/store.hpp"
#include "features/costs/service.hpp"
#include "features/engine/service.hpp"
#include "features/events/hub.hpp"
#include "features/extensions/service.hpp"
#include "features/integrations/service.hpp"
#include "features/jobs/service.hpp"
#include "features/model_services/service.hpp"
#include "features/projects/service.hpp"
#include "features/push/service.hpp"
#include "features/runs/service.hpp"
#include "features/secrets/service.hpp"
#include "storage/database.hpp"
#include "storage/postgres/lease.hpp"
#include "storage/start_write.hpp"

namespace agw {

namespace {

constexpr int node_unreachable = 503;
constexpr auto costs_interval = std::chrono::seconds{1};
constexpr const char* events_key = "cluster.events";

NatsAddress events_address(const Settings& settings, const Secrets& secrets) {
  try {
    return read_nats_address(secrets.expand(settings.cluster.events), events_key);
  } catch (const SecretError& error) {
    throw StartError(ExitStatus::usage, std::string(events_key) + ": " + error.what());
  }
}

/// The thread that the request's body names; empty if it names none.
std::string thread_in_body(const Request& request) {
  const auto body = request.parsed_content ? *request.parsed_content : parse_json(request.content);
  return body && body->is_object() ? string_or_empty(body->get_object(), "threadId") : std::string();
}

PassedRequest passed(const Request& request, const std::string& path) {
  PassedRequest passed{.method = std::string(to_text(request.method)),
                       .path = path,
                       .segments = request.segments,
                       .parameters = request.parameters,
                       .headers = request.headers,
                       .host = request.host,
                       .content = request.content};
  std::erase_if(passed.headers, [](const auto& header) { return header.first == "authorization"; });
  std::erase_if(passed.parameters, [](const auto& parameter) { return parameter.first == "token"; });
  // The client's token never leaves this node.
  AGW_ASSERT(std::ranges::none_of(passed.headers,
                                  [](const auto& header) { return boost::iequals(header.first, "authorization"); }));
  AGW_ASSERT(std::ranges::none_of(passed.parameters, [](const auto& parameter) { return parameter.first == "token"; }));
  return passed;
}

}  // namespace

Cluster::Cluster(Services services) : services_(services), group_(services.loop) {
  group_.on_failure([](const std::exception_ptr& failure) {
    log::warn("the work of a lost node is taken over later: {}", message_of(failure));
  });
}

Cluster::~Cluster() = default;

void Cluster::start(const Settings& settings, const std::string& url, Placements& placements,
                    std::function<Task<Response>(PassedRequest)> serve) {
  AGW_ASSERT(!settings.cluster.node.empty());
  AGW_ASSERT(!stopping_.requested());
  AGW_ASSERT(!placements_);
  AGW_ASSERT(!calls_);
  AGW_ASSERT(!links_);
  AGW_ASSERT(!bus_);
  AGW_ASSERT(serve);
  auto& connection = services_.database.start_connection();
  placements_ = &placements;
  placements_->load(connection, *this);
  follow_changes();
  const auto identity = cluster_store::identity(connection);
  // Sufficient if all nodes are on this host.
  const auto address = settings.cluster.address.empty() && is_loopback(settings.host)
                           ? NodeLinks::address_on_loopback(url)
                           : settings.cluster.address;
  write_at_start(connection, "telling other nodes where this one is reached",
                 [&] { cluster_store::set_address(connection, {.address = address, .epoch = identity.epoch}); });
  calls_ = std::make_unique<PassedCalls>(services_.loop, services_.integrations, settings.cluster.node);
  links_ = std::make_unique<NodeLinks>(
      services_.loop, services_.database, services_.blocking,
      NodeLinks::Options{.node = settings.cluster.node, .secret = identity.secret, .epoch = identity.epoch});
  services_.costs.exclude_other_nodes(services_.database.start_connection());
  // Keys that a killed predecessor of this node still held.
  idempotency_store::release_all(services_.database.start_connection());
  if (!settings.cluster.events.empty()) connect(settings, identity, std::move(serve));
  // Spawned last: a failed start would leave the coroutine running.
  group_.spawn(follow_costs());
}

void Cluster::connect(const Settings& settings, const cluster_store::Identity& identity,
                      std::function<Task<Response>(PassedRequest)> serve) {
  AGW_ASSERT(!settings.cluster.events.empty());
  AGW_ASSERT(calls_);
  AGW_ASSERT(!bus_);
  auto answers = [this, serve = std::move(serve)](PassedRequest request, StopSource& stop) {
    return PassedCalls::handles(request) ? calls_->answer(std::move(request), stop) : serve(std::move(request));
  };
  bus_ = std::make_unique<NodeBus>(
      services_.loop, services_.hub,
      NodeBus::Options{.address = events_address(settings, services_.secrets),
                       .key = events_key,
                       .node = settings.cluster.node,
                       .cluster = identity.cluster,
                       .secret = identity.secret,
                       .epoch = identity.epoch},
      NodeBus::Handlers{.serve = std::move(answers), .active_runs = std::bind_front(&Runs::active, &services_.runs)});
  calls_->use(*bus_);
}

void Cluster::follow_changes() {
  AGW_ASSERT(placements_);
  auto& follower = services_.follower;
  follower.follow("extensions", std::bind_front(&Extensions::refresh, &services_.extensions));
  follower.follow("extension_outbox", std::bind_front(&Extensions::follow_recorded_steps, &services_.extensions));
  follower.follow("extension_steps", std::bind_front(&Extensions::follow_executed_steps, &services_.extensions));
  follower.follow("agent_stages", [this](const auto&) { return services_.stages.refresh(); });
  follower.follow("grants", [this](const auto&) { return services_.approvals.refresh(); });
  follower.follow("chosen_settings", [this](const auto&) { return services_.model_services.refresh(); });
  follower.follow("job_stops", std::bind_front(&Jobs::end_soon, &services_.jobs));
  follower.follow("push_subscriptions", [this](const auto&) { return services_.push.refresh(); });
  follower.follow("token", [this](const auto&) { return services_.access.follow_token(); });
  follower.follow("placements", std::bind_front(&Placements::refresh, placements_));
  follower.follow("projects", [this](const auto&) { return services_.projects.refresh(); });
}

/// Keeps other nodes' costs in memory: budgets are checked before each model call, which cannot wait for the database.
Task<> Cluster::follow_costs() {
  bool has_warned = false;
  while (co_await pause(stopping_, costs_interval) == WaitResult::done) {
    try {
      co_await services_.costs.read_other_nodes();
      has_warned = false;
    } catch (const std::exception& error) {
      if (!std::exchange(has_warned, true))
        log::warn("costs of other nodes are not counted until the database is reachable again: {}", error.what());
    }
  }
}

Task<> Cluster::stop() {
  stopping_.request();
  if (bus_) co_await bus_->stop();
  if (links_) co_await links_->stop();
  co_await services_.follower.stop();
  co_await group_.join();
}

void Cluster::take_over(const LostNode& lost) {
  if (is_taking_over_ || group_.closing()) return;
  is_taking_over_ = true;
  group_.spawn(run_take_over(lost));
}

Task<> Cluster::run_take_over(LostNode lost) {
  AGW_ASSERT(is_taking_over_);
  AGW_ASSERT(!lost.id.empty());
  AGW_ASSERT(!lost.name.empty());
  struct Done {
    bool& flag;
    ~Done() { flag = false; }
  } const done{is_taking_over_};
  const auto claim = new_id();
  auto left = co_await services_.database.write(
      [lost, claim, now = services_.clock.now()](Connection& connection) -> std::optional<std::vector<InterruptedRun>> {
        if (!postgres::claim(connection, lost, claim)) return std::nullopt;
        const postgres::AsNode as(connection, lost.name);
        auto runs = Runs::interrupted(connection);
        Jobs::end_interrupted(connection, runs, now);
        Approvals::end_interrupted(connection, now);
        idempotency_store::release_all(connection);
        Placements::free_all(connection);
        return runs;
      });
  if (!left) co_return;
  log::warn("the node {} is lost: its {} runs are ended here", lost.name, left->size());
  co_await services_.engine.end_interrupted(std::move(*left));
  co_await services_.database.write([claim](Connection& connection) { postgres::release(connection, claim); });
  have_all_catch_up("the node " + lost.name + " is lost");
}

void Cluster::have_all_catch_up(const std::string& why) {
  if (bus_) bus_->have_all_catch_up(why);
}

Task<> Cluster::leave() {
  AGW_ASSERT(placements_);
  co_await placements_->stop();
  try {
    co_await services_.database.write([](Connection& connection) {
      // Requests that were interrupted by the stop could not release their keys.
      idempotency_store::release_all(connection);
      Placements::free_all(connection);
      postgres::leave(connection);
    });
  } catch (const std::exception& error) {
    log::warn("cannot release the lease of this node, so other nodes treat it as lost in ten seconds: {}",
              error.what());
  }
}

void Cluster::disconnect_clients() {
  services_.hub.publish({.record = EventsMissed{"this node stops"}, .is_from_another_node = true});
}

bool Cluster::receives_events() const { return !bus_ || bus_->is_connected(); }

Task<json::array> Cluster::runs_elsewhere(std::set<std::string, std::less<>> threads) {
  if (!bus_) co_return json::array();
  co_return co_await bus_->runs_elsewhere(std::move(threads));
}

Task<std::string> Cluster::node_for(const Request& request) {
  AGW_ASSERT(request.route);
  const auto find = [this](std::string (*look)(Connection&, const std::string&), std::string id) {
    return services_.database.read([look, id = std::move(id)](Connection& connection) { return look(connection, id); });
  };
  switch (request.route->about) {
    case About::nothing:
      co_return std::string();
    case About::thread:
      co_return co_await find(cluster_store::node_of_thread, request.path("id"));
    case About::thread_in_body: {
      auto thread = thread_in_body(request);
      if (thread.empty()) co_return thread;
      co_return co_await find(cluster_store::node_of_thread, std::move(thread));
    }
    case About::turn:
      co_return co_await find(cluster_store::node_of_turn, request.path("id"));
    case About::permission:
      co_return co_await find(cluster_store::node_of_permission, request.path("id"));
    case About::run_of_job:
      co_return co_await find(cluster_store::node_of_job_run, request.path("id"));
    case About::app:
    case About::integration:
      co_return co_await find(cluster_store::node_of_program, request.path("name"));
  }
  co_return std::string();
}

Task<std::optional<Response>> Cluster::answer(const Request& request, const std::string& path) {
  const auto node = co_await node_for(request);
  if (node.empty()) co_return std::nullopt;
  std::optional<Response> response;
  if (bus_) response = co_await bus_->pass_on(node, passed(request, path));
  if (response || request.route->effect == Effect::read) co_return response;
  throw ApiError(node_unreachable,
                 bus_ ? "the node " + node + " has to answer this and cannot be reached, try again"
                      : "the node " + node + " has to answer this: ask there, or set cluster.events at all nodes");
}

Task<ToolOutcome> Cluster::call_tool(std::string node, std::string integration, std::string tool,
                                     const ToolCall& call) {
  AGW_ASSERT(calls_);
  return calls_->call(std::move(node), std::move(integration), std::move(tool), call);
}

Task<std::optional<asio::ip::tcp::socket>> Cluster::reach_app(std::string node, std::string app) {
  AGW_ASSERT(links_);
  co_return co_await links_->open(std::move(node), "/cluster/apps/" + app);
}

void Cluster::check_node(const Request& request) {
  AGW_ASSERT(links_);
  links_->check(request);
}

}  // namespace agw
