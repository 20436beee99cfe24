#pragma once

#include <chrono>
#include <string>

#include "api/authenticator.hpp"
#include "api/exchange.hpp"
#include "features/apps/app_connection.hpp"
#include "features/apps/forwarding.hpp"

namespace agw {

/// Passes requests on to the servers of apps and their answers back, piece by piece, as fast as the slower side goes.
class AppProxy {
public:
  /// An app has `patience` to begin an answer.
  AppProxy(Loop& loop, const Authenticator& authenticator, std::chrono::milliseconds patience = std::chrono::minutes{1})
      : loop_(loop), authenticator_(authenticator), patience_(patience) {}

  /// Returns when the exchange is over. `prefix` is the part of the path that the app does not see. Throws BadGateway
  /// `Dev server proxy failed`.
  Task<> pass(Request& request, Exchange& exchange, int port, std::string prefix);

private:
  Task<> serve(Exchange& exchange, AppConnection& app, const ForwardedRequest& request);
  Task<> upload(Exchange& exchange, AppConnection& app, const ForwardedRequest& request);
  Task<> answer(Exchange& exchange, AppConnection& app, const ForwardedRequest& request);
  Task<> tunnel(Exchange& exchange, AppConnection& app, const ForwardedRequest& request);
  Task<> read_head(Exchange& exchange, AppConnection& app);

  Loop& loop_;
  const Authenticator& authenticator_;
  const std::chrono::milliseconds patience_;
};

}  // namespace agw
