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

/// The gateway's own certificate authority, with which it stands in for servers towards programs that trust it. Its key
/// (ECDSA, P-256) is in one file of the data directory together with its certificate, and never elsewhere. Certificates
/// of hosts are made when they are needed, last two days, and are kept in memory only.
/// Example: src/io/tls/certificate_authority_test.cpp: CertificateAuthorityTest.IsMadeOnceAndReadAgain
class CertificateAuthority {
public:
  static constexpr std::size_t max_certificates = 256;

  /// Reads the authority in `file` (PEM, mode 0600), or creates one if there is none or it expires soon. Throws
  /// TlsError for a file that others can read or that holds something else. Blocks.
  static std::shared_ptr<CertificateAuthority> load_or_create(const std::filesystem::path& file, Timestamp now);

  /// When the certificate in `file` ends; nullopt if there is no such file. Changes nothing. Throws as `load_or_create`
  /// does. Blocks.
  static std::optional<Timestamp> end_in(const std::filesystem::path& file);
  /// How long before its end an authority is replaced, so that no long-lived program meets it.
  static constexpr std::chrono::days renewal_time{90};

  ~CertificateAuthority();
  CertificateAuthority(const CertificateAuthority&) = delete;
  CertificateAuthority& operator=(const CertificateAuthority&) = delete;

  /// In PEM form.
  const std::string& certificate() const { return certificate_; }
  /// When it has to be replaced.
  Timestamp renewed_at() const { return renewed_at_; }

  /// The server's end of a TLS connection, with a certificate for `host` (a name, or an address without brackets).
  /// HTTP/1.1 only. On the loop.
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
