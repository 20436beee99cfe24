#pragma once

#include <filesystem>
#include <memory>
#include <mutex>

#include "io/tls/certificate_authority.hpp"
#include "io/tls/trusted_roots.hpp"

namespace agw {

/// Both sides of decrypting the traffic of programs: the authority shown to programs, and the roots required of
/// servers.
struct TlsTrust {
  std::shared_ptr<CertificateAuthority> authority;
  std::shared_ptr<const TrustedRoots> roots;
};

/// Loads both at the first use, and again when their files have changed. Thread-safe.
class TlsTrustStore {
public:
  /// `authority_file` is in the data directory.
  explicit TlsTrustStore(std::filesystem::path authority_file) : authority_file_(std::move(authority_file)) {}

  /// Throws TlsError, std::system_error. Blocks.
  TlsTrust load();

private:
  std::filesystem::path authority_file_;
  std::mutex mutex_;
  std::shared_ptr<CertificateAuthority> authority_;
  TrustedRootsFile roots_;
};

}  // namespace agw
