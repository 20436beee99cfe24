#pragma once

#include <string>

#include <boost/asio/ip/tcp.hpp>

#include "base/group.hpp"
#include "base/wakeup.hpp"

namespace agw::cli {

/// Waits on a port of this machine for a browser that a service sends back after a login (RFC 8252, section 7.3).
class RedirectListener {
public:
  /// Throws boost::system::system_error where no port can be had.
  explicit RedirectListener(Loop& loop);
  ~RedirectListener();

  /// What to name as `redirect_uri`.
  std::string address() const;
  /// The whole address that the browser came with.
  Task<std::string> wait();
  Task<> stop();

private:
  Task<> accept();
  Task<> serve(asio::ip::tcp::socket browser);

  asio::ip::tcp::acceptor acceptor_;
  Group group_;
  Wakeup came_;
  std::string target_;
};

}  // namespace agw::cli
