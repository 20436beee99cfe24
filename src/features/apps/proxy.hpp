#pragma once

#include <chrono>
#include <string>

#include "api/authenticator.hpp"
#include "api/exchange.hpp"
#include "features/apps/app_connection.hpp"
#include "features/apps/forwarding.hpp"
#include "features/apps/idle_connections.hpp"

namespace agw {

/// Passes requests on to the servers of apps and their answers back, piece by piece, as fast as the slower side goes.
class AppProxy {
public:
  /// An app has `patience` to begin an answer.
  AppProxy(Loop& loop, const Authenticator& authenticator, IdleConnections& idle,
           std::chrono::milliseconds patience = std::chrono::minutes{1})
      : loop_(loop), authenticator_(authenticator), idle_(idle), patience_(patience) {}

  /// Returns when the exchange is over. `prefix` is the part of the path that the app does not see. Throws BadGateway
  /// `Dev server proxy failed`.
  Task<> pass(Request& request, Exchange& exchange, int port, std::string prefix);

private:
  Task<bool> try_idle(Exchange& exchange, const ForwardedRequest& request, int port);
  Task<bool> serve(Exchange& exchange, AppConnection& app, const ForwardedRequest& request, int port);
  Task<> upload(Exchange& exchange, AppConnection& app, const ForwardedRequest& request, bool& sent);
  Task<> answer(Exchange& exchange, AppConnection& app, const ForwardedRequest& request);
  Task<> tunnel(Exchange& exchange, AppConnection& app, const ForwardedRequest& request);
  Task<> read_head(Exchange& exchange, AppConnection& app);

  Loop& loop_;
  const Authenticator& authenticator_;
  IdleConnections& idle_;
  const std::chrono::milliseconds patience_;
};

}  // namespace agw
