#pragma once

#include <boost/asio/ip/tcp.hpp>

#include "base/async/task.hpp"

namespace agw {

/// Forwards the bytes of `from` to `to` until `from` ends, then closes `to` for sending and returns true. Returns false
/// if a connection failed or the wait was cancelled. An idle connection uses no buffer; large amounts are moved within
/// the kernel. Makes both sockets non-blocking and sends small pieces without delay.
/// Example: src/io/proxy/relay_test.cpp: Relay.PassesEverythingOn
Task<bool> relay(asio::ip::tcp::socket& from, asio::ip::tcp::socket& to);

}  // namespace agw
