#pragma once

#include <list>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/async/async_event.hpp"
#include "base/async/cancellation.hpp"
#include "features/events/hub.hpp"
#include "server/mcp/resources.hpp"
#include "server/mcp/session.hpp"

namespace agw {

/// Notifies clients of changes: those with a session on its general stream, others on the streams of their
/// `subscriptions/listen`.
class McpChanges : private Subscriber {
public:
  McpChanges(Loop& loop, Hub& hub, McpClientSessions& sessions, const Resources& resources);

  /// Handles `subscriptions/listen` until it is cancelled. Returns its result. Throws McpError.
  Task<json::object> listen(McpExchangePointer exchange);

  /// Reports that a list (`tools`, `prompts` or `resources`) has changed. Sessions that never read it are not notified.
  void list_changed(std::string_view what);
  void updated(const std::string& uri);

  /// Call it when a session subscribes to a resource. Records the current version, with which later ones are compared.
  Task<> remember(std::string uri);
  /// While pages are subscribed to, checks their files for changes once a second until `stop` is requested.
  Task<> watch_pages(StopSource& stop);

private:
  struct Listener {
    McpExchangePointer exchange;
    json::object wanted;  ///< the acknowledged filter
    std::set<std::string, std::less<>> uris;
  };
  static constexpr std::size_t max_listeners = 100;

  void deliver(const DomainEvent& event) override;
  bool awaits(std::string_view names) const override;
  static void send(const Listener& listener, std::string_view method, json::object params);
  std::set<std::string> watched_pages() const;
  Task<> check_pages();

  McpClientSessions& sessions_;
  const Resources& resources_;
  std::list<Listener> listeners_;
  std::map<std::string, std::string> versions_;  ///< of subscribed pages
  AsyncEvent page_subscribed_;
  Hub::Listening listening_;
};

}  // namespace agw
