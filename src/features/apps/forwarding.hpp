#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "api/exchange.hpp"
#include "api/request.hpp"

namespace agw {

/// Whether a text is the gateway's token.
using IsToken = std::function<bool(std::string_view)>;

/// What an app is to get of a request.
struct ForwardedRequest {
  std::string head;             ///< as it goes out, its empty line included
  bool upgrade = false;         ///< the client asks for a WebSocket
  bool chunked = false;         ///< its body goes out in chunks
  bool offered_bearer = false;  ///< the client offered the subprotocol that carries the token
};

/// Makes it. The token stands in none of it, wherever the client had put it; `Host` and `Origin` are the app's own, at
/// `port`; fields that concern one connection only are left out. `prefix` is what the app does not see of the path.
ForwardedRequest forwarded_request(const Request& request, const Exchange& exchange, std::string_view prefix, int port,
                                   const IsToken& is_token);

/// What a client gets of an app's answer: without cookies and what else would concern the gateway's origin, with a
/// fence around what a browser makes of it.
Fields forwarded_fields(const Fields& from_app, const ForwardedRequest& request);

/// The fence, for what the gateway serves itself: a page of an app has no origin of its own.
std::pair<std::string, std::string> app_fence();

}  // namespace agw
