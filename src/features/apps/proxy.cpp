#include "features/apps/proxy.hpp"

#include <fmt/format.h>

#include "api/request.hpp"
#include "base/async/assert.hpp"
#include "base/async/task_group.hpp"

namespace agw {

namespace {

constexpr int switching_protocols = 101;

BadGateway failed() { return BadGateway("Dev server proxy failed"); }

/// Whether repeating the request is safe. Necessary because a server may close an idle connection just when a request
/// is sent.
bool may_be_repeated(const ProxyStream& stream, const ForwardedRequest& request) {
  const auto method = stream.method();
  const bool is_safe = method == "GET" || method == "HEAD" || method == "OPTIONS";
  return is_safe && !request.upgrade && stream.body_length() == 0;
}

Task<> forward_client_bytes(ProxyStream& stream, AppConnection& app) {
  while (const auto piece = co_await stream.read()) {
    if (!co_await app.send(*piece)) break;
  }
  app.interrupt();
}

Task<> read_head_of(AppConnection& app, bool without_body, bool& has_arrived) {
  has_arrived = co_await app.read_head(without_body);
}

}  // namespace

Task<> AppProxy::forward(Request& request, ProxyStream& stream, AppEndpoint endpoint, std::string prefix) {
  const int key = endpoint.key();
  const auto forwarded = forwarded_request(request, stream, prefix, endpoint.port,
                                           [this](std::string_view text) { return authenticator_.accepts(text); });
  if (may_be_repeated(stream, forwarded) && co_await try_idle(stream, forwarded, key)) co_return;
  const auto app = co_await AppConnection::open(std::move(endpoint), patience_.with_reading);
  if (!app || !co_await serve(stream, *app, forwarded, key)) throw failed();
}

/// Tries to serve the request on an idle connection. Returns false if there is none that still works.
Task<bool> AppProxy::try_idle(ProxyStream& stream, const ForwardedRequest& request, int key) {
  auto socket = idle_.take(key);
  if (!socket) co_return false;
  AppConnection app(*std::move(socket), patience_.with_reading);
  co_return co_await serve(stream, app, request, key);
}

/// Serves the request on a connection. Returns false if the app closed it without a response.
Task<bool> AppProxy::serve(ProxyStream& stream, AppConnection& app, const ForwardedRequest& request, int key) {
  const StopSource::Listener listener(stream.stop_source(), [&] { app.interrupt(); });
  if (!co_await app.send(request.head)) co_return stream.stop_source().requested();
  bool sent = false;
  TaskGroup uploads(loop_);
  // The first bytes of a WebSocket must not be sent before the app has accepted it.
  if (!request.upgrade) uploads.spawn(upload(stream, app, request, sent));
  std::exception_ptr failure;
  try {
    co_await response(stream, app, request);
  } catch (const std::exception&) {
    failure = std::current_exception();
  }
  const bool reusable = sent && app.reusable();
  uploads.cancel();
  co_await uploads.join();
  // Bytes of this request would become part of the next one.
  AGW_ASSERT(!reusable || !request.upgrade);
  AGW_ASSERT(!reusable || app.complete());
  if (stream.stop_source().requested()) co_return true;
  if (failure && app.closed_without_response()) co_return false;
  if (failure) std::rethrow_exception(failure);
  if (reusable) idle_.add(key, app.release());
  co_return true;
}

/// Forwards the body, then waits for the client to disconnect.
Task<> AppProxy::upload(ProxyStream& stream, AppConnection& app, const ForwardedRequest& request, bool& sent) {
  AGW_ASSERT(!sent);
  AGW_ASSERT(!request.upgrade);
  for (;;) {
    const auto piece = co_await stream.read();
    if (!piece) break;
    if (piece->empty()) {
      if (request.chunked && !co_await app.send("0\r\n\r\n")) co_return;
      sent = true;
      co_await stream.wait_for_disconnect();
      break;
    }
    // An app that stops reading the body may still respond.
    const auto framed = request.chunked ? fmt::format("{:x}\r\n{}\r\n", piece->size(), *piece) : *piece;
    if (!co_await app.send(framed)) co_return;
  }
  app.interrupt();
}

Task<> AppProxy::response(ProxyStream& stream, AppConnection& app, const ForwardedRequest& request) {
  co_await read_head(stream, app);
  const auto& head = app.head();
  if (head.status == switching_protocols && request.upgrade) co_return co_await tunnel(stream, app, request);
  if (head.status == switching_protocols) throw failed();
  const bool begun = co_await stream.begin(
      {.status = head.status, .fields = forwarded_fields(head.fields, request), .length = head.length});
  if (!begun) co_return;
  for (;;) {
    const auto* pieces = co_await app.read_body();
    if (pieces->empty()) break;
    for (const auto piece : *pieces) {
      if (!co_await stream.send(piece)) co_return;
    }
    co_await app.splice_body(stream);
  }
  if (app.complete()) co_await stream.end();
}

Task<> AppProxy::read_head(ProxyStream& stream, AppConnection& app) {
  bool has_arrived = false;
  StopSource never;
  co_await with_timeout(never, patience_.with_response, read_head_of(app, stream.method() == "HEAD", has_arrived));
  if (!has_arrived) throw failed();
}

Task<> AppProxy::tunnel(ProxyStream& stream, AppConnection& app, const ForwardedRequest& request) {
  if (co_await stream.upgrade(forwarded_fields(app.head().fields, request))) co_await pass_bytes(stream, app);
}

Task<> AppProxy::connect(ProxyStream& stream, AppEndpoint endpoint) {
  const auto app = co_await AppConnection::open(std::move(endpoint), patience_.with_reading);
  if (!app) throw failed();
  const StopSource::Listener listener(stream.stop_source(), [&] { app->interrupt(); });
  if (co_await stream.upgrade({})) co_await pass_bytes(stream, *app);
}

Task<> AppProxy::pass_bytes(ProxyStream& stream, AppConnection& app) {
  TaskGroup uploads(loop_);
  uploads.spawn(forward_client_bytes(stream, app));
  for (;;) {
    const auto bytes = co_await app.read_raw();
    if (bytes.empty() || !co_await stream.send(bytes)) break;
  }
  uploads.cancel();
  co_await uploads.join();
}

}  // namespace agw
