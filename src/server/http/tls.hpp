#pragma once

#include <memory>
#include <string>
#include <vector>

#include <openssl/types.h>

#include "config/settings.hpp"
#include "io/tls/tls_session.hpp"

namespace agw {

/// The gateway's certificate and key, for TLS 1.2 and 1.3.
/// Example: src/server/http/tls_test.cpp: Tls.WarnsOfAnExpiredCertificateAndOfAKeyThatOthersCanRead
class TlsContext {
public:
  /// Reads PEM files: the certificate chain, and the key. Throws StartError (usage) with the line of the configuration
  /// and the reason: a file is missing, unreadable or invalid, or the two do not match.
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

/// The context for the configuration's `tls`; null without that setting. Throws as TlsContext does.
std::unique_ptr<TlsContext> configured_tls(const Settings::Tls& settings);

}  // namespace agw
