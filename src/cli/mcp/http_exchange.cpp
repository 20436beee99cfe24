#include "cli/mcp/http_exchange.hpp"

#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include "cli/client/gateway_stream.hpp"

namespace agw::cli {

namespace {

namespace http = boost::beast::http;

http::request<http::string_body> beast_request(const FoundGateway& gateway, McpHttpRequest wanted) {
  http::request<http::string_body> request(http::string_to_verb(wanted.method), wanted.path, 11,
                                           std::move(wanted.body));
  request.set(http::field::host, host_and_port(gateway));
  request.set(http::field::connection, "close");
  request.set(http::field::accept, "application/json, text/event-stream");
  if (gateway.token) request.set(http::field::authorization, "Bearer " + *gateway.token);
  if (!request.body().empty()) request.set(http::field::content_type, "application/json");
  for (const auto& [name, value] : wanted.headers) request.set(name, value);
  request.prepare_payload();
  return request;
}

/// Passes the data of complete events at the start of `text` to `on_message`, and removes these events.
void take_events(std::string& text, const std::function<void(std::string_view)>& on_message) {
  constexpr std::string_view data = "data: ";
  for (auto end = text.find("\n\n"); end != text.npos; end = text.find("\n\n")) {
    std::string_view event(text.data(), end + 1);
    while (!event.empty()) {
      const auto line = event.substr(0, event.find('\n'));
      if (line.size() > data.size() && line.starts_with(data)) on_message(line.substr(data.size()));
      event.remove_prefix(line.size() + 1);
    }
    text.erase(0, end + 2);
  }
}

}  // namespace

Task<McpHttpResponse> exchange(FoundGateway gateway, McpHttpRequest wanted,
                               std::function<void(std::string_view data)> on_message) {
  const auto request = beast_request(gateway, std::move(wanted));
  auto stream = co_await connect(gateway);
  co_await http::async_write(stream, request, asio::use_awaitable);
  boost::beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(boost::none);
  co_await http::async_read_header(stream, buffer, parser, asio::use_awaitable);
  const auto& head = parser.get();
  McpHttpResponse response{.status = static_cast<int>(head.result_int()), .session = head["Mcp-Session-Id"]};
  const bool has_events = head[http::field::content_type] == "text/event-stream";
  while (!parser.is_done()) {
    co_await http::async_read_some(stream, buffer, parser, asio::use_awaitable);
    if (has_events) take_events(parser.get().body(), on_message);
  }
  if (!has_events) response.body = std::move(parser.get().body());
  co_return response;
}

}  // namespace agw::cli
