#pragma once

#include <chrono>
#include <string>

#include "api/authenticator.hpp"
#include "api/proxy_stream.hpp"
#include "features/apps/app_connection.hpp"
#include "features/apps/endpoint.hpp"
#include "features/apps/forwarding.hpp"
#include "features/apps/idle_connections.hpp"

namespace agw {

/// Forwards requests to the servers of apps and responses to clients, in pieces, at the speed of the slower side.
class AppProxy {
public:
  struct Patience {
    std::chrono::milliseconds with_response = std::chrono::minutes{1};  ///< until the response begins
    std::chrono::milliseconds with_reading = std::chrono::minutes{2};   ///< until the app reads more of the sent data
  };
  AppProxy(Loop& loop, const Authenticator& authenticator, IdleConnections& idle, Patience patience)
      : loop_(loop), authenticator_(authenticator), idle_(idle), patience_(patience) {}

  /// Forwards one request, and returns once the exchange has ended. `prefix` is the part of the path that the app does
  /// not see. Throws BadGateway `Dev server proxy failed`.
  Task<> forward(Request& request, ProxyStream& stream, AppEndpoint endpoint, std::string prefix);
  /// Connects the client to the app: forwards bytes unchanged in both directions, until either side ends.
  Task<> connect(ProxyStream& stream, AppEndpoint endpoint);

private:
  Task<bool> try_idle(ProxyStream& stream, const ForwardedRequest& request, int key);
  Task<bool> serve(ProxyStream& stream, AppConnection& app, const ForwardedRequest& request, int key);
  Task<> upload(ProxyStream& stream, AppConnection& app, const ForwardedRequest& request, bool& sent);
  Task<> response(ProxyStream& stream, AppConnection& app, const ForwardedRequest& request);
  Task<> tunnel(ProxyStream& stream, AppConnection& app, const ForwardedRequest& request);
  Task<> pass_bytes(ProxyStream& stream, AppConnection& app);
  Task<> read_head(ProxyStream& stream, AppConnection& app);

  Loop& loop_;
  const Authenticator& authenticator_;
  IdleConnections& idle_;
  const Patience patience_;
};

}  // namespace agw
