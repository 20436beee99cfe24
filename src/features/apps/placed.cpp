// Apps in a cluster. The server of each app runs on one node, which has claimed it (features/placements). The other
// nodes show the state that this node reports, and connect to the server through it. When a node ends or is lost, its
// apps become free: the nodes that have the app's directory try to claim it, and the first one starts the server.

#include <utility>

#include <fmt/format.h>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "base/async/cancellation.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "features/apps/app_directory.hpp"
#include "features/apps/server_slot.hpp"
#include "features/apps/service.hpp"
#include "features/placements/service.hpp"
#include "storage/connection.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr auto patience_with_claims = 5s;
constexpr auto before_next_take = 1s;
constexpr int elsewhere = 503;

ApiError unreachable(const Extension& app, const std::string& node) {
  return ApiError(elsewhere, node.empty()
                                 ? fmt::format("the app {} is about to start at another node, try again", app.name)
                                 : fmt::format("the node {} runs the app {}, and cannot be reached", node, app.name));
}

}  // namespace

/// The app's state as reported by the node that runs it, without the URL, which is on that node's loopback.
App Apps::as_reported(App app, const Placement& placement) {
  app.status = AppStatus::starting;
  if (placement.node.empty() || placement.state.empty()) return app;
  const auto told = parse_stored_json(placement.state);
  Problems problems;
  App known;
  read_described(told.as_object(), agw::describe(Tag<App>{}), &known, "", problems);
  app.status = known.status;
  app.port = known.port;
  app.pid = known.pid;
  app.started_at = known.started_at;
  app.restarts = known.restarts;
  return app;
}

const Placement* Apps::placement_elsewhere(const Extension& extension) const {
  const auto* placement = placements_ ? placements_->find(extension.id) : nullptr;
  return placement && !placements_->is_here(extension.id) ? placement : nullptr;
}

void Apps::require_here(const Extension& extension) const {
  if (const auto* placement = placement_elsewhere(extension)) throw unreachable(extension, placement->node);
}

AppEndpoint Apps::endpoint_elsewhere(const Extension& extension, const Placement& placement) const {
  if (placement.node.empty()) throw unreachable(extension, "");
  const auto told = as_reported({}, placement);
  if (told.status == AppStatus::stopped || told.status == AppStatus::failed) throw not_running(extension);
  const auto [key, is_new] = keys_elsewhere_.try_emplace(extension.id, -1 - static_cast<int>(keys_elsewhere_.size()));
  // Those of servers on this node are their ports.
  AGW_ASSERT(key->second < 0);
  return {.port = told.port.value_or(0),
          .through = [&others = placements_->others(), node = placement.node,
                      id = extension.id] { return others.reach_app(node, id); },
          .key_elsewhere = key->second};
}

void Apps::follow_placements() {
  placements_->on_change([this](const std::string& id) {
    placement_changed_.pulse();
    const auto* placement = placements_->find(id);
    if (placement && placement->node.empty() && !closing_) background_.spawn(take(id));
  });
}

Task<bool> Apps::has_directory(ExtensionPointer extension) {
  co_return co_await blocking_.run([path = app_plan(*extension).path, options = options_] {
    try {
      app_directory(path, options.home, options.data_directory);
      return true;
    } catch (const ProcessError&) {
      return false;
    }
  });
}

/// Retries `try_to_take` until the database responds.
Task<> Apps::take(std::string id) {
  StopSource never;
  while (!closing_) {
    try {
      co_return co_await try_to_take(id);
    } catch (const DatabaseError& error) {
      log::debug("cannot take over the app {}: {}", id, error.what());
    }
    co_await with_timeout(never, before_next_take, placement_changed_.wait());
  }
}

/// Starts an app that ran on another node, unless a third node was faster, or the app was stopped or disabled.
Task<> Apps::try_to_take(std::string id) {
  AGW_ASSERT(placements_);
  auto extension = extensions_.find(id);
  if (!extension || extension->type != ExtensionType::app) co_return;
  if (extension->enabled && !co_await has_directory(extension)) co_return;
  auto& slot = slot_of(extension);
  ServerSlot::Lock lock(slot);
  co_await lock.acquire();
  extension = extensions_.find(id);
  if (!extension || app_plan(*extension).type == AppType::statics || slot.server.alive() || closing_) co_return;
  const auto* placement = placements_->find(id);
  if (!placement || !placement->node.empty()) co_return;
  if (!extension->enabled) co_return co_await placements_->remove_free(id);
  if (!co_await placements_->take(id)) co_return;
  log::info("starting the app {}, because no node runs it", extension->name);
  try {
    co_await start_claimed(extension, slot);
  } catch (const std::exception& error) {
    log::error("cannot start the app {}, which ran on another node: {}", extension->name, error.what());
  }
}

/// Starts the server of a claimed app. If that fails, releases the claim; if the gateway is stopping, offers the app to
/// the other nodes.
Task<> Apps::start_claimed(ExtensionPointer extension, ServerSlot& slot) {
  AGW_ASSERT(placements_);
  AGW_ASSERT(slot.is_locked);
  std::exception_ptr failure;
  try {
    co_await start(extension, slot);
  } catch (const std::exception&) {
    failure = std::current_exception();
  }
  if (!failure) co_return;
  if (closing_)
    co_await placements_->offer(extension->id);
  else
    co_await placements_->remove(extension->id);
  std::rethrow_exception(failure);
}

/// Starts the app on this node if it has the app's directory, otherwise on a node that has it. A disabled app is
/// started only on this node, because other nodes do not take it.
Task<App> Apps::start_somewhere(ExtensionPointer extension, ServerSlot& slot) {
  AGW_ASSERT(placements_);
  AGW_ASSERT(slot.is_locked);
  AGW_ASSERT(!slot.server.alive());
  require_complete(app_plan(*extension));
  if (!co_await has_directory(extension)) {
    if (extension->enabled) co_return co_await have_started(std::move(extension));
    throw ProcessError(fmt::format(
        "the app {} is disabled, and its directory is not at this node: enable it, or start it at a node that has it",
        extension->name));
  }
  if (!co_await placements_->claim(extension->id)) throw unreachable(*extension, "");
  co_await start_claimed(extension, slot);
  co_return describe(*extension);
}

Task<App> Apps::have_started(ExtensionPointer extension) {
  AGW_ASSERT(placements_);
  co_await placements_->offer(extension->id);
  const auto claimed = [](Apps& apps, std::string id) -> Task<> {
    while (apps.placements_->other_node(id).empty()) co_await apps.placement_changed_.wait();
  };
  StopSource never;
  if (co_await with_timeout(never, patience_with_claims, claimed(*this, extension->id)) != WaitResult::done) {
    co_await placements_->remove_free(extension->id);
    if (!placements_->other_node(extension->id).empty()) co_return describe(*extension);
    // Throws the reason why the directory cannot be used.
    co_await blocking_.run([path = app_plan(*extension).path, options = options_] {
      return app_directory(path, options.home, options.data_directory);
    });
  }
  co_return describe(*extension);
}

/// Whether the app was only waiting for a node to take it, so that there is no server to stop. Throws ApiError 503 if a
/// node has just taken it.
Task<bool> Apps::give_up(ExtensionPointer extension) {
  AGW_ASSERT(placements_);
  const auto* placement = placements_->find(extension->id);
  if (!placement || !placement->node.empty()) co_return false;
  co_await placements_->remove_free(extension->id);
  if (placements_->find(extension->id)) throw unreachable(*extension, "");
  co_return true;
}

}  // namespace agw
