#include <memory>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <openssl/ssl.h>
#include <boost/asio/connect.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include "base/digest.hpp"
#include "cli/client/gateway_stream.hpp"

namespace agw::cli {

namespace {

boost::urls::url_view parsed_url(const FoundGateway& gateway) {
  const auto url = boost::urls::parse_uri(gateway.url);
  const auto scheme = url ? url->scheme_id() : boost::urls::scheme::none;
  const bool known = scheme == boost::urls::scheme::http || scheme == boost::urls::scheme::https;
  if (known && url->has_port()) return *url;
  throw std::runtime_error(
      fmt::format("the gateway's lock file names {}, which is not an address of a gateway", gateway.url));
}

[[noreturn]] void refuse(const FoundGateway& gateway, const boost::system::error_code& error) {
  if (error == asio::error::operation_aborted) throw boost::system::system_error(error);  // whoever waited says why
  throw std::runtime_error(fmt::format("the gateway (process {}) runs but cannot be reached at {}: {}", gateway.pid,
                                       gateway.url, error.message()));
}

/// In hex, as in the lock file.
std::string fingerprint_of(SSL* session) {
  const std::unique_ptr<X509, void (*)(X509*)> certificate(SSL_get1_peer_certificate(session), X509_free);
  return certificate ? fingerprint(*certificate) : std::string();
}

/// Encrypts the connection. Instead of checking the certificate against authorities, compares it with the one recorded
/// in the gateway's lock file, which only the same user can write.
Task<GatewayStream> secured(const FoundGateway& gateway, asio::ip::tcp::socket socket) {
  asio::ssl::context context(asio::ssl::context::tls_client);
  context.set_verify_mode(asio::ssl::verify_none);
  SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
  GatewayStream::Encrypted stream(std::move(socket), context);
  boost::system::error_code error;
  co_await stream.async_handshake(asio::ssl::stream_base::client, asio::redirect_error(asio::use_awaitable, error));
  if (error) refuse(gateway, error);
  if (gateway.certificate.empty() || fingerprint_of(stream.native_handle()) != gateway.certificate) {
    throw std::runtime_error(
        fmt::format("the server at {} has a different certificate than the gateway (process {}): nothing was sent",
                    gateway.url, gateway.pid));
  }
  co_return GatewayStream(std::move(stream));
}

}  // namespace

void GatewayStream::read_some(asio::mutable_buffer buffer, Handler handler) {
  if (encrypted_) return encrypted_->async_read_some(buffer, std::move(handler));
  plain_->async_read_some(buffer, std::move(handler));
}

void GatewayStream::write_some(asio::const_buffer buffer, Handler handler) {
  if (encrypted_) return encrypted_->async_write_some(buffer, std::move(handler));
  plain_->async_write_some(buffer, std::move(handler));
}

std::string host_and_port(const FoundGateway& gateway) {
  const auto text = parsed_url(gateway).encoded_host_and_port();
  return {text.data(), text.size()};
}

Task<GatewayStream> connect(const FoundGateway& gateway) {
  const auto url = parsed_url(gateway);
  const auto executor = co_await asio::this_coro::executor;
  asio::ip::tcp::resolver resolver(executor);
  asio::ip::tcp::socket socket(executor);
  boost::system::error_code error;
  // `::` means all addresses and cannot be connected to; uses the loopback addresses, one of which exists even without
  // IPv6.
  const auto host = url.host_address() == "::" ? std::string() : url.host_address();
  // A numeric address needs no lookup; a name is that of this machine.
  const auto addresses = resolver.resolve(host, std::string(url.port()), {}, error);
  if (error) refuse(gateway, error);
  co_await asio::async_connect(socket, addresses, asio::redirect_error(asio::use_awaitable, error));
  if (error) refuse(gateway, error);
  if (url.scheme_id() == boost::urls::scheme::https) co_return co_await secured(gateway, std::move(socket));
  co_return GatewayStream(std::move(socket));
}

}  // namespace agw::cli
