#include "server/websocket/handler_socket.hpp"

#include <exception>
#include <utility>

#include "api/route.hpp"
#include "base/async/assert.hpp"
#include "base/error.hpp"
#include "base/log.hpp"

namespace agw {

using websocket::CloseCode;

HandlerSocket::HandlerSocket(Loop& loop, SocketStream& stream, WebSocketFlusher& flusher, Request request,
                             std::size_t message_limit)
    : WebSocket(loop, stream, flusher, message_limit), request_(std::move(request)), changed_(loop), handling_(loop) {
  AGW_ASSERT(request_.route);
  AGW_ASSERT(request_.route->socket);
}

Task<> HandlerSocket::serve(std::string first_bytes) {
  handling_.spawn(handle());
  co_await run(std::move(first_bytes));
  closed();
  co_await handling_.join();
  AGW_ASSERT(closing());  // the handler's end closes the socket
}

Task<> HandlerSocket::handle() {
  try {
    co_await request_.route->socket(request_, *this);
    close(CloseCode::normal, {});
  } catch (...) {
    log::error("the WebSocket at {} failed: {}", request_.route->path, message_of(std::current_exception()));
    close(CloseCode::internal_error, "internal server error");
  }
}

void HandlerSocket::received(std::string text) {
  unread_.push_back(std::move(text));
  changed_.pulse();
}

Task<> HandlerSocket::ready_for_more() {
  while (!unread_.empty() && !stop_source_.requested()) co_await changed_.wait();
}

void HandlerSocket::closed() {
  stop_source_.request();
  changed_.pulse();
}

Task<std::optional<std::string>> HandlerSocket::read() {
  while (unread_.empty() && !stop_source_.requested()) co_await changed_.wait();
  if (unread_.empty()) co_return std::nullopt;
  auto message = std::move(unread_.front());
  unread_.pop_front();
  changed_.pulse();
  co_return message;
}

}  // namespace agw
