#pragma once

#include <string>

#include <boost/asio/ip/tcp.hpp>

#include "base/async/async_event.hpp"
#include "base/async/task_group.hpp"

namespace agw::cli {

/// Listens on a local port for the browser, which a service redirects back after a login (RFC 8252, section 7.3).
class RedirectListener {
public:
  /// Throws boost::system::system_error if no port is available.
  explicit RedirectListener(Loop& loop);
  ~RedirectListener();

  /// The address for `redirect_uri`.
  std::string address() const;
  /// Returns the complete address that the browser requested.
  Task<std::string> wait();
  Task<> stop();

private:
  Task<> accept();
  Task<> serve(asio::ip::tcp::socket browser);

  asio::ip::tcp::acceptor acceptor_;
  TaskGroup group_;
  AsyncEvent came_;
  std::string target_;
};

}  // namespace agw::cli
