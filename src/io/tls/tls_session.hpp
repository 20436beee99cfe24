#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <openssl/types.h>

namespace agw {

/// The side of a TLS connection.
enum class TlsRole { server, client };

/// One TLS connection without a socket: takes the peer's bytes and produces bytes for the peer.
class TlsSession {
public:
  explicit TlsSession(SSL_CTX* context, TlsRole role = TlsRole::server);
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  /// Adds bytes received from the peer.
  void put(std::string_view bytes);
  /// Bytes to be sent to the peer; the sender removes them.
  std::string& outgoing() { return outgoing_; }

  /// Continues the handshake as far as possible. Returns false if it failed.
  bool advance_handshake();
  bool established() const;
  /// Appends decrypted bytes to `in`. Returns false if the peer has closed the connection or violated the protocol.
  bool read(std::string& in);
  /// Encrypts `bytes`. Returns false if the session is broken.
  bool write(std::string_view bytes);
  /// Sends close_notify.
  void end();
  /// Whether the peer has sent close_notify, so that its data is complete.
  bool ended_by_peer() const;

  /// For settings before the handshake, and its results.
  SSL* handle() { return session_.get(); }

private:
  void collect();

  std::unique_ptr<SSL, void (*)(SSL*)> session_;
  std::string outgoing_;
};

/// Makes a server's context choose HTTP/1.1 by ALPN (RFC 7301) if clients offer it. Otherwise the handshake continues
/// without a choice.
void choose_http_1_1(SSL_CTX* context);

}  // namespace agw
