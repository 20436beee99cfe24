#pragma once

#include <boost/asio/ip/tcp.hpp>

#include "base/async/task.hpp"

namespace agw {

/// Passes on what `from` sends, until it has sent everything: then `to` is closed for sending, and the result is true.
/// False if a connection failed or the wait was cancelled. A connection on which nothing happens holds no buffer; large
/// amounts are moved within the kernel. Makes both sockets non-blocking and keeps them from delaying small pieces.
/// Example: src/io/proxy/relay_test.cpp: Relay.PassesEverythingOn
Task<bool> relay(asio::ip::tcp::socket& from, asio::ip::tcp::socket& to);

}  // namespace agw
