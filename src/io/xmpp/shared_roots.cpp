// libstrophe creates an internal SSL_CTX for each connection, and has OpenSSL read the host's authorities into it. The
// dynamic linker finds the function for that by its name, first in the program itself.

#include "io/xmpp/shared_roots.hpp"

#include <filesystem>
#include <mutex>
#include <optional>

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "io/tls/certificate_authority.hpp"
#include "io/tls/trusted_roots.hpp"

namespace agw {

namespace {

namespace fs = std::filesystem;

/// The authorities and the modification time of their file.
struct SharedRoots {
  std::mutex mutex;
  X509_STORE* store = nullptr;  ///< kept until the process ends, like OpenSSL's own tables
  fs::file_time_type written_at{};
};

SharedRoots& shared_roots() {
  static SharedRoots shared;
  return shared;
}

/// The modification time of the file; nullopt on threads that do not share, or without a file.
thread_local std::optional<fs::file_time_type> roots_written_at;

bool use_shared_roots(SSL_CTX* context) {
  auto& shared = shared_roots();
  const std::lock_guard guard(shared.mutex);
  if (!shared.store || shared.written_at != *roots_written_at) {
    auto* store = X509_STORE_new();
    if (!store || X509_STORE_set_default_paths(store) != 1) {
      X509_STORE_free(store);
      return false;
    }
    X509_STORE_free(shared.store);
    shared.store = store;
    shared.written_at = *roots_written_at;
  }
  SSL_CTX_set1_cert_store(context, shared.store);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  return true;
}

}  // namespace

void share_trusted_roots() {
  try {
    roots_written_at = fs::last_write_time(TrustedRoots::find_file());
  } catch (const TlsError&) {
    roots_written_at.reset();
  } catch (const fs::filesystem_error&) {
    roots_written_at.reset();
  }
}

}  // namespace agw

/// Replaces OpenSSL's function; does the same on threads that do not share.
extern "C" [[gnu::visibility("default")]] int SSL_CTX_set_default_verify_paths(SSL_CTX* context) {
  if (agw::roots_written_at && agw::use_shared_roots(context)) return 1;
  return X509_STORE_set_default_paths(SSL_CTX_get_cert_store(context));
}
