#include "cli/commands/redirect_listener.hpp"

#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <boost/asio/buffer.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace agw::cli {

namespace {

using asio::ip::tcp;

constexpr std::string_view callback = "/callback";
constexpr std::size_t max_head_length = 64 * 1024;
constexpr std::size_t max_browsers = 32;

std::string response(std::string_view status, std::string_view text) {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Security-Policy: default-src 'none'\r\n"
      "Cache-Control: no-store\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{}",
      status, text.size(), text);
}

/// The target of `GET /callback?code=1 HTTP/1.1`; empty for anything else.
std::string target_of(std::string_view head) {
  constexpr std::string_view get = "GET ";
  if (!head.starts_with(get)) return {};
  head.remove_prefix(get.size());
  return std::string(head.substr(0, head.find_first_of(" \r\n")));
}

}  // namespace

RedirectListener::RedirectListener(Loop& loop)
    : acceptor_(loop, tcp::endpoint(asio::ip::address_v4::loopback(), 0)), group_(loop), came_(loop) {
  group_.on_failure([](std::exception_ptr) { /* a browser that left; another may come */ });
  group_.spawn(accept());
}

RedirectListener::~RedirectListener() = default;

std::string RedirectListener::address() const {
  return fmt::format("http://127.0.0.1:{}{}", acceptor_.local_endpoint().port(), callback);
}

Task<std::string> RedirectListener::wait() {
  co_await came_.wait();
  co_return fmt::format("http://127.0.0.1:{}{}", acceptor_.local_endpoint().port(), target_);
}

Task<> RedirectListener::stop() {
  group_.cancel();
  co_await group_.join();
}

/// Browsers open connections in advance, so each has its own coroutine.
Task<> RedirectListener::accept() {
  for (;;) {
    auto browser = co_await acceptor_.async_accept(asio::use_awaitable);
    if (group_.size() < max_browsers) group_.spawn(serve(std::move(browser)));
  }
}

Task<> RedirectListener::serve(tcp::socket browser) {
  std::string head;
  co_await asio::async_read_until(browser, asio::dynamic_buffer(head, max_head_length), "\r\n\r\n",
                                  asio::use_awaitable);
  auto target = target_of(head);
  const bool is_response = target.starts_with(callback) && target.find("state=") != std::string::npos;
  const auto text =
      is_response ? response("200 OK", "<!doctype html><title>Agent Gateway</title><p>You can close this page.</p>")
                  : response("404 Not Found", "");
  co_await asio::async_write(browser, asio::buffer(text), asio::use_awaitable);
  if (!is_response || came_.happened()) co_return;
  target_ = std::move(target);
  came_.notify();
}

}  // namespace agw::cli
