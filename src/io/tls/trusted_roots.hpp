#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <openssl/types.h>

#include "io/tls/tls_session.hpp"

namespace agw {

/// The certificate authorities that this host trusts: those of the file that `SSL_CERT_FILE` names in the gateway's
/// environment, else of the system's.
class TrustedRoots {
public:
  /// Throws TlsError if there is no such file, or no certificate in it. Blocks: it takes about 20 ms.
  static std::shared_ptr<const TrustedRoots> load(std::filesystem::path file);
  /// The file that `load` should read. Throws TlsError if there is none. Blocks.
  static std::filesystem::path find_file();

  /// The client's end of a TLS connection to `host` (a name, or an address without brackets), which demands a
  /// certificate for it. HTTP/1.1 only.
  std::unique_ptr<TlsSession> session_to(const std::string& host) const;

  const std::filesystem::path& file() const { return file_; }
  /// The file's content.
  const std::string& certificates() const { return certificates_; }

private:
  TrustedRoots(std::filesystem::path file, std::string certificates);

  std::filesystem::path file_;
  std::string certificates_;
  std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context_;
};

/// The file of the system itself, without symlinks; nullopt if it has none. Blocks.
std::optional<std::filesystem::path> system_roots_file();

/// Why a handshake failed, for people: what is wrong with the server's certificate, or that it speaks no TLS.
std::string handshake_problem(TlsSession& session);

}  // namespace agw
