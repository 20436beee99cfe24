#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "api/proxy_stream.hpp"
#include "api/request.hpp"

namespace agw {

/// Whether a text is the gateway's token.
using IsToken = std::function<bool(std::string_view)>;

/// A request as it is forwarded to an app.
struct ForwardedRequest {
  std::string head;             ///< as it is sent, including its empty line
  bool upgrade = false;         ///< the client asks for a WebSocket
  bool chunked = false;         ///< its body goes out in chunks
  bool offered_bearer = false;  ///< the client offered the subprotocol that carries the token
};

/// Creates it. The token is removed from every place where the client may have put it; `Host` and `Origin` are the
/// app's own, at `port`; hop-by-hop fields are left out. `prefix` is the part of the path that the app does not see.
ForwardedRequest forwarded_request(const Request& request, const ProxyStream& stream, std::string_view prefix, int port,
                                   const IsToken& is_token);

/// The head of an app's response as the client gets it: without cookies and other fields that would affect the
/// gateway's origin, and with fields that isolate the page in the browser.
Fields forwarded_fields(const Fields& from_app, const ForwardedRequest& request);

/// The isolating fields, for files that the gateway serves itself: a page of an app has an opaque origin.
std::pair<std::string, std::string> isolation_field();

}  // namespace agw
