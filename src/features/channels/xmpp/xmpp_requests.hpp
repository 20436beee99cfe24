#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/async/async_event.hpp"
#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"
#include "io/xmpp/xmpp_element.hpp"

namespace agw {

/// Requests to the account's server or one of its services, and their responses (RFC 6120, section 8.2.3). Used on the
/// loop.
/// Example: src/features/channels/xmpp/xmpp_requests_test.cpp: XmppRequests.AcceptAResponseOnlyFromTheirRecipient
class XmppRequests {
public:
  /// Returns whether the connection is open and the stanza sent.
  using Send = std::function<bool(std::string stanza)>;
  XmppRequests(Loop& loop, Send send);

  /// Sends a request of the type `get` with this content. nullopt if no response arrives within 20 s, the connection
  /// ends or is not open, or `stop` is requested.
  Task<std::optional<XmppElement>> get(std::string to, std::string content, StopSource& stop);
  /// Handles a stanza if it is the response to a request, and returns whether it is. Only the address of the request
  /// may respond.
  bool take(const XmppElement& stanza);
  /// Ends all requests, because the connection has ended.
  void end();

private:
  struct Pending {
    Pending(Loop& loop, std::string address) : changed(loop), to(std::move(address)) {}
    AsyncEvent changed;
    std::string to;
    std::optional<XmppElement> response{};
  };

  Loop& loop_;
  Send send_;
  std::map<std::string, std::shared_ptr<Pending>, std::less<>> pending_;  ///< by the request's id
};

}  // namespace agw
