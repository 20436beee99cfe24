#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <openssl/types.h>

#include "config/settings.hpp"

namespace agw {

/// One encrypted connection, as a machine that knows no socket: bytes of the peer go in, bytes for it come out.
class TlsSession {
public:
  explicit TlsSession(SSL_CTX* context);
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  /// What the peer sent.
  void put(std::string_view bytes);
  /// What is to be sent to it: whoever sends it takes it off.
  std::string& outgoing() { return outgoing_; }

  /// Goes on with the handshake as far as it can. False when it has failed.
  bool shake_hands();
  bool established() const;
  /// Appends what the peer said. False when it has ended, or broke the rules.
  bool read(std::string& in);
  /// Encrypts `bytes`. False when the session is broken.
  bool write(std::string_view bytes);
  /// Tells the peer that nothing more comes.
  void end();

private:
  void collect();

  std::unique_ptr<SSL, void (*)(SSL*)> session_;
  std::string outgoing_;
};

/// What the gateway shows of itself: its certificate. TLS 1.2 and 1.3.
class TlsContext {
public:
  /// PEM files: the certificate with those that vouch for it behind it, and its key. Throws StartError (usage) that
  /// says which of them is missing, unreadable, broken, or does not belong to the other, with the line of the
  /// configuration in front that names it.
  explicit TlsContext(const Settings::Tls& files);

  std::unique_ptr<TlsSession> session() const { return std::make_unique<TlsSession>(context_.get()); }
  /// Of the certificate: SHA-256 in hex.
  std::string fingerprint() const;
  /// What can be used but should not stay so, for people: a certificate that has expired, a key that others can read.
  const std::vector<std::string>& warnings() const { return warnings_; }

private:
  std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context_;
  std::vector<std::string> warnings_;
};

/// What `tls` of the configuration says; null where it says nothing. Throws as TlsContext does.
std::unique_ptr<TlsContext> configured_tls(const Settings::Tls& settings);

}  // namespace agw
