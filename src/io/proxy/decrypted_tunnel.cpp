#include "io/proxy/decrypted_tunnel.hpp"

#include <chrono>
#include <exception>
#include <utility>

#include <fmt/format.h>
#include <openssl/ssl.h>
#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/predicate.hpp>

#include "base/async/assert.hpp"
#include "base/async/cancellation.hpp"
#include "io/http/public_address.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr auto handshake_timeout = 10s;
constexpr auto drain_timeout = 2s;
constexpr std::size_t max_filled_head_bytes = std::size_t{128} * 1024;
// A head without secrets is never too long.
static_assert(max_filled_head_bytes >= RequestParser::head_limit);

/// Whether the connection switches to another protocol. `h2c` is ignored over TLS (RFC 9113, 3.1).
bool changes_protocol(const Head& head) {
  const auto protocol = head.field("upgrade");
  return protocol && !boost::iequals(*protocol, "h2c");
}

std::string chunk_of(std::string_view bytes) { return fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes); }

}  // namespace

DecryptedTunnel::DecryptedTunnel(const Services& services, HostPort target, Socket& inside, Socket& outside,
                                 std::string received, std::shared_ptr<void> owner)
    : services_(services),
      target_(std::move(target)),
      owner_(std::move(owner)),
      inside_(services.loop, inside,
              services.secrets->trust().authority->session_for(target_.host, SystemClock().now()), received),
      outside_(services.loop, outside, services.secrets->trust().roots->session_to(target_.host)) {}

Task<bool> DecryptedTunnel::run() {
  AGW_ASSERT(!has_requests_);
  AGW_ASSERT(!refusal_);
  if (!co_await inside_.handshake(handshake_timeout)) co_return false;
  if (co_await open()) {
    while (co_await forward_request()) {
    }
  }
  co_await end();
  co_return true;
}

/// Completes both handshakes. Sends nothing to the host before its certificate is checked.
Task<bool> DecryptedTunnel::open() {
  AGW_ASSERT(inside_.session().established());
  if (const auto named = named_host(); !named.empty() && named != target_.host) {
    co_return refuse(421, fmt::format("this connection leads to {}, but its TLS handshake names {}: no secret is "
                                      "filled in, and nothing was sent",
                                      target_.text(), named));
  }
  if (co_await outside_.handshake(handshake_timeout)) co_return true;
  co_return refuse(502,
                   fmt::format("nothing was sent to {}: {}", target_.text(), handshake_problem(outside_.session())));
}

/// The host named in the program's handshake (RFC 6066, 3), in lower case; empty if there is none.
std::string DecryptedTunnel::named_host() {
  const auto* name = SSL_get_servername(inside_.session().handle(), TLSEXT_NAMETYPE_host_name);
  return boost::to_lower_copy(std::string(without_root(name ? name : "")));
}

Task<bool> DecryptedTunnel::forward_request() {
  AGW_ASSERT(!refusal_);
  if (!co_await read_head()) co_return false;
  auto head = co_await fill(std::move(head_));
  if (refusal_) co_return false;
  if (!std::exchange(has_requests_, true)) {
    services_.connections.spawn(forward_responses());
  }
  if (!co_await outside_.write(head)) co_return false;
  if (!co_await forward_body()) co_return false;
  if (changes_protocol(parser_.head())) co_return co_await forward_remaining();
  parser_.reset();
  co_return true;
}

Task<bool> DecryptedTunnel::read_head() {
  std::string bytes;
  for (;;) {
    const auto used = parser_.put(received_);
    AGW_ASSERT(used <= received_.size());
    if (parser_.head_done()) head_ = received_.substr(0, used);
    received_.erase(0, used);
    if (const auto& refusal = parser_.refusal())
      co_return refuse(static_cast<unsigned>(refusal->status), refusal->error);
    if (parser_.head_done()) break;
    if (!co_await inside_.read(bytes)) co_return false;
    received_ += bytes;
  }
  // Empty lines before a request are allowed, but not forwarded.
  head_.erase(0, head_.find_first_not_of("\r\n"));
  AGW_ASSERT(head_.ends_with("\r\n\r\n"));
  co_return true;
}

Task<std::string> DecryptedTunnel::fill(std::string raw) {
  auto variables = services_.secrets->needed_in(raw, parser_.head(), target_);
  if (variables.empty()) co_return raw;
  try {
    const auto fillings = co_await services_.blocking.run(
        [secrets = services_.secrets, variables = std::move(variables)] { return secrets->fillings(variables); });
    raw = filled(raw, fillings);
  } catch (const boost::system::system_error&) {
    throw;  // ends this coroutine
  } catch (const std::runtime_error& error) {
    refuse(502, fmt::format("nothing was sent to {}: {}", target_.text(), error.what()));
  }
  if (raw.size() > max_filled_head_bytes) refuse(431, "the head of the request is over 128 KiB with its secrets");
  co_return raw;
}

/// Frames chunks again, without extensions and trailers, so that the host cannot interpret their ends differently.
Task<bool> DecryptedTunnel::forward_body() {
  AGW_ASSERT(parser_.head_done());
  const bool chunked = parser_.head().chunked;
  std::string bytes;
  parser_.stream_body();
  while (!parser_.done()) {
    const auto used = parser_.put(received_);
    AGW_ASSERT(used <= received_.size());
    received_.erase(0, used);
    if (const auto& refusal = parser_.refusal())
      co_return refuse(static_cast<unsigned>(refusal->status), refusal->error);
    const auto body = parser_.take_body();
    if (!body.empty() && !co_await outside_.write(chunked ? chunk_of(body) : body)) co_return false;
    if (used > 0 || parser_.done()) continue;
    if (!co_await inside_.read(bytes)) co_return false;
    received_ += bytes;
  }
  co_return !chunked || co_await outside_.write("0\r\n\r\n");
}

/// Forwards everything else without filling in secrets.
Task<bool> DecryptedTunnel::forward_remaining() {
  auto bytes = std::exchange(received_, {});
  do {
    if (!co_await outside_.write(bytes)) co_return false;
  } while (co_await inside_.read(bytes));
  co_return false;
}

/// Sends a refusal only after the responses to earlier requests, which the host completes once it sees their end.
Task<> DecryptedTunnel::forward_responses() {
  const auto self = shared_from_this();
  std::string bytes;
  bool is_read = true;
  while (is_read && co_await outside_.read(bytes)) is_read = co_await inside_.write(bytes);
  if (is_read && refusal_) co_await inside_.write(proxy_response(refusal_->status, refusal_->sentence));
  // A missing close_notify shows the program that a response is incomplete.
  if (refusal_ || outside_.session().ended_by_peer())
    co_await inside_.end();
  else
    inside_.abort();
}

bool DecryptedTunnel::refuse(unsigned status, std::string sentence) {
  AGW_ASSERT(!refusal_);
  AGW_ASSERT(status >= 400);
  AGW_ASSERT(!sentence.empty());
  refusal_ = Refusal{.status = status, .sentence = std::move(sentence)};
  return false;
}

Task<> DecryptedTunnel::end() {
  if (has_requests_) co_await outside_.end();
  if (!refusal_) co_return;
  if (!has_requests_) {
    co_await inside_.write(proxy_response(refusal_->status, refusal_->sentence));
    co_await inside_.end();
  }
  // Closing with unread bytes would reset the connection, and the program might miss the response.
  StopSource never;
  co_await with_timeout(never, drain_timeout, drain());
}

Task<> DecryptedTunnel::drain() {
  std::string bytes;
  while (co_await inside_.read(bytes)) {
  }
}

}  // namespace agw
