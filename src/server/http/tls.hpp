#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <openssl/types.h>

#include "config/settings.hpp"

namespace agw {

/// One TLS connection without a socket: the peer's bytes go in, bytes for the peer come out.
class TlsSession {
public:
  explicit TlsSession(SSL_CTX* context);
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

private:
  void collect();

  std::unique_ptr<SSL, void (*)(SSL*)> session_;
  std::string outgoing_;
};

/// The gateway's certificate and key. TLS 1.2 and 1.3.
class TlsContext {
public:
  /// Reads PEM files: the certificate chain, and the key. Throws StartError (usage) that names the configuration's line
  /// and says which file is missing, unreadable or invalid, or that they do not match.
  explicit TlsContext(const Settings::Tls& files);

  std::unique_ptr<TlsSession> session() const { return std::make_unique<TlsSession>(context_.get()); }
  /// SHA-256 of the certificate, in hex.
  std::string fingerprint() const;
  /// Warnings for people: an expired certificate, a key that others can read.
  const std::vector<std::string>& warnings() const { return warnings_; }

private:
  std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context_;
  std::vector<std::string> warnings_;
};

/// The context of the configuration's `tls`, or null without one. Throws as TlsContext does.
std::unique_ptr<TlsContext> configured_tls(const Settings::Tls& settings);

}  // namespace agw
