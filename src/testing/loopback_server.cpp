#include "testing/loopback_server.hpp"

#include <fmt/format.h>
#include <boost/algorithm/string/case_conv.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace agw::testing {

namespace {

using asio::ip::tcp;

std::size_t declared_length(std::string head) {
  boost::to_lower(head);
  constexpr std::string_view name = "\r\ncontent-length:";
  const auto found = head.find(name);
  return found == std::string::npos ? 0 : std::stoul(head.substr(found + name.size()));
}

}  // namespace

LoopbackServer::LoopbackServer(Loop& loop, std::vector<std::string> responds, After after)
    : acceptor_(loop, tcp::endpoint(asio::ip::address_v4::loopback(), 0)),
      responses_(std::move(responds)),
      after_(after),
      closed_by_client_(loop),
      group_(loop) {
  group_.spawn(accept());
}

std::string LoopbackServer::url(std::string_view path) const {
  return fmt::format("http://127.0.0.1:{}{}", acceptor_.local_endpoint().port(), path);
}

Task<> LoopbackServer::close() {
  group_.cancel();
  acceptor_.close();
  co_await group_.join();
}

Task<> LoopbackServer::accept() {
  for (;;) {
    auto socket = co_await acceptor_.async_accept(asio::use_awaitable);
    ++connections_;
    group_.spawn(serve(std::move(socket)));
  }
}

Task<> LoopbackServer::serve(tcp::socket socket) {
  std::string buffer;
  for (;;) {
    auto request = co_await read_request(socket, buffer);
    if (request.empty()) break;
    requests_.push_back(std::move(request));
    const auto response = responded_ < responses_.size() ? responses_[responded_++] : std::string();
    if (response == hang_up) co_return;
    boost::system::error_code gone;
    co_await asio::async_write(socket, asio::buffer(response), asio::redirect_error(asio::use_awaitable, gone));
    if (after_ == After::close) co_return;
  }
  closed_by_client_.notify();
}

Task<std::string> LoopbackServer::read_request(tcp::socket& socket, std::string& buffer) {
  for (;;) {
    const auto end = buffer.find("\r\n\r\n");
    if (end != std::string::npos) {
      const auto size = end + 4 + declared_length(buffer.substr(0, end));
      if (buffer.size() >= size) {
        auto request = buffer.substr(0, size);
        buffer.erase(0, size);
        co_return request;
      }
    }
    std::string piece(16 * 1024, '\0');
    boost::system::error_code gone;
    const auto got =
        co_await socket.async_read_some(asio::buffer(piece), asio::redirect_error(asio::use_awaitable, gone));
    if (gone) co_return std::string();
    buffer.append(piece, 0, got);
  }
}

}  // namespace agw::testing
