#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <openssl/types.h>

namespace agw {

/// Which end of a TLS connection a session is.
enum class TlsRole { server, client };

/// One TLS connection without a socket: the peer's bytes go in, bytes for the peer come out.
class TlsSession {
public:
  explicit TlsSession(SSL_CTX* context, TlsRole role = TlsRole::server);
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  /// Passes in bytes that the peer sent.
  void put(std::string_view bytes);
  /// Bytes to send to the peer; the sender removes them.
  std::string& outgoing() { return outgoing_; }

  /// Advances the handshake as far as possible. Returns false if it failed.
  bool advance_handshake();
  bool established() const;
  /// Appends decrypted bytes to `in`. Returns false if the peer has closed, or violated the protocol.
  bool read(std::string& in);
  /// Encrypts `bytes`. Returns false if the session is broken.
  bool write(std::string_view bytes);
  /// Sends close_notify.
  void end();
  /// The peer has sent close_notify: what it sent before is complete.
  bool ended_by_peer() const;

  /// For settings before the handshake, and what it has found.
  SSL* handle() { return session_.get(); }

private:
  void collect();

  std::unique_ptr<SSL, void (*)(SSL*)> session_;
  std::string outgoing_;
};

/// Makes a server's context choose HTTP/1.1 by ALPN (RFC 7301) among what clients offer. If they offer only others, the
/// handshake continues without a choice.
void choose_http_1_1(SSL_CTX* context);

}  // namespace agw
