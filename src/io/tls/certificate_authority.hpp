#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include <openssl/types.h>

#include "base/time/time.hpp"
#include "io/tls/tls_session.hpp"

namespace agw {

/// Why TLS cannot be set up, for people.
class TlsError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// The gateway's own certificate authority. The gateway uses it to act as a server towards programs that trust it. Its
/// key (ECDSA, P-256) is stored in one file of the data directory together with its certificate, and nowhere else.
/// Certificates of hosts are created on demand, last two days, and are kept only in memory.
/// Example: src/io/tls/certificate_authority_test.cpp: CertificateAuthorityTest.IsMadeOnceAndReadAgain
class CertificateAuthority {
public:
  static constexpr std::size_t max_certificates = 256;

  /// Reads the authority from `file` (PEM, mode 0600), or creates one if it is missing or expires soon. Throws TlsError
  /// if others can read the file or it contains something else. Blocks.
  static std::shared_ptr<CertificateAuthority> load_or_create(const std::filesystem::path& file, Timestamp now);

  /// When the certificate in `file` expires; nullopt if the file does not exist. Changes nothing. Throws like
  /// `load_or_create`. Blocks.
  static std::optional<Timestamp> end_in(const std::filesystem::path& file);
  /// How long before its expiry an authority is replaced, so that it does not expire under long-running programs.
  static constexpr std::chrono::days renewal_time{90};

  ~CertificateAuthority();
  CertificateAuthority(const CertificateAuthority&) = delete;
  CertificateAuthority& operator=(const CertificateAuthority&) = delete;

  /// The certificate as PEM.
  const std::string& certificate() const { return certificate_; }
  /// When it must be replaced.
  Timestamp renewed_at() const { return renewed_at_; }

  /// The server side of a TLS connection, with a certificate for `host` (a name, or an address without brackets).
  /// HTTP/1.1 only. Call it on the loop.
  std::unique_ptr<TlsSession> session_for(const std::string& host, Timestamp now);

private:
  struct Keys;
  static bool read(const std::filesystem::path& file, Keys& keys);
  struct HostCertificate;
  explicit CertificateAuthority(std::unique_ptr<Keys> keys);
  const HostCertificate& certificate_for(const std::string& host, Timestamp now);

  std::unique_ptr<Keys> keys_;
  std::string certificate_;
  Timestamp renewed_at_{};
  std::map<std::string, HostCertificate, std::less<>> hosts_;
};

}  // namespace agw
