#include "server/http/tls.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "base/digest.hpp"
#include "base/error.hpp"

namespace agw {

namespace fs = std::filesystem;

namespace {

/// A file and the setting that specifies it.
struct Pem {
  std::string_view key;
  const fs::path& file;
  const std::string& at;  ///< `<file>:<line>` of the setting; may be empty
};

StartError cannot_use(const Pem& pem, std::string_view why) {
  ERR_clear_error();
  const auto place = pem.at.empty() ? std::string() : pem.at + ": ";
  return StartError(ExitStatus::usage, fmt::format("{}{}: {}: {}", place, pem.key, pem.file.string(), why));
}

void require_readable(const Pem& pem) {
  std::error_code error;
  if (fs::is_directory(pem.file, error)) throw cannot_use(pem, "is a directory");
  errno = 0;
  const std::ifstream stream(pem.file);
  if (!stream) throw cannot_use(pem, std::strerror(errno ? errno : EIO));
}

/// Prevents OpenSSL from asking for a passphrase on the terminal.
int no_passphrase(char*, int, int, void*) { return -1; }

void use_certificate(SSL_CTX* context, const Pem& certificate) {
  require_readable(certificate);
  if (SSL_CTX_use_certificate_chain_file(context, certificate.file.c_str()) == 1) return;
  throw cannot_use(certificate, "holds no certificate in PEM form");
}

void use_key(SSL_CTX* context, const Pem& key, const fs::path& certificate) {
  require_readable(key);
  if (SSL_CTX_use_PrivateKey_file(context, key.file.c_str(), SSL_FILETYPE_PEM) != 1) {
    const bool mismatch = ERR_GET_REASON(ERR_peek_last_error()) == X509_R_KEY_VALUES_MISMATCH ||
                          ERR_GET_REASON(ERR_peek_last_error()) == X509_R_KEY_TYPE_MISMATCH;
    if (!mismatch) throw cannot_use(key, "holds no private key in PEM form without a passphrase");
  } else if (SSL_CTX_check_private_key(context) == 1) {
    return;
  }
  throw cannot_use(key, fmt::format("does not belong to the certificate {}", certificate.string()));
}

std::vector<std::string> warnings_about(SSL_CTX* context, const fs::path& certificate, const fs::path& key) {
  std::vector<std::string> warnings;
  struct stat status{};
  if (::stat(key.c_str(), &status) == 0 && (status.st_mode & 077) != 0) {
    warnings.push_back(fmt::format("tls.key: others can read {}: chmod 600 it", key.string()));
  }
  const auto* shown = SSL_CTX_get0_certificate(context);
  if (X509_cmp_current_time(X509_get0_notAfter(shown)) < 0) {
    warnings.push_back(fmt::format("tls.cert: {} has expired: browsers will refuse it", certificate.string()));
  }
  return warnings;
}

}  // namespace

TlsContext::TlsContext(const Settings::Tls& files) : context_(SSL_CTX_new(TLS_server_method()), SSL_CTX_free) {
  auto* context = context_.get();
  if (!context) throw StartError(ExitStatus::failure, "OpenSSL cannot be used");
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE |
                                   SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_default_passwd_cb(context, no_passphrase);
  choose_http_1_1(context);
  use_certificate(context, {"tls.cert", files.cert, files.cert_at});
  use_key(context, {"tls.key", files.key, files.key_at}, files.cert);
  warnings_ = warnings_about(context, files.cert, files.key);
}

std::string TlsContext::fingerprint() const { return agw::fingerprint(*SSL_CTX_get0_certificate(context_.get())); }

std::unique_ptr<TlsContext> configured_tls(const Settings::Tls& settings) {
  return settings.cert.empty() ? nullptr : std::make_unique<TlsContext>(settings);
}

}  // namespace agw
