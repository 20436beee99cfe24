#include "server/mcp/changes.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/containers.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "features/extensions/types.hpp"
#include "features/integrations/protocol.hpp"
#include "features/proposals/types.hpp"
#include "server/mcp/message.hpp"

namespace agw {

namespace {

using namespace std::chrono_literals;

constexpr auto page_check_interval = 1s;
constexpr int too_many_listeners = 429;
/// The events that change a thread's resource.
constexpr std::array<std::string_view, 4> thread_events{"turn-created", "thread-updated", "tasks-updated",
                                                        "thread-deleted"};

bool is_of_proposal(const DomainEvent& event) { return event.type.starts_with("proposal-"); }

/// The supported subset of the filter: all of it, with correct types.
json::object agreed_filter(const json::object& wanted) {
  json::object agreed;
  for (const auto* name : {"toolsListChanged", "promptsListChanged", "resourcesListChanged"}) {
    if (is_true(wanted, name)) agreed[name] = true;
  }
  json::array uris;
  for (const auto& uri : strings_of(wanted, "resourceSubscriptions")) {
    if (uris.size() < McpClientSession::max_subscriptions) uris.emplace_back(uri);
  }
  if (!uris.empty()) agreed["resourceSubscriptions"] = std::move(uris);
  return agreed;
}

}  // namespace

McpChanges::McpChanges(Loop& loop, Hub& hub, McpClientSessions& sessions, const Resources& resources)
    : sessions_(sessions), resources_(resources), page_subscribed_(loop), listening_(hub, *this) {}

Task<json::object> McpChanges::listen(McpExchangePointer exchange) {
  if (listeners_.size() >= max_listeners)
    throw McpError(rpc_code::invalid_request, "too many subscriptions", {}, too_many_listeners);
  const auto* wanted = object_member(exchange->params, "notifications");
  if (!wanted) throw McpError(rpc_code::invalid_params, "notifications is required: what to be notified of");
  const auto place = listeners_.insert(listeners_.end(), {.exchange = exchange, .wanted = agreed_filter(*wanted)});
  for (auto& uri : strings_of(place->wanted, "resourceSubscriptions")) place->uris.insert(std::move(uri));
  for (const auto& uri : std::set(place->uris)) co_await remember(uri);
  send(*place, "notifications/subscriptions/acknowledged", {{"notifications", place->wanted}});
  co_await until_requested(exchange->stop);
  listeners_.erase(place);
  co_return json::object{{"_meta", json::object{{mcp_subscription_key, exchange->id}}}};
}

void McpChanges::send(const Listener& listener, std::string_view method, json::object params) {
  params["_meta"] = json::object{{mcp_subscription_key, listener.exchange->id}};
  listener.exchange->stream->push(mcp_notification(method, std::move(params)));
}

void McpChanges::list_changed(std::string_view what) {
  const auto method = fmt::format("notifications/{}/list_changed", what);
  for (const auto& [id, session] : sessions_.all()) {
    if (session->listed.contains(what)) session->general->push(mcp_notification(method, {}));
  }
  for (const auto& listener : listeners_) {
    if (listener.wanted.contains(fmt::format("{}ListChanged", what))) send(listener, method, {});
  }
}

void McpChanges::updated(const std::string& uri) {
  constexpr std::string_view method = "notifications/resources/updated";
  for (const auto& [id, session] : sessions_.all()) {
    if (session->subscriptions.contains(uri)) session->general->push(mcp_notification(method, {{"uri", uri}}));
  }
  for (const auto& listener : listeners_) {
    if (listener.uris.contains(uri)) send(listener, method, {{"uri", uri}});
  }
}

bool McpChanges::awaits(std::string_view names) const {
  return names == "proposal." && (!sessions_.all().empty() || !listeners_.empty());
}

void McpChanges::deliver(const DomainEvent& event) {
  if (sessions_.all().empty() && listeners_.empty()) return;
  if (const auto* extension = event.record.as<Extension>(); extension && event.type == "extension-changed") {
    if (extension->type == ExtensionType::agent) list_changed("tools");
    if (extension->type == ExtensionType::command) list_changed("prompts");
  } else if (contains(thread_events, event.type)) {
    updated(thread_uri(event.thread_id));
    if (event.type == "thread-deleted") list_changed("resources");
  } else if (const auto* proposal = event.record.as<Proposal>(); proposal && is_of_proposal(event)) {
    json::object parts{{"agent", proposal->agent}, {"date", proposal->date}};
    if (proposal->name) parts["name"] = *proposal->name;
    updated(proposal_uri(parts));
    list_changed("resources");
  }
}

std::set<std::string> McpChanges::watched_pages() const {
  std::set<std::string> pages;
  const auto add = [&](const auto& uris) {
    for (const auto& uri : uris) {
      if (is_page_uri(uri)) pages.insert(uri);
    }
  };
  for (const auto& [id, session] : sessions_.all()) add(session->subscriptions);
  for (const auto& listener : listeners_) add(listener.uris);
  return pages;
}

Task<> McpChanges::remember(std::string uri) {
  if (!is_page_uri(uri)) co_return;
  versions_[uri] = co_await resources_.version_of(uri);
  page_subscribed_.notify();
}

Task<> McpChanges::check_pages() {
  const auto pages = watched_pages();
  std::erase_if(versions_, [&](const auto& one) { return !pages.contains(one.first); });
  for (const auto& uri : pages) {
    auto version = co_await resources_.version_of(uri);
    const auto [known, is_new] = versions_.try_emplace(uri, version);
    if (is_new || known->second == version) continue;
    known->second = std::move(version);
    updated(uri);
  }
}

Task<> McpChanges::watch_pages(StopSource& stop) {
  while (co_await with_timeout(stop, no_limit, page_subscribed_.wait()) == WaitResult::done &&
         co_await pause(stop, page_check_interval) == WaitResult::done) {
    if (watched_pages().empty()) page_subscribed_.reset();
    try {
      co_await check_pages();
    } catch (const std::exception& error) {
      log::warn("MCP clients are not notified of changed pages: {}", error.what());
    }
  }
}

}  // namespace agw
