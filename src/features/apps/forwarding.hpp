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
  std::string head;             ///< the complete head, including the empty line
  bool upgrade = false;         ///< the client requests a WebSocket
  bool chunked = false;         ///< the body is sent in chunks
  bool offered_bearer = false;  ///< the client offered the subprotocol that contains the token
  // For redirects:
  std::string host;         ///< the gateway's, as the client named it, with the port
  std::string target;       ///< as the client sent it
  std::string prefix = {};  ///< the part of the target's path that the app does not see
  int port = 0;             ///< of the app
};

/// Makes the forwarded request. Removes the token from every place where the client may have put it, and hop-by-hop
/// fields. Sets `Host` and `Origin` to the app's own, at `port`. `prefix` is the part of the path that the app does not
/// see.
ForwardedRequest forwarded_request(const Request& request, const ProxyStream& stream, std::string_view prefix, int port,
                                   const IsToken& is_token);

/// The fields of an app's response for the client: without cookies and other fields that would affect the gateway's
/// origin, and with fields that isolate the page in the browser. A redirect to the app's own address, or to a path of
/// the gateway outside of the app, leads to that path of the app: a client that repeats its request there sends its
/// token.
Fields forwarded_fields(const Fields& from_app, const ForwardedRequest& request);

/// The isolating field, also for files that the gateway itself serves: it gives the pages of an app an opaque origin.
std::pair<std::string, std::string> isolation_field();

}  // namespace agw
