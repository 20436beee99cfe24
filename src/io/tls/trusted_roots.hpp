#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <openssl/types.h>

#include "io/tls/tls_session.hpp"

namespace agw {

/// The certificate authorities that this host trusts: those in the file named by `SSL_CERT_FILE` in the gateway's
/// environment, else the system's.
class TrustedRoots {
public:
  /// Throws TlsError if the file does not exist or contains no certificate. Blocks for about 20 ms.
  static std::shared_ptr<const TrustedRoots> load(std::filesystem::path file);
  /// The file that `load` should read. Throws TlsError if there is none. Blocks.
  static std::filesystem::path find_file();

  /// The client side of a TLS connection to `host` (a name, or an address without brackets). Requires a certificate for
  /// that host. HTTP/1.1 only.
  std::unique_ptr<TlsSession> session_to(const std::string& host) const;

  /// Has connections of a client's context require a certificate of these authorities, which they share.
  void use_in(SSL_CTX* context) const;

  const std::filesystem::path& file() const { return file_; }
  /// The content of the file.
  const std::string& certificates() const { return certificates_; }

private:
  TrustedRoots(std::filesystem::path file, std::string certificates);

  std::filesystem::path file_;
  std::string certificates_;
  std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context_;
};

/// Loads the authorities at the first use, and again when their file has changed. Thread-safe.
class TrustedRootsFile {
public:
  /// Throws TlsError. Blocks.
  std::shared_ptr<const TrustedRoots> load();

private:
  std::mutex mutex_;
  std::shared_ptr<const TrustedRoots> loaded_;
  std::filesystem::file_time_type written_at_{};
};

/// The system's own file, without symlinks; nullopt if there is none. Blocks.
std::optional<std::filesystem::path> system_roots_file();

/// The reason for a failed handshake, for people: the problem with the server's certificate, or that it does not
/// support TLS.
std::string handshake_problem(TlsSession& session);

}  // namespace agw
