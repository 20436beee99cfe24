#include "features/apps/proxy.hpp"

#include <fmt/format.h>

#include "api/request.hpp"
#include "base/group.hpp"

namespace agw {

namespace {

constexpr int switching_protocols = 101;

BadGateway failed() { return BadGateway("Dev server proxy failed"); }

/// The same again does no harm: a server may end an idle connection just when a request is on its way.
bool may_be_repeated(const Exchange& exchange, const ForwardedRequest& request) {
  const auto method = exchange.method();
  const bool is_safe = method == "GET" || method == "HEAD" || method == "OPTIONS";
  return is_safe && !request.upgrade && exchange.body_length() == 0;
}

Task<> passes_on_what_the_client_sends(Exchange& exchange, AppConnection& app) {
  while (const auto piece = co_await exchange.read()) {
    if (!co_await app.send(*piece)) break;
  }
  app.interrupt();
}

Task<> read_head_of(AppConnection& app, bool without_body, bool& has_come) {
  has_come = co_await app.read_head(without_body);
}

}  // namespace

Task<> AppProxy::pass(Request& request, Exchange& exchange, int port, std::string prefix) {
  const auto forwarded = forwarded_request(request, exchange, prefix, port,
                                           [this](std::string_view text) { return authenticator_.accepts(text); });
  if (may_be_repeated(exchange, forwarded) && co_await try_idle(exchange, forwarded, port)) co_return;
  const auto app = co_await AppConnection::open(port);
  if (!app || !co_await serve(exchange, *app, forwarded, port)) throw failed();
}

/// False where there is no connection that still serves.
Task<bool> AppProxy::try_idle(Exchange& exchange, const ForwardedRequest& request, int port) {
  auto socket = idle_.take(port);
  if (!socket) co_return false;
  AppConnection app(*std::move(socket));
  co_return co_await serve(exchange, app, request, port);
}

/// False where the app ended the connection without any answer.
Task<bool> AppProxy::serve(Exchange& exchange, AppConnection& app, const ForwardedRequest& request, int port) {
  const Stop::Listener cut_off(exchange.cut_off(), [&] { app.interrupt(); });
  if (!co_await app.send(request.head)) co_return exchange.cut_off().requested();
  bool sent = false;
  Group uploads(loop_);
  // A WebSocket's first bytes go nowhere before the app has agreed to it.
  if (!request.upgrade) uploads.spawn(upload(exchange, app, request, sent));
  std::exception_ptr failure;
  try {
    co_await answer(exchange, app, request);
  } catch (const std::exception&) {
    failure = std::current_exception();
  }
  const bool reusable = sent && app.reusable();
  uploads.cancel();
  co_await uploads.join();
  if (exchange.cut_off().requested()) co_return true;
  if (failure && app.closed_unanswered()) co_return false;
  if (failure) std::rethrow_exception(failure);
  if (reusable) idle_.keep(port, app.release());
  co_return true;
}

/// Passes the body on, and then looks out for a client that goes.
Task<> AppProxy::upload(Exchange& exchange, AppConnection& app, const ForwardedRequest& request, bool& sent) {
  for (;;) {
    const auto piece = co_await exchange.read();
    if (!piece) break;
    if (piece->empty()) {
      if (request.chunked && !co_await app.send("0\r\n\r\n")) co_return;
      sent = true;
      co_await exchange.gone();
      break;
    }
    // An app that takes no more of the body may answer all the same.
    const auto framed = request.chunked ? fmt::format("{:x}\r\n{}\r\n", piece->size(), *piece) : *piece;
    if (!co_await app.send(framed)) co_return;
  }
  app.interrupt();
}

Task<> AppProxy::answer(Exchange& exchange, AppConnection& app, const ForwardedRequest& request) {
  co_await read_head(exchange, app);
  const auto& head = app.head();
  if (head.status == switching_protocols && request.upgrade) co_return co_await tunnel(exchange, app, request);
  if (head.status == switching_protocols) throw failed();
  const bool begun = co_await exchange.begin(
      {.status = head.status, .fields = forwarded_fields(head.fields, request), .length = head.length});
  if (!begun) co_return;
  for (;;) {
    const auto* pieces = co_await app.read_body();
    if (pieces->empty()) break;
    for (const auto piece : *pieces) {
      if (!co_await exchange.send(piece)) co_return;
    }
    co_await app.move_body(exchange);
  }
  if (app.complete()) co_await exchange.end();
}

Task<> AppProxy::read_head(Exchange& exchange, AppConnection& app) {
  bool has_come = false;
  Stop never;
  co_await cut(never, patience_, read_head_of(app, exchange.method() == "HEAD", has_come));
  if (!has_come) throw failed();
}

Task<> AppProxy::tunnel(Exchange& exchange, AppConnection& app, const ForwardedRequest& request) {
  if (!co_await exchange.upgrade(forwarded_fields(app.head().fields, request))) co_return;
  Group uploads(loop_);
  uploads.spawn(passes_on_what_the_client_sends(exchange, app));
  for (;;) {
    const auto bytes = co_await app.read_raw();
    if (bytes.empty() || !co_await exchange.send(bytes)) break;
  }
  uploads.cancel();
  co_await uploads.join();
}

}  // namespace agw
